package faulttest

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// EachAllocation fails each allocation that the operations request from the manager's
// resource: first that request only, then that request and all later ones. It does so
// on every device that is present.
func EachAllocation(t *testing.T, operations ...Operation) {
	t.Helper()
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for _, o := range operations {
			t.Run(o.Name, func(t *testing.T) { eachAllocation(t, dev, o) })
		}
	})
}

func eachAllocation(t *testing.T, dev *device.Device, o Operation) {
	resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, resource.Close()) })
	fault := adaptor.NewFault(resource, adaptor.FaultOptions{})
	from := &failingFrom{Resource: fault, fault: fault}
	x := newTrial(t, devicetest.Manager(t, dev, memory.Options{Resource: from}), o)

	fault.Arm(adaptor.FaultOptions{})
	x.succeed(t)
	requests := int(fault.Requests().Seen)
	require.Equal(t, o.Requests, requests, "requests of the resource")
	for nth := 1; nth <= requests; nth++ {
		for _, lasting := range []bool{false, true} {
			from.arm(uint64(nth), lasting)
			keep, err := x.run(t.Context())
			failed := fault.Requests().Failed
			from.disarm()
			require.Nil(t, keep)
			require.Positive(t, failed)
			x.requireFailure(t, err, adaptor.ErrInjected, device.ErrOutOfMemory)
			x.succeed(t)
		}
	}
}

// failingFrom makes a request fail and, if lasting is true, every later one.
type failingFrom struct {
	memory.Resource
	fault   *adaptor.Fault
	left    atomic.Int64
	lasting bool
}

func (f *failingFrom) arm(nth uint64, lasting bool) {
	f.lasting = lasting
	f.left.Store(int64(nth))
	f.fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}})
}

func (f *failingFrom) disarm() {
	f.left.Store(0)
	f.fault.Arm(adaptor.FaultOptions{})
}

// Allocate implements memory.Resource.
func (f *failingFrom) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if f.left.Add(-1) == 0 && f.lasting {
		f.fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Every: 1}})
	}
	return f.Resource.Allocate(bytes, stream)
}
