package opentelemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gpuframe/gpuframe"
)

// scope is the name of the instrumentation.
const scope = "github.com/gpuframe/gpuframe/observe/opentelemetry"

// Tracer makes spans of queries. It is safe for concurrent use.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns a tracer of a provider.
func NewTracer(provider trace.TracerProvider) *Tracer { return &Tracer{provider.Tracer(scope)} }

// Run runs a query in a span that is a child of the context's. The function runs the query
// with the context and the options, which give the query the name as its tag. When it
// returns, each stage of the query becomes a span below: from the begin of its first to the
// end of its last call. If the span is not sampled, the query is not profiled.
//
// Run returns the function's error and records it in the span.
func (t *Tracer) Run(ctx context.Context, name string, run func(context.Context, ...gpuframe.RunOption) error) error {
	ctx, span := t.tracer.Start(ctx, "query "+name, trace.WithAttributes(
		attribute.String("db.system.name", "gpuframe"), attribute.String("db.operation.name", "query"), attribute.String("db.query.summary", name)))
	defer span.End()
	options := []gpuframe.RunOption{gpuframe.Tag(name)}
	var profile gpuframe.Profile
	if span.IsRecording() {
		options = append(options, gpuframe.Profiled(&profile))
	}
	err := run(ctx, options...)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	for _, stage := range profile.Operations() {
		if stage.Begin.IsZero() {
			continue // it was not called
		}
		_, child := t.tracer.Start(ctx, stage.Name, trace.WithTimestamp(stage.Begin), trace.WithAttributes(
			attribute.Int64("gpuframe.stage.rows", stage.Rows), attribute.Int64("gpuframe.stage.tables", stage.Tables),
			attribute.Int64("gpuframe.stage.bytes", int64(stage.Bytes)), attribute.Float64("gpuframe.stage.own_seconds", stage.Time.Seconds())))
		child.End(trace.WithTimestamp(stage.End))
	}
	return err
}
