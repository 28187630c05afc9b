package optest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// Run tests an operator against its model.
func Run(t *testing.T, spec Spec, model Model) {
	require.NotEmpty(t, spec.Types)
	require.NotEmpty(t, spec.Lengths)
	require.NotEmpty(t, spec.Pipeline)
	x := &tested{Spec: spec, model: model}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for _, part := range []struct {
			name string
			run  func(t *testing.T, dev *device.Device)
		}{
			{"results", x.results}, {"refusals", x.refusals}, {"device counts", x.deviceCounts}, {"estimate", x.estimate},
			{"allocations fail", x.allocationsFail}, {"two streams", x.twoStreams}, {"graph", x.graph},
		} {
			t.Run(part.name, func(t *testing.T) { part.run(t, dev) })
		}
	})
}

// tested is an operator with its model.
type tested struct {
	Spec
	model Model
}

// check runs the operator on an array and compares the result.
func (x *tested) check(t testing.TB, mgr *memory.Manager, name string, in arrow.Array, options kernels.Options) {
	t.Helper()
	c := upload(t, mgr, in)
	defer func() { require.NoError(t, c.Release()) }()
	result, err := x.Run(t.Context(), c, options)
	require.NoError(t, err, name)
	want := x.model(in)
	defer want.Release()
	requireResult(t, name, result, want)
}

// results compares in memory that is poisoned and, if the device does not check bounds
// itself, guarded.
func (x *tested) results(t *testing.T, dev *device.Device) {
	var resource memory.Resource = memory.NewDriverResource(dev)
	if !devicetest.Emulated(dev) {
		resource = adaptor.NewGuard(resource, adaptor.GuardOptions{RedZone: 256})
	}
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: adaptor.NewPoison(resource, adaptor.PoisonOptions{})})
	for _, dataType := range x.Types {
		eachSample(dataType, x.lengths(dev, dataType), func(name string, in arrow.Array) {
			x.check(t, mgr, name, in, kernels.Options{Manager: mgr})
		})
	}
}

func (x *tested) refusals(t *testing.T, dev *device.Device) {
	mgr := devicetest.Manager(t, dev, memory.Options{})
	for _, dataType := range x.Refused {
		in := sample(dataType, 9)
		defer in.Release()
		c, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
		require.NoError(t, err)
		_, err = x.Run(t.Context(), c, kernels.Options{})
		require.ErrorIs(t, err, device.ErrNotSupported, "%v", dataType)
		require.ErrorContains(t, err, x.Name)
		require.NoError(t, c.Release())
	}
	_, err := x.Run(t.Context(), nil, kernels.Options{})
	require.ErrorIs(t, err, memory.ErrReleased)
	require.ErrorContains(t, err, x.Name)

	in := sample(x.Types[0], 9)
	defer in.Release()
	c := upload(t, mgr, in)
	defer func() { require.NoError(t, c.Release()) }()
	if dev.Kind() == device.Host {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = x.Run(ctx, c, kernels.Options{})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, x.Name)
	}
}

// deviceCounts leaves out the rows behind a count that only the device knows. The result
// carries the count.
func (x *tested) deviceCounts(t *testing.T, dev *device.Device) {
	mgr := devicetest.Manager(t, dev, memory.Options{})
	lengths := []int{100}
	if !race.Enabled {
		lengths = append(lengths, x.Lengths[0])
	}
	for _, n := range lengths {
		in := sample(x.Types[0], n)
		defer in.Release()
		for _, rows := range []int{0, 1, 77, n - 1, n} {
			c := upload(t, mgr, in)
			withRows := counted(t, mgr, c, int64(rows))
			result, err := x.Run(t.Context(), withRows, kernels.Options{})
			require.NoError(t, err)
			require.Equal(t, n, result.Len())
			part := array.NewSlice(in, 0, int64(rows))
			want := x.model(part)
			requireResult(t, "device count", result, want)
			want.Release()
			part.Release()
			require.NoError(t, errors.Join(withRows.Release(), c.Release()))
		}
	}
}

// estimate compares the estimate with the bytes that the resource allocates.
func (x *tested) estimate(t *testing.T, dev *device.Device) {
	statistics := adaptor.NewStatistics(memory.NewDriverResource(dev))
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: statistics})
	for _, dataType := range x.Types {
		for _, n := range []int{0, 1, 1000, x.Lengths[0]} {
			if n > 1000 && (race.Enabled || devicetest.Emulated(dev)) && !arrow.TypeEqual(dataType, x.Types[0]) {
				continue
			}
			in := sample(dataType, n)
			c := upload(t, mgr, in)
			in.Release()
			statistics.Push()
			estimate, err := kernels.EstimateOf(func(o kernels.Options) (*column.Column, error) { return x.Run(t.Context(), c, o) })
			require.NoError(t, err)
			require.Zero(t, statistics.Figures().Allocations.Total, "an estimate allocates nothing")
			result, err := x.Run(t.Context(), c, kernels.Options{})
			require.NoError(t, err)
			require.NoError(t, dev.Synchronize(t.Context()))
			figures, err := statistics.Pop()
			require.NoError(t, err)
			assert.EqualValues(t, estimate.Peak(), figures.Bytes.Peak, "%v, %d rows: result and scratch", dataType, n)
			assert.EqualValues(t, estimate.Result, figures.Bytes.Current, "%v, %d rows: result", dataType, n)
			require.NoError(t, errors.Join(result.Release(), c.Release()))
		}
	}
}

// allocationsFail fails each allocation and finds nothing held. The operator works again
// afterwards.
func (x *tested) allocationsFail(t *testing.T, dev *device.Device) {
	fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
	in := sample(x.Types[0], x.Lengths[0])
	defer in.Release()
	c := upload(t, mgr, in)
	defer func() { require.NoError(t, c.Release()) }()
	fault.Arm(adaptor.FaultOptions{})
	result, err := x.Run(t.Context(), c, kernels.Options{})
	require.NoError(t, err)
	require.NoError(t, result.Release())
	requests := fault.Requests().Seen
	require.Positive(t, requests)
	before := mgr.Stats().InUse
	for nth := range requests {
		fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth + 1}})
		_, err := x.Run(t.Context(), c, kernels.Options{})
		require.ErrorIs(t, err, device.ErrOutOfMemory)
		require.ErrorContains(t, err, x.Name)
		require.Equal(t, before, mgr.Stats().InUse)
		fault.Arm(adaptor.FaultOptions{})
		result, err := x.Run(t.Context(), c, kernels.Options{})
		require.NoError(t, err)
		want := x.model(in)
		requireResult(t, "after a fault", result, want)
		want.Release()
	}
}

// twoStreams runs the operator on two streams, concurrently and behind work of a third.
func (x *tested) twoStreams(t *testing.T, dev *device.Device) {
	mgr := devicetest.Manager(t, dev, memory.Options{})
	in := sample(x.Types[0], 1000)
	defer in.Release()
	want := x.model(in)
	defer want.Release()
	c := upload(t, mgr, in)
	defer func() { require.NoError(t, c.Release()) }()
	var results [2]*column.Column
	var failures [2]error
	var callers sync.WaitGroup
	for i := range results {
		stream, err := dev.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, stream.Close()) }()
		callers.Go(func() { results[i], failures[i] = x.Run(t.Context(), c, kernels.Options{Stream: stream}) })
	}
	callers.Wait()
	require.NoError(t, errors.Join(failures[:]...))
	for _, result := range results {
		requireResult(t, "two streams", result, want)
	}
}

// graph captures the operator and launches the graph twice.
func (x *tested) graph(t *testing.T, dev *device.Device) {
	if dev.Kind() == device.Host {
		t.Skip("the host has no graphs")
	}
	resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, resource.Close()) })
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
	in := sample(x.Types[0], 1000)
	defer in.Release()
	c := upload(t, mgr, in)
	defer func() { require.NoError(t, c.Release()) }()
	warm, err := x.Run(t.Context(), c, kernels.Options{}) // loads the kernels and fills the cache
	require.NoError(t, err)
	require.NoError(t, errors.Join(dev.Synchronize(t.Context()), warm.Release()))
	var result *column.Column
	graph, err := kernels.Capture(dev, func(stream *device.Stream) (err error) {
		result, err = x.Run(t.Context(), c, kernels.Options{Stream: stream})
		return err
	})
	require.NoError(t, err)
	require.NoError(t, errors.Join(graph.Launch(mgr.Stream()), graph.Launch(mgr.Stream())))
	want := x.model(in)
	defer want.Release()
	requireResult(t, "graph", result, want)
	require.NoError(t, graph.Close())
}
