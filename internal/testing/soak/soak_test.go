package soak_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/soak"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// operationsVariable is the environment variable that sets the number of operations of
// each run of TestRun, except runs of slow resources.
const operationsVariable = "GPUFRAME_SOAK_OPERATIONS"

// operations returns the number of operations of a run, on a GPU and elsewhere.
func operations(t testing.TB, dev *device.Device, slow bool) uint64 {
	t.Helper()
	if text := os.Getenv(operationsVariable); text != "" && !slow {
		n, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, operationsVariable)
		return n
	}
	switch {
	case dev.Kind() == device.Host:
		return 10_000
	case slow:
		return 50_000
	}
	return 200_000
}

// seedVariable is the environment variable for the seed of TestRun's random choices, so
// that several processes make different choices.
const seedVariable = "GPUFRAME_SEED"

func seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv(seedVariable)
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, seedVariable)
	return n
}

// options returns options that fit the device: a GPU needs larger blocks and more
// goroutines to stay busy than a processor.
func options(dev *device.Device) soak.Options {
	if dev.Kind() == device.CUDA {
		return soak.Options{Goroutines: 16, Streams: 20, MaximumBytes: 8 << 20, TrimEvery: 1000}
	}
	return soak.Options{Goroutines: 4, Streams: 5, MaximumBytes: 256 << 10, TrimEvery: 100}
}

// resources are those under test.
var resources = []struct {
	name string
	// slow resources synchronise the device with every free.
	slow bool
	open func(dev *device.Device) (memory.Resource, error)
}{
	{"stream-ordered", false, func(dev *device.Device) (memory.Resource, error) {
		return memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
	}},
	{"caching-fixed", false, func(dev *device.Device) (memory.Resource, error) {
		return memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.FixedSegments})
	}},
	{"caching-expandable", false, func(dev *device.Device) (memory.Resource, error) {
		return memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.ExpandableSegments})
	}},
	{"driver", true, func(dev *device.Device) (memory.Resource, error) {
		return memory.NewDriverResource(dev), nil
	}},
}

// TestRun checks that no resource reuses memory too soon.
func TestRun(t *testing.T) {
	for _, resource := range resources {
		t.Run(resource.name, func(t *testing.T) {
			devicetest.Each(t, func(t *testing.T, dev *device.Device) {
				under, err := resource.open(dev)
				if errors.Is(err, device.ErrNotSupported) {
					t.Skip(err)
				}
				require.NoError(t, err)
				defer func() { require.NoError(t, under.Close()) }()
				o := options(dev)
				o.Resource, o.Operations, o.Seed = under, operations(t, dev, resource.slow), seed(t)
				requireSound(t, dev, o)
			})
		})
	}
}

// requireSound runs, and fails unless all operations ran without findings.
func requireSound(t *testing.T, dev *device.Device, o soak.Options) soak.Report {
	t.Helper()
	report, err := soak.Run(t.Context(), dev, o)
	t.Log(report)
	if caching, ok := resource.Find[*memory.CachingResource](o.Resource); ok {
		t.Logf("%+v", caching.Stats())
	}
	require.NoError(t, err)
	assert.GreaterOrEqual(t, report.Operations(), o.Operations)
	assert.Equal(t, report.Allocations, report.Frees)
	assert.Equal(t, report.Allocations, report.Memory.Allocations)
	assert.NotZero(t, report.CheckedBytes)
	assert.NotZero(t, report.Crossings)
	assert.NotZero(t, report.Handovers)
	assert.Zero(t, report.Mismatches)
	assert.Zero(t, report.Memory.Leaks)
	return report
}

// TestRunWithCopies uses the copies and fills of a GPU, which do not run on its
// multiprocessors, in place of the kernels of TestRun.
func TestRunWithCopies(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, resource.Close()) }()
	o := options(dev)
	o.Resource, o.Operations, o.Method = resource, 100_000, soak.Copies
	requireSound(t, dev, o)
}

// TestRunInSmallBudget makes allocations fail; goroutines respond by releasing blocks.
func TestRunInSmallBudget(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		o := options(dev)
		o.Operations = 10_000
		o.Budget = 2 * o.MaximumBytes
		report := requireSound(t, dev, o)
		assert.NotZero(t, report.Failures)
		assert.LessOrEqual(t, report.Memory.Peak, o.Budget)
	})
}

// TestRunAlone has one goroutine with one stream, so that no work crosses streams.
func TestRunAlone(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		report, err := soak.Run(t.Context(), dev, soak.Options{Goroutines: 1, Operations: 2000, MaximumBytes: 64 << 10})
		require.NoError(t, err)
		assert.NotZero(t, report.Handovers, "to itself")
		assert.Zero(t, report.Crossings)
	})
}

// TestRunKernels runs the host code of a GPU run with Go functions as kernels.
func TestRunKernels(t *testing.T) {
	dev := launchtest.Open(t, newModel())
	resource, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, resource.Close()) }()
	requireSound(t, dev, soak.Options{
		Resource: resource, Goroutines: 4, Operations: 10_000, MaximumBytes: 256 << 10, TrimEvery: 100,
	})
}

// TestRunKernelsThatDoNotRun: a check that was enqueued but never ran must not count
// as a check without findings.
func TestRunKernelsThatDoNotRun(t *testing.T) {
	model := newModel()
	verify := model.Kernels["soak_verify"]
	verify.Run = nil
	model.Kernels["soak_verify"] = verify
	_, err := soak.Run(t.Context(), launchtest.Open(t, model), soak.Options{Goroutines: 2, Operations: 100})
	require.ErrorContains(t, err, "some have not run")
	require.NotErrorIs(t, err, soak.ErrCorruption)
}

// ending is a resource that calls end at one of its allocations.
type ending struct {
	memory.Resource
	left atomic.Int64
	end  func()
}

// Allocate implements memory.Resource.
func (e *ending) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if e.left.Add(-1) == 0 {
		e.end()
	}
	return e.Resource.Allocate(bytes, stream)
}

var errEnded = errors.New("the test ends the run")

func TestRunEndsWithItsContext(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		under, err := memory.NewCachingResource(dev, memory.CachingOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, under.Close()) }()
		ctx, cancel := context.WithCancelCause(await.Context(t))
		counted := &ending{Resource: under, end: func() { cancel(errEnded) }}
		counted.left.Store(1000)
		o := options(dev)
		o.Resource, o.Operations = counted, 1<<50
		report, err := soak.Run(ctx, dev, o)
		require.ErrorIs(t, err, errEnded)
		require.NotErrorIs(t, err, memory.ErrLeak, "what was held is released")
		assert.GreaterOrEqual(t, report.Allocations, uint64(1000))
		assert.Equal(t, report.Allocations, report.Frees)
	})
}

func TestRunReportsTheDriversErrors(t *testing.T) {
	model := newModel()
	model.LaunchError = device.ErrDeviceLost
	_, err := soak.Run(t.Context(), launchtest.Open(t, model), soak.Options{})
	require.ErrorIs(t, err, device.ErrDeviceLost)
	require.NotErrorIs(t, err, memory.ErrLeak)
}

func TestOptionsRefused(t *testing.T) {
	dev := devicetest.Open(t, "host")
	for field, o := range map[string]soak.Options{
		"Goroutines is -1":         {Goroutines: -1},
		"Goroutines is 257":        {Goroutines: 257},
		"Streams is -2":            {Streams: -2},
		"MaximumBytes is 7":        {MaximumBytes: 7},
		"MaximumBytes is 1342177":  {MaximumBytes: 128<<20 + 1},
		"Held is -1":               {Held: -1},
		"CrossStream is 1.5":       {CrossStream: 1.5},
		"unknown method Method(9)": {Method: 9},
	} {
		_, err := soak.Run(t.Context(), dev, o)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		assert.ErrorContains(t, err, field)
	}
	_, err := soak.Run(t.Context(), nil, soak.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = soak.Run(t.Context(), dev, soak.Options{Method: soak.Kernels})
	require.ErrorIs(t, err, device.ErrNotSupported, "the host runs no kernels")
}
