package faulttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Errors that are injected.
var (
	// ErrDriver is a driver error that no code handles specially.
	ErrDriver = errors.New("the driver fails")
	// ErrGone is why a context ended.
	ErrGone = errors.New("the user went away")
)

// The limits of failed calls per operation. Queries can occur any number of times.
// Stacks that differ from the default one only in how they allocate have a lower limit.
const (
	mostCalls    = 6
	mostByOthers = 2
	mostQueries  = 3
	mostLosses   = 30
)

// stack is the resources and options below a manager.
type stack struct {
	name string
	gpu  bool
	// resource makes the manager's resource; nil means the default one.
	resource func(dev *device.Device) (memory.Resource, error)
}

func stacks() []stack {
	driver := func(dev *device.Device) (memory.Resource, error) { return memory.NewDriverResource(dev), nil }
	ordered := func(dev *device.Device) (memory.Resource, error) {
		return memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
	}
	return []stack{
		{name: "host"},
		{name: "GPU", gpu: true},
		{name: "GPU by Alloc", gpu: true, resource: driver},
		{name: "GPU by AllocAsync", gpu: true, resource: ordered},
	}
}

// eachStack runs f with each operation on each stack.
func eachStack(t *testing.T, operations []Operation, f func(t *testing.T, s stack, o Operation)) {
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			for _, o := range operations {
				t.Run(o.Name, func(t *testing.T) { f(t, s, o) })
			}
		})
	}
}

// open prepares an operation on a new device until the end of the test. The test fails
// if memory of the device remains then, unless the driver refused to free it.
func (s stack) open(t *testing.T, o Operation) (x *trial, driver *Driver) {
	t.Helper()
	var dev *device.Device
	if s.gpu {
		dev, driver = OpenGPU(t, o.Kernels)
	} else {
		dev, driver = OpenHost(t)
	}
	options := memory.Options{
		TrackAllocations: true,
		// The chunks are so small that the operations need several.
		Staging: memory.StagingOptions{Workers: 2, ChunkBytes: 2048, Chunks: 3},
	}
	if s.resource != nil {
		resource, err := s.resource(dev)
		require.NoError(t, err)
		options.Resource = resource
	}
	m, err := memory.NewManager(dev, options)
	require.NoError(t, err)
	refused := false
	t.Cleanup(func() {
		driver.Arm(nil)
		require.NoError(t, dev.Synchronize(context.Background()))
		err := m.Close()
		if options.Resource != nil {
			err = errors.Join(err, options.Resource.Close())
		}
		if x != nil && x.lost { // and its memory with it
			require.NotErrorAs(t, err, new(*memory.LeakError))
			return
		}
		require.NoError(t, err)
		if !refused {
			require.Empty(t, driver.Live(), "memory that the driver was not given back")
		}
	})
	x = newTrial(t, m, o)
	run := x.run
	x.run = func(ctx context.Context) (func(testing.TB), error) {
		keep, err := run(ctx)
		for operation := range driver.Failed() {
			refused = refused || givesBack[operation]
		}
		return keep, err
	}
	return x, driver
}

// givesBack holds the calls after a failure of which memory cannot be reused.
var givesBack = map[string]bool{
	"Free": true, "FreeAsync": true, "HostFree": true, "PhysicalRelease": true, "AddressFree": true, "Unmap": true,
	"GraphDestroy": true, "GraphExecutableDestroy": true,
}

// allocates holds the calls that can fail for lack of memory, after which the resources
// retry.
var allocates = map[string]bool{
	"Alloc": true, "AllocAsync": true, "AllocManaged": true, "HostAlloc": true, "AddressReserve": true, "PhysicalCreate": true,
	"PhysicalCreateShared": true, "Map": true, "EventCreate": true, "StreamCreate": true, "PoolCreate": true, "ModuleLoad": true,
	"ModuleCompile": true, "GraphInstantiate": true,
}

// needless holds the calls that a successful operation does not depend on: calls that
// free, query or mark.
var needless = map[string]bool{
	"EventCreate": true, "EventRecord": true, "EventQuery": true, "EventDestroy": true,
	"StreamQuery": true, "StreamDestroy": true, "PointerInfo": true, "AddressRange": true, "Attribute": true, "MemoryInfo": true,
	"Free": true, "FreeAsync": true, "HostFree": true, "PhysicalRelease": true, "AddressFree": true, "Unmap": true,
	"ModuleUnload": true, "PoolDestroy": true, "PoolTrim": true, "GraphDestroy": true, "GraphExecutableDestroy": true,
}

// calls returns the calls that an operation makes on a stack without faults.
func (s stack) calls(t *testing.T, o Operation) (counts map[string]int, total int) {
	t.Helper()
	prepared := t.Run("as it should be", func(t *testing.T) {
		x, driver := s.open(t, o)
		driver.Arm(nil)
		keep, err := x.run(t.Context())
		counts = driver.Counts()
		require.NoError(t, err)
		x.keep(t, keep)
	})
	if !prepared {
		t.FailNow()
	}
	for operation, count := range counts {
		total += count
		most := mostCalls
		switch {
		case s.resource != nil:
			most = mostByOthers
		case operation == "EventQuery" || operation == "StreamQuery":
			most = mostQueries
		}
		counts[operation] = min(count, most)
	}
	if s.resource != nil {
		return counts, min(total, mostLosses/3)
	}
	return counts, min(total, mostLosses)
}

// eachCall runs f as a subtest for each call that an operation makes.
func (s stack) eachCall(t *testing.T, o Operation, f func(t *testing.T, operation string, nth int)) {
	t.Helper()
	counts, _ := s.calls(t, o)
	for _, operation := range slices.Sorted(maps.Keys(counts)) {
		for nth := 1; nth <= counts[operation]; nth++ {
			t.Run(fmt.Sprintf("%s %d", operation, nth), func(t *testing.T) { f(t, operation, nth) })
		}
	}
}

// EachCall fails each driver call of the operations, one at a time: with an unknown
// error, and with an out-of-memory error.
func EachCall(t *testing.T, operations ...Operation) {
	t.Helper()
	eachStack(t, operations, func(t *testing.T, s stack, o Operation) {
		s.eachCall(t, o, func(t *testing.T, operation string, nth int) {
			s.failOne(t, o, operation, nth, ErrDriver)
			if allocates[operation] {
				t.Run("for want of memory", func(t *testing.T) { s.failOne(t, o, operation, nth, device.ErrOutOfMemory) })
			}
		})
	})
}

func (s stack) failOne(t *testing.T, o Operation, operation string, nth int, condition error) {
	x, driver := s.open(t, o)
	pinned := driver.Live()[pinnedMemory]
	driver.Arm(func(call Call) error {
		if call.Operation == operation && call.Nth == nth {
			return condition
		}
		return nil
	})
	keep, err := x.run(t.Context())
	counts, failed := driver.Counts(), driver.Failed()[operation]
	driver.Arm(nil)
	switch {
	case err != nil:
		var injected *Error
		require.ErrorAs(t, err, &injected)
		require.Equal(t, operation, injected.Operation)
		require.Nil(t, keep)
		x.requireFailure(t, err, condition)
	default:
		x.keep(t, keep)
		// After an out-of-memory error the resources retry with less.
		again := condition == device.ErrOutOfMemory
		// If waiting for a stream fails, the resource may wait for the device.
		waited := operation == "EventSynchronize" && counts["Synchronize"] > 0
		mended := slices.Contains(o.Mends, operation)
		// A transfer continues with the pinned chunks that it has, or that an earlier
		// transfer left.
		fewer := operation == "HostAlloc" && counts[operation]+pinned > 1
		require.True(t, failed == 0 || again || waited || mended || fewer || needless[operation], "%s failed and nobody noticed", operation)
	}
	x.succeed(t)
}

// EachCallLost makes the device lost at each driver call of the operations: that call
// and all later ones fail.
func EachCallLost(t *testing.T, operations ...Operation) {
	t.Helper()
	eachStack(t, operations, func(t *testing.T, s stack, o Operation) {
		_, total := s.calls(t, o)
		for number := 1; number <= total; number++ {
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				x, driver := s.open(t, o)
				x.lost = true
				driver.Arm(func(call Call) error {
					if call.Number >= number {
						return device.ErrDeviceLost
					}
					return nil
				})
				keep, err := x.run(t.Context())
				driver.Arm(nil)
				if err != nil {
					x.requireFailure(t, err, device.ErrDeviceLost)
					return
				}
				x.keep(t, keep)
			})
		}
	})
}

// EachCallCancelled cancels the context before the operations, and at each driver call
// that they make.
func EachCallCancelled(t *testing.T, operations ...Operation) {
	t.Helper()
	operations = slices.DeleteFunc(slices.Clone(operations), func(o Operation) bool { return !o.Cancellable && !o.Waits })
	eachStack(t, operations, func(t *testing.T, s stack, o Operation) {
		if s.resource != nil {
			t.Skip("allocating does not depend on the context")
		}
		t.Run("before", func(t *testing.T) {
			x, _ := s.open(t, o)
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(ErrGone)
			keep, err := x.run(ctx)
			if o.Waits && err == nil {
				x.keep(t, keep)
			} else {
				require.Nil(t, keep)
				x.requireFailure(t, err, ErrGone)
			}
			x.succeed(t)
		})
		s.eachCall(t, o, func(t *testing.T, operation string, nth int) {
			x, driver := s.open(t, o)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			driver.Arm(func(call Call) error {
				if call.Operation == operation && call.Nth == nth {
					cancel(ErrGone)
				}
				return nil
			})
			keep, err := x.run(ctx)
			driver.Arm(nil)
			if err != nil {
				require.Nil(t, keep)
				x.requireFailure(t, err, ErrGone)
			} else {
				x.keep(t, keep)
			}
			x.succeed(t)
		})
	})
}

// EachManagerCall fails each driver call of making and closing a manager, and requires
// that no memory remains.
func EachManagerCall(t *testing.T, options memory.Options) {
	t.Helper()
	for _, gpu := range []bool{false, true} {
		name := map[bool]string{false: "host", true: "GPU"}[gpu]
		t.Run(name, func(t *testing.T) {
			for number, more := 1, true; more; number++ {
				t.Run(fmt.Sprint(number), func(t *testing.T) { more = failManager(t, gpu, number, options) })
			}
		})
	}
}

func failManager(t *testing.T, gpu bool, number int, options memory.Options) (reached bool) {
	dev, driver := OpenHost(t)
	if gpu {
		dev, driver = OpenGPU(t, nil)
	}
	driver.Arm(func(call Call) error {
		if call.Number == number {
			return ErrDriver
		}
		return nil
	})
	m, err := memory.NewManager(dev, options)
	if err == nil {
		err = m.Close()
	} else {
		require.ErrorContains(t, err, "memory: new manager on "+dev.Name())
	}
	failed := driver.Failed()
	driver.Arm(nil)
	if err != nil {
		require.ErrorIs(t, err, ErrDriver)
	}
	for operation := range failed {
		// Automatic segments fall back to fixed ones.
		fallen := operation == "PhysicalGranularity" || operation == "AddressReserve"
		require.True(t, err != nil || fallen || needless[operation], "%s failed and nobody noticed", operation)
		if !givesBack[operation] {
			require.Empty(t, driver.Live())
		}
	}
	fine := devicetest.Manager(t, dev, options)
	block, err := fine.Allocate(1000, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, block.Release())
	return len(failed) > 0
}
