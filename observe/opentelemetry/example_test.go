package opentelemetry_test

import (
	"context"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/observe/opentelemetry"
)

// A span for a query, with a span for each of its stages.
func ExampleTracer_Run() {
	type row struct{ ID int64 }
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	spans := tracetest.NewSpanRecorder() // in place of an exporter
	tracer := opentelemetry.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	query := gpuframe.From(gpu, []row{{3}, {1}, {2}}).Sort(gpuframe.Col("ID"))
	err = tracer.Run(context.Background(), "report", func(ctx context.Context, options ...gpuframe.RunOption) error {
		frame, err := query.Collect(ctx, options...)
		if err != nil {
			return err
		}
		return frame.Release()
	})
	ended := spans.Ended()
	fmt.Println(ended[len(ended)-1].Name(), err)
	// Output: query report <nil>
}
