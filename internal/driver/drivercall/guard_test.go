package drivercall

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/allocations"
)

// newGuard guards device 1 of 3, which has every property.
func newGuard() *Guard {
	g := &Guard{
		Backend: "binding", Info: backend.Info{Ordinal: 1, DriverVersion: 13000}, Devices: 3, LeastHandle: 4096,
		Failed: func(function string, result int32, detail string) error {
			return fmt.Errorf("%s: %d: %s", function, result, detail)
		},
	}
	g.ReadProperties(func(backend.Attribute) bool { return true })
	g.FindPool(true, func() (uintptr, int32) { return 77, 0 })
	return g
}

// first returns the error of a check with a second result.
func first[t any](_ t, err error) error { return err }

var word uint64

// checks are valid calls of every check, and invalid ones with the end of their error.
var checks = []struct {
	name    string
	valid   func(g *Guard) error
	invalid map[string]func(g *Guard) error
}{
	{"Handle", func(g *Guard) error { return g.Handle("call", "event", 4096) }, map[string]func(g *Guard) error{
		"call: 1: the event is 0, which is no handle":    func(g *Guard) error { return g.Handle("call", "event", 0) },
		"call: 1: the graph is 4095, which is no handle": func(g *Guard) error { return g.Handle("call", "graph", 4095) },
	}},
	{"OwnStream", func(g *Guard) error { return g.OwnStream("call", 1, "captured") }, map[string]func(g *Guard) error{
		"call: 1: the default stream cannot be captured": func(g *Guard) error { return g.OwnStream("call", 0, "captured") },
	}},
	{"Bytes", func(g *Guard) error { return g.Bytes("call", 1) }, map[string]func(g *Guard) error{
		"call: 1: the bytes are zero": func(g *Guard) error { return g.Bytes("call", 0) },
	}},
	{"Pointer", func(g *Guard) error { return g.Pointer("call", 1) }, map[string]func(g *Guard) error{
		"call: 1: the pointer is zero": func(g *Guard) error { return g.Pointer("call", 0) },
	}},
	{"HostPointer", func(g *Guard) error { return g.HostPointer("call", unsafe.Pointer(&word)) }, map[string]func(g *Guard) error{
		"call: 1: the pointer is nil": func(g *Guard) error { return g.HostPointer("call", nil) },
	}},
	{"HostRange", func(g *Guard) error { return g.HostRange("call", unsafe.Pointer(&word), 8) }, map[string]func(g *Guard) error{
		"call: 1: the pointer is nil or the bytes are zero": func(g *Guard) error { return g.HostRange("call", unsafe.Pointer(&word), 0) },
	}},
	{"Copy", func(g *Guard) error { return first(g.Copy("call", 8, 16, 4)) }, map[string]func(g *Guard) error{
		"call: 1: the destination or the source is nil": func(g *Guard) error { return first(g.Copy("call", 8, 0, 4)) },
	}},
	{"Fill", func(g *Guard) error { return first(g.Fill("call", 8, 4, 3)) }, map[string]func(g *Guard) error{
		"call: 1: the width is 3 bytes, not 1, 2 or 4":                            func(g *Guard) error { return first(g.Fill("call", 8, 3, 0)) },
		"call: 1: the destination is zero":                                        func(g *Guard) error { return first(g.Fill("call", 0, 4, 1)) },
		"call: 1: the destination 0x6 is not aligned to the width of 4 bytes":     func(g *Guard) error { return first(g.Fill("call", 6, 4, 1)) },
		"call: 1: 9223372036854775808 values of 4 bytes exceed the address space": func(g *Guard) error { return first(g.Fill("call", 8, 4, 1<<63)) },
	}},
	{"Managed", func(g *Guard) error { return g.Managed("call", 8) }, map[string]func(g *Guard) error{
		"call: 1: the bytes are zero": func(g *Guard) error { return g.Managed("call", 0) },
	}},
	{"Prefetch", func(g *Guard) error { return g.Prefetch("call", 8, 8) }, map[string]func(g *Guard) error{
		"call: 1: the pointer or the bytes are zero": func(g *Guard) error { return g.Prefetch("call", 8, 0) },
	}},
	{"Pool", func(g *Guard) error { return first(g.Pool("call", 0)) }, nil},
	{"PoolBytes", func(g *Guard) error { return first(g.PoolBytes("call", 0, 8)) }, map[string]func(g *Guard) error{
		"call: 1: the bytes are zero": func(g *Guard) error { return first(g.PoolBytes("call", 0, 0)) },
	}},
	{"PoolPointer", func(g *Guard) error { return g.PoolPointer("call", 8) }, map[string]func(g *Guard) error{
		"call: 1: the pointer is zero": func(g *Guard) error { return g.PoolPointer("call", 0) },
	}},
	{"OwnPool", func(g *Guard) error { return first(g.OwnPool("call", 8)) }, map[string]func(g *Guard) error{
		"call: 1: the default pool cannot be destroyed": func(g *Guard) error { return first(g.OwnPool("call", 0)) },
	}},
	{"PoolMaximum", func(g *Guard) error { return g.PoolMaximum("call", 8) }, nil},
	{"VirtualBytes", func(g *Guard) error { return g.VirtualBytes("call", 8) }, map[string]func(g *Guard) error{
		"call: 1: the bytes are zero": func(g *Guard) error { return g.VirtualBytes("call", 0) },
	}},
	{"Range", func(g *Guard) error { return g.Range("call", 8, 8) }, map[string]func(g *Guard) error{
		"call: 1: the address or the bytes are zero": func(g *Guard) error { return g.Range("call", 0, 8) },
	}},
	{"Physical", func(g *Guard) error { return g.Physical("call", 8) }, map[string]func(g *Guard) error{
		"call: 1: the handle is zero": func(g *Guard) error { return g.Physical("call", 0) },
	}},
	{"Map", func(g *Guard) error { return g.Map("call", 8, 8, 8) }, map[string]func(g *Guard) error{
		"call: 1: the handle is zero": func(g *Guard) error { return g.Map("call", 8, 8, 0) },
	}},
	{"SharedBytes", func(g *Guard) error { return g.SharedBytes("call", 8) }, map[string]func(g *Guard) error{
		"call: 1: the bytes are zero": func(g *Guard) error { return g.SharedBytes("call", 0) },
	}},
	{"SharedRange", func(g *Guard) error { return g.SharedRange("call", 8, 8) }, map[string]func(g *Guard) error{
		"call: 1: the address or the bytes are zero": func(g *Guard) error { return g.SharedRange("call", 8, 0) },
	}},
	{"Export", func(g *Guard) error { return g.Export("call", 8) }, map[string]func(g *Guard) error{
		"call: 1: the handle is zero": func(g *Guard) error { return g.Export("call", 0) },
	}},
	{"Import", func(g *Guard) error { return g.Import("call", 0, 8) }, map[string]func(g *Guard) error{
		"call: 1: the descriptor is -1, the bytes 8": func(g *Guard) error { return g.Import("call", -1, 8) },
	}},
	{"Launch", func(g *Guard) error { return g.Launch("call", 4096, []uint64{1}, []uint32{0}, 2) }, map[string]func(g *Guard) error{
		"call: 1: the function is 8, which is no handle":         func(g *Guard) error { return g.Launch("call", 8, nil, nil, 2) },
		"call: 1: argument 1 begins at slot 1 of 1":              func(g *Guard) error { return g.Launch("call", 4096, []uint64{1}, []uint32{0, 1}, 2) },
		"call: 1: 3 arguments, of which at most 2 can be passed": func(g *Guard) error { return g.Launch("call", 4096, nil, make([]uint32, 3), 2) },
	}},
	{"FunctionValue", func(g *Guard) error { return g.FunctionValue("call", 4096, 1) }, map[string]func(g *Guard) error{
		"call: 1: the function is 0, which is no handle": func(g *Guard) error { return g.FunctionValue("call", 0, 1) },
	}},
	{"BlockThreads", func(g *Guard) error { return g.BlockThreads("call", 4096, 32) }, map[string]func(g *Guard) error{
		"call: 1: a block of 0 threads": func(g *Guard) error { return g.BlockThreads("call", 4096, 0) },
	}},
	{"Peer", func(g *Guard) error { return g.Peer("call", 1) }, map[string]func(g *Guard) error{
		"binding: no device 3: the driver shows this process 3, numbered from 0: " + backend.ErrNoDevice.Error(): func(g *Guard) error { return g.Peer("call", 3) },
	}},
	{"OtherPeer", func(g *Guard) error { return g.OtherPeer("call", 2) }, map[string]func(g *Guard) error{
		"call: 1: device 1 is the device itself: pass the number of another device": func(g *Guard) error { return g.OtherPeer("call", 1) },
	}},
}

func TestChecks(t *testing.T) {
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			g := newGuard()
			require.NoError(t, check.valid(g))
			for want, invalid := range check.invalid {
				assert.EqualError(t, invalid(g), want)
			}
			require.Zero(t, allocations.PerRun(func() { _ = check.valid(g) }), "a check that passes allocates nothing")

			require.NoError(t, g.Close())
			closed := check.valid(g)
			require.ErrorIs(t, closed, backend.ErrClosed)
			assert.ErrorContains(t, closed, "binding: call: device 1: ")
		})
	}
	g := newGuard()
	require.NoError(t, g.Close())
	require.ErrorIs(t, g.Close(), backend.ErrClosed)
}

// TestLackingProperties checks a device without any optional property.
func TestLackingProperties(t *testing.T) {
	g := newGuard()
	g.ReadProperties(func(backend.Attribute) bool { return false })
	for _, test := range []struct {
		err  error
		want string
	}{
		{g.Managed("call", 8), "call: 801: the device has no managed memory: use Alloc"},
		{g.Prefetch("call", 8, 8), "call: 801: the device cannot share managed memory with the processor while it has work"},
		{g.Range("call", 8, 8), "call: 801: the device has no virtual memory management: use Alloc and Free"},
	} {
		assert.EqualError(t, test.err, test.want)
	}
	g.maps = true
	assert.EqualError(t, g.Shared("call"), "call: 801: the device cannot share memory with other processes")
}

func TestPools(t *testing.T) {
	g := newGuard()
	pool, err := g.Pool("call", 0)
	require.NoError(t, err)
	assert.EqualValues(t, 77, pool, "zero means the default pool")
	pool, err = g.Pool("call", 5)
	require.NoError(t, err)
	assert.EqualValues(t, 5, pool)

	g.Info.DriverVersion = 12010
	assert.EqualError(t, g.PoolMaximum("call", 1<<20),
		"call(maximum 1.0 MiB): 36: a pool with a maximum: it needs a driver for CUDA 12.2 or newer")
	require.NoError(t, g.PoolMaximum("call", 0))

	lookedUp := func() (uintptr, int32) { t.Error("the driver has no such function"); return 0, 0 }
	g.FindPool(false, lookedUp)
	assert.EqualError(t, first(g.Pool("call", 0)), "call: 801: the device has no stream-ordered memory pools: use Alloc and Free")
	g.Info.DriverVersion = 11010
	g.FindPool(false, lookedUp)
	assert.EqualError(t, first(g.Pool("call", 0)), "call: 36: it needs a driver for CUDA 11.2 or newer")
	assert.False(t, g.HasPools())
}

func TestNoWorkNeedsNoAddress(t *testing.T) {
	g := newGuard()
	proceed, err := g.Copy("call", 0, 0, 0)
	require.NoError(t, err)
	assert.False(t, proceed)
	proceed, err = g.Fill("call", 0, 4, 0)
	require.NoError(t, err)
	assert.False(t, proceed)
}

func TestPeers(t *testing.T) {
	peers := NewPeers[string](3)
	retained := 0
	retain := func(ordinal int) (string, int32) {
		retained++
		if ordinal == 2 {
			return "", 719
		}
		return fmt.Sprint("context ", ordinal), 0
	}
	for range 2 {
		peer, result := peers.Get(1, retain)
		require.Zero(t, result)
		assert.Equal(t, "context 1", *peer)
	}
	assert.Equal(t, 1, retained)
	_, result := peers.Get(2, retain)
	assert.EqualValues(t, 719, result)

	var released []string
	peers.Release(func(peer *string) { released = append(released, *peer) })
	assert.Equal(t, []string{"context 1"}, released)
	_, result = peers.Get(1, retain)
	assert.EqualValues(t, invalidContext, result, "the device is closed")
}

func TestCheckCount(t *testing.T) {
	require.NoError(t, CheckCount("binding", 1, nil))
	err := CheckCount("binding", 0, nil)
	require.ErrorIs(t, err, backend.ErrNotAvailable)
	assert.ErrorContains(t, err, "CUDA_VISIBLE_DEVICES may hide them")
	cause := errors.New("no driver")
	err = CheckCount("binding", 0, cause)
	require.ErrorIs(t, err, backend.ErrNotAvailable)
	require.ErrorIs(t, err, cause)
}

func TestShapeOf(t *testing.T) {
	shape := ShapeOf(backend.Dim3{X: 7}, backend.Dim3{Y: 3})
	assert.Equal(t, "grid 7x1x1, block 1x3x1, 8 bytes shared", shape.Text(8))
	assert.EqualValues(t, 4, Granularity(4, 6))
	assert.EqualValues(t, 8, Granularity(4, 8))
}
