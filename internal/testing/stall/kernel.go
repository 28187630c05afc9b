package stall

import (
	"context"
	_ "embed"
	"errors"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:embed stall.ptx
var code string

const (
	// most is the maximum number of gates of a device in a test.
	most      = 1024
	gateBytes = 4
	// kernelLimit is a bound in nanoseconds, far beyond the watchdog's.
	kernelLimit = uint64(4 * limit)
)

var errTooMany = errors.New("stall: too many gates in one test")

// newKernels makes gates from words in pinned memory. It runs the kernel once, because
// the driver may load it at its first launch.
func newKernels(t testing.TB, dev *device.Device) maker {
	t.Helper()
	module, err := kernels.Load(dev, code)
	require.NoError(t, err)
	memory, err := dev.Driver().HostAlloc(most * gateBytes)
	require.NoError(t, err)
	gates := unsafe.Slice((*uint32)(memory), most)
	clear(gates)
	t.Cleanup(func() { // runs after the cleanups of the stalls, which open the gates
		require.NoError(t, module.Close())
		require.NoError(t, dev.Driver().HostFree(memory))
	})
	kernel, err := module.Function("stall")
	require.NoError(t, err)
	var used atomic.Int64
	hold := func(stream *device.Stream) (open func(), err error) {
		number := used.Add(1) - 1
		if number >= most {
			return nil, errTooMany
		}
		gate := &gates[number]
		at := device.Pointer(uintptr(unsafe.Pointer(gate)))
		unit := device.Dim3{X: 1}
		if err := kernel.Launch(stream, unit, unit, 0, at, kernelLimit); err != nil {
			return nil, err
		}
		return func() { atomic.StoreUint32(gate, 1) }, nil
	}
	open, err := hold(dev.DefaultStream())
	require.NoError(t, err)
	open()
	require.NoError(t, dev.Synchronize(context.Background()))
	return hold
}
