// Package opentelemetry gives queries and memory to OpenTelemetry: a span for each query
// with a span for each of its stages, and metrics by the semantic conventions of GPUs. It
// is a separate module, so that programs without OpenTelemetry do not depend on it.
//
//	tracer := opentelemetry.NewTracer(otel.GetTracerProvider())
//	err := tracer.Run(ctx, "report", func(ctx context.Context, options ...gpuframe.RunOption) error {
//		frame, err := query.Collect(ctx, options...)
//		…
//	})
//	stop, err := opentelemetry.Metrics(recorder, otel.GetMeterProvider())
package opentelemetry
