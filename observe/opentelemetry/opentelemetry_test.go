package opentelemetry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
	"github.com/gpuframe/gpuframe/observe/opentelemetry"
)

func openEngine(t *testing.T) *gpuframe.Engine {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func numbers(t *testing.T, e *gpuframe.Engine) gpuframe.Query {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{3, 1, 2}, nil)
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return e.Records(record.Schema(), record)
}

func TestSpansOfQueries(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	tracer := opentelemetry.NewTracer(provider)
	query := numbers(t, openEngine(t)).Sort(gpuframe.Col("id"))
	ctx, request := provider.Tracer("test").Start(t.Context(), "request")
	require.NoError(t, tracer.Run(ctx, "report", func(ctx context.Context, options ...gpuframe.RunOption) error {
		f, err := query.Collect(ctx, options...)
		if err != nil {
			return err
		}
		return f.Release()
	}))
	request.End()
	ended := spans.Ended()
	require.GreaterOrEqual(t, len(ended), 4)
	whole := ended[len(ended)-2]
	assert.Equal(t, "query report", whole.Name())
	assert.Equal(t, request.SpanContext().SpanID(), whole.Parent().SpanID())
	assert.Contains(t, whole.Attributes(), attribute.String("db.system.name", "gpuframe"))
	assert.Contains(t, ended[0].Name(), "sort")
	assert.Contains(t, ended[0].Attributes(), attribute.Int64("gpuframe.stage.rows", 3))
	for _, stage := range ended[:len(ended)-2] {
		assert.Equal(t, whole.SpanContext().SpanID(), stage.Parent().SpanID(), stage.Name())
		assert.False(t, stage.StartTime().Before(whole.StartTime()), stage.Name())
		assert.False(t, stage.EndTime().After(whole.EndTime()), stage.Name())
		assert.False(t, stage.EndTime().Before(stage.StartTime()), stage.Name())
	}
}

func TestSpansOfFailures(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := opentelemetry.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	broken := errors.New("broken")
	err := tracer.Run(t.Context(), "report", func(context.Context, ...gpuframe.RunOption) error { return broken })
	require.ErrorIs(t, err, broken)
	require.Len(t, spans.Ended(), 1)
	assert.Equal(t, sdktrace.Status{Code: codes.Error, Description: "broken"}, spans.Ended()[0].Status())
	assert.Len(t, spans.Ended()[0].Events(), 1)
	// Without a sampler nothing is profiled: the options are the tag only.
	quiet := opentelemetry.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())))
	require.NoError(t, quiet.Run(t.Context(), "report", func(_ context.Context, options ...gpuframe.RunOption) error {
		assert.Len(t, options, 1)
		return nil
	}))
}

func TestMetrics(t *testing.T) {
	e := openEngine(t)
	tenant, err := e.Tenant("tenant", 1<<16)
	require.NoError(t, err)
	defer func() { require.NoError(t, tenant.Close()) }()
	r, err := observe.New(observe.Options{Engines: []*gpuframe.Engine{e}})
	require.NoError(t, err)
	defer r.Close()
	f, err := numbers(t, tenant).Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, f.Release())
	block, err := tenant.Manager().Allocate(4000, memory.AllocateOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Release()) }()
	_, err = e.Manager().Allocate(2<<20, memory.AllocateOptions{})
	require.ErrorIs(t, err, memory.ErrBudget)

	reader := sdkmetric.NewManualReader()
	stop, err := opentelemetry.Metrics(r, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	require.NoError(t, err)
	values := collect(t, reader)
	top := "gpuframe.manager=host,hw.id=host,hw.type=gpu"
	assert.EqualValues(t, 4000, values["hw.gpu.memory.usage{"+top+"}"])
	assert.EqualValues(t, 1<<20, values["hw.gpu.memory.limit{"+top+"}"])
	assert.InDelta(t, 4000.0/(1<<20), values["hw.gpu.memory.utilization{"+top+"}"], 1e-9)
	assert.EqualValues(t, 1, values["hw.errors{error.type=out_of_memory,"+top+"}"])
	assert.EqualValues(t, 4000, values["gpuframe.tenant.memory.usage{gpuframe.manager=host,gpuframe.tenant=tenant,hw.id=host,hw.type=gpu}"])
	assert.GreaterOrEqual(t, values["hw.gpu.io{"+top+",network.io.direction=receive}"], 24.0)
	assert.EqualValues(t, 1, values["gpuframe.queries.ended{gpuframe.manager=tenant,gpuframe.query.result=completed}"])
	assert.Contains(t, values, "gpuframe.kernel.launches{hw.id=host,hw.type=gpu}")
	require.NoError(t, stop())
	assert.Empty(t, collect(t, reader))
}

// collect returns the values of all metrics by name and attributes.
func collect(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &all))
	values := make(map[string]float64)
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			add := func(labels attribute.Set, value float64) {
				key := m.Name + "{" + labels.Encoded(attribute.DefaultEncoder()) + "}"
				require.NotContains(t, values, key)
				values[key] = value
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			default:
				require.Fail(t, m.Name)
			}
		}
	}
	return values
}
