package opentelemetry

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/gpuframe/gpuframe/observe"
)

// instruments are the metrics. Those that begin with hw follow the semantic conventions of
// hardware; others have no convention.
type instruments struct {
	usage, limit, tenant     metric.Int64ObservableUpDownCounter
	utilization              metric.Float64ObservableGauge
	io, hardwareErrors       metric.Int64ObservableCounter
	allocations, launches    metric.Int64ObservableCounter
	queries                  metric.Int64ObservableUpDownCounter
	endedQueries             metric.Int64ObservableCounter
	loadSeconds, waitSeconds metric.Float64ObservableCounter
}

// Metrics gives the figures of a recorder to a provider, until stop is called. The figures
// are read whenever the provider collects.
func Metrics(r *observe.Recorder, provider metric.MeterProvider) (stop func() error, err error) {
	meter := provider.Meter(scope)
	in, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("opentelemetry: metrics: %w", err)
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := r.Figures()
		in.observe(o, &s)
		return nil
	}, in.usage, in.limit, in.tenant, in.utilization, in.io, in.hardwareErrors, in.allocations, in.launches, in.queries, in.endedQueries, in.loadSeconds, in.waitSeconds)
	if err != nil {
		return nil, fmt.Errorf("opentelemetry: metrics: %w", err)
	}
	return registration.Unregister, nil
}

func newInstruments(meter metric.Meter) (in instruments, err error) {
	var failures []error
	upDown := func(name, unit, text string) metric.Int64ObservableUpDownCounter {
		counter, err := meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		failures = append(failures, err)
		return counter
	}
	count := func(name, unit, text string) metric.Int64ObservableCounter {
		counter, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(text))
		failures = append(failures, err)
		return counter
	}
	seconds := func(name, text string) metric.Float64ObservableCounter {
		counter, err := meter.Float64ObservableCounter(name, metric.WithUnit("s"), metric.WithDescription(text))
		failures = append(failures, err)
		return counter
	}
	in.usage = upDown("hw.gpu.memory.usage", "By", "Memory in use, of a topmost manager.")
	in.limit = upDown("hw.gpu.memory.limit", "By", "Budget of a topmost manager.")
	in.tenant = upDown("gpuframe.tenant.memory.usage", "By", "Memory in use, of a tenant.")
	in.utilization, err = meter.Float64ObservableGauge("hw.gpu.memory.utilization", metric.WithUnit("1"), metric.WithDescription("Part of the budget in use."))
	failures = append(failures, err)
	in.io = count("hw.gpu.io", "By", "Bytes that were copied to and from the device.")
	in.hardwareErrors = count("hw.errors", "{error}", "Requests that got no memory.")
	in.allocations = count("gpuframe.memory.allocations", "{allocation}", "Blocks that were allocated.")
	in.launches = count("gpuframe.kernel.launches", "{launch}", "Kernels that were enqueued.")
	in.queries = upDown("gpuframe.queries", "{query}", "Queries that have begun and not ended.")
	in.endedQueries = count("gpuframe.queries.ended", "{query}", "Queries that have ended.")
	in.loadSeconds = seconds("gpuframe.kernel.load.duration", "Durations of loads of device code.")
	in.waitSeconds = seconds("gpuframe.query.wait.duration", "Time for which queries waited for memory of other queries.")
	return in, errors.Join(failures...)
}

func (in *instruments) observe(o metric.Observer, s *observe.Snapshot) {
	for i := range s.Managers {
		top := &s.Managers[i]
		labels := []attribute.KeyValue{attribute.String("hw.id", top.Device), attribute.String("hw.type", "gpu"), attribute.String("gpuframe.manager", top.Name)}
		with := func(more ...attribute.KeyValue) metric.MeasurementOption {
			return metric.WithAttributes(append(labels[:len(labels):len(labels)], more...)...)
		}
		o.ObserveInt64(in.usage, int64(top.InUse), with())
		o.ObserveInt64(in.limit, int64(top.Budget), with())
		if top.Budget > 0 {
			o.ObserveFloat64(in.utilization, float64(top.InUse)/float64(top.Budget), with())
		}
		o.ObserveInt64(in.hardwareErrors, int64(top.Failures), with(attribute.String("error.type", "out_of_memory")))
		o.ObserveInt64(in.allocations, int64(top.Allocations), with())
		if t := top.Transfers; t != nil {
			o.ObserveInt64(in.io, int64(t.UploadedBytes), with(attribute.String("network.io.direction", "receive")))
			o.ObserveInt64(in.io, int64(t.DownloadedBytes), with(attribute.String("network.io.direction", "transmit")))
		}
		top.Each(func(m *observe.Manager) {
			if m.Tenant != "" {
				o.ObserveInt64(in.tenant, int64(m.InUse), with(attribute.String("gpuframe.tenant", m.Tenant)))
			}
		})
	}
	for _, k := range s.Kernels {
		labels := metric.WithAttributes(attribute.String("hw.id", k.Device), attribute.String("hw.type", "gpu"))
		o.ObserveInt64(in.launches, int64(k.Launches), labels)
		o.ObserveFloat64(in.loadSeconds, k.LoadSeconds, labels)
	}
	in.observeQueries(o, s)
}

func (in *instruments) observeQueries(o metric.Observer, s *observe.Snapshot) {
	type state struct{ manager, state string }
	now := make(map[state]int64)
	for i := range s.Queries {
		now[state{s.Queries[i].Manager, s.Queries[i].State}]++
	}
	for at, n := range now {
		o.ObserveInt64(in.queries, n, metric.WithAttributes(attribute.String("gpuframe.manager", at.manager), attribute.String("gpuframe.query.state", at.state)))
	}
	for _, e := range s.Ended {
		manager := attribute.String("gpuframe.manager", e.Manager)
		for result, n := range map[string]uint64{"completed": e.Completed, "failed": e.Failed, "cancelled": e.Cancelled} {
			o.ObserveInt64(in.endedQueries, int64(n), metric.WithAttributes(manager, attribute.String("gpuframe.query.result", result)))
		}
		o.ObserveFloat64(in.waitSeconds, e.Waited, metric.WithAttributes(manager))
	}
}
