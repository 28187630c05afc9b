package host

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/cmem"
	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/await"
)

func TestAllocIsAlignedAsOnAGPU(t *testing.T) {
	d := open(t)
	for _, bytes := range []uint64{1, 100, 256, 100000} {
		p := alloc(t, d, bytes)
		assert.Zero(t, p%cmem.Alignment)
		require.NoError(t, d.Free(p))
	}
}

func TestAllocRefusals(t *testing.T) {
	d := open(t)
	for _, c := range []struct {
		bytes uint64
		want  error
	}{
		{0, backend.ErrInvalidValue},
		{1<<47 + 1, backend.ErrOutOfMemory},
		{math.MaxInt64, backend.ErrOutOfMemory},
		{math.MaxUint64, backend.ErrOutOfMemory},
		{d.info.TotalMemory + 1, backend.ErrOutOfMemory},
	} {
		_, err := d.Alloc(c.bytes)
		assert.ErrorIs(t, err, c.want, "Alloc(%d)", c.bytes)
		_, err = d.AllocAsync(c.bytes, 0, 0)
		assert.ErrorIs(t, err, c.want, "AllocAsync(%d)", c.bytes)
		_, err = d.HostAlloc(c.bytes)
		assert.ErrorIs(t, err, c.want, "HostAlloc(%d)", c.bytes)
	}
	used, err := d.PoolAttribute(0, backend.PoolReservedCurrent)
	require.NoError(t, err)
	assert.Zero(t, used, "what failed is not counted")
}

func TestFreeRefusesOtherAddresses(t *testing.T) {
	d := open(t)
	p := alloc(t, d, 4096)
	pinned, err := d.HostAlloc(4096)
	require.NoError(t, err)
	foreign := make([]byte, 16)

	for name, err := range map[string]error{
		"Free of nothing":            d.Free(0),
		"Free inside an allocation":  d.Free(p + 1),
		"Free of foreign memory":     d.Free(at(foreign)),
		"Free of HostAlloc's":        d.Free(backend.Pointer(uintptr(pinned))),
		"FreeAsync of HostAlloc's":   d.FreeAsync(backend.Pointer(uintptr(pinned)), 0),
		"HostFree of nothing":        d.HostFree(nil),
		"HostFree of Alloc's":        d.HostFree(address(p)),
		"HostFree inside":            d.HostFree(unsafe.Add(pinned, 1)),
		"HostUnregister of anything": d.HostUnregister(pinned),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	require.NoError(t, d.HostFree(pinned))
	assert.ErrorIs(t, d.HostFree(pinned), backend.ErrInvalidValue)
	require.NoError(t, d.Free(p))
	assert.ErrorIs(t, d.Free(p), backend.ErrInvalidValue)
}

func TestFreeAsyncEndsTheUseOfMemory(t *testing.T) {
	d := open(t)
	s := newTestStream(t, d)
	unblock := block(t, d, s)
	p, err := d.AllocAsync(64, 0, s)
	require.NoError(t, err)
	source, result := make([]byte, 64), make([]byte, 64)
	source[63] = 9
	require.NoError(t, d.CopyToDeviceAsync(p, start(source), 64, s))
	require.NoError(t, d.CopyToHostAsync(start(result), p, 64, s))
	require.NoError(t, d.FreeAsync(p, s))

	assert.ErrorIs(t, d.FreeAsync(p, s), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.Free(p), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.MemsetAsync(p, 0, 1, 64, s), backend.ErrInvalidValue)
	assert.ErrorIs(t, d.CopyToHost(start(result), p.Add(8), 8), backend.ErrInvalidValue)
	_, _, err = d.AddressRange(p)
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
	info, err := d.PointerInfo(p)
	require.NoError(t, err)
	assert.Equal(t, backend.MemoryUnknown, info.Kind)

	unblock()
	require.NoError(t, d.StreamSynchronize(s))
	assert.Equal(t, source, result, "work enqueued before the free had the memory")
}

func TestFailedFreeAsyncChangesNothing(t *testing.T) {
	d := open(t)
	p, err := d.AllocAsync(64, 0, 0)
	require.NoError(t, err)
	require.ErrorIs(t, d.FreeAsync(p, 99), backend.ErrInvalidValue)

	// The stream is destroyed by another goroutine after it was found.
	handle := newTestStream(t, d)
	s, err := d.stream("test", handle)
	require.NoError(t, err)
	s.close()
	require.ErrorIs(t, d.FreeAsync(p, handle), backend.ErrInvalidValue)

	used, err := d.PoolAttribute(0, backend.PoolUsedCurrent)
	require.NoError(t, err)
	assert.Equal(t, uint64(64), used)
	require.NoError(t, d.Memset(p, 0, 1, 64))
	require.NoError(t, d.Free(p))
}

func TestFreeWaitsForEnqueuedWork(t *testing.T) {
	d := open(t)
	s := newTestStream(t, d)
	p := alloc(t, d, 64)
	unblock := block(t, d, s)
	result := make([]byte, 64)
	require.NoError(t, d.MemsetAsync(p, 5, 1, 64, s))
	require.NoError(t, d.CopyToHostAsync(start(result), p, 64, s))

	freed := make(chan error, 1)
	go func() { freed <- d.Free(p) }()
	await.Until(t, func() bool {
		_, retired := system.find(uintptr(p))
		return retired
	}, "the memory is being freed")
	a, _ := system.find(uintptr(p))
	require.NotNil(t, a, "the memory is there as long as work may use it")
	unblock()
	require.NoError(t, <-freed)
	assert.Equal(t, byte(5), result[63])
}

func TestCopiesStayWithinAllocations(t *testing.T) {
	d := open(t)
	p := alloc(t, d, 100)
	defer func() { require.NoError(t, d.Free(p)) }()
	foreign := make([]byte, 200)
	foreignStart := start(foreign)

	for name, err := range map[string]error{
		"past the end":            d.CopyToDevice(p, foreignStart, 101),
		"past the end, offset":    d.CopyToHost(foreignStart, p.Add(99), 2),
		"source past the end":     d.CopyOnDevice(at(foreign), p.Add(50), 51),
		"past the end, later":     d.CopyToDeviceAsync(p, foreignStart, 101, 0),
		"to nothing":              d.CopyToDevice(0, foreignStart, 1),
		"from nothing":            d.CopyToDevice(p, nil, 1),
		"round the address space": d.CopyOnDevice(math.MaxUint-1, p, 100),
		"more than can be":        d.CopyToHost(foreignStart, p, math.MaxUint64),
		"fill past the end":       d.Memset(p, 0, 4, 26),
		"fill past the end, one":  d.MemsetAsync(p, 0, 1, 101, 0),
		"fill overflows":          d.Memset(p, 0, 4, 1<<62),
		"fill of nothing":         d.Memset(0, 0, 1, 1),
		"fill not aligned":        d.Memset(p+1, 0, 2, 1),
		"fill not aligned, four":  d.Memset(p+2, 0, 4, 1),
		"peer past the end":       d.CopyFromPeerAsync(p, at(foreign), 0, 101, 0),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	require.NoError(t, d.CopyToDevice(p, foreignStart, 100))
	require.NoError(t, d.CopyOnDevice(0, 0, 0), "nothing can be copied anywhere")
}

func TestRegistrationsDoNotOverlap(t *testing.T) {
	d := open(t)
	memory := make([]byte, 400)
	p := alloc(t, d, 64)
	defer func() { require.NoError(t, d.Free(p)) }()
	require.NoError(t, d.HostRegister(start(memory[100:]), 100))

	for name, err := range map[string]error{
		"nothing":            d.HostRegister(nil, 10),
		"no bytes":           d.HostRegister(start(memory), 0),
		"the same":           d.HostRegister(start(memory[100:]), 100),
		"a part":             d.HostRegister(start(memory[150:]), 10),
		"the end":            d.HostRegister(start(memory[199:]), 10),
		"the beginning":      d.HostRegister(start(memory[50:]), 51),
		"around":             d.HostRegister(start(memory), 400),
		"own memory":         d.HostRegister(address(p), 64),
		"past all addresses": d.HostRegister(start(memory), math.MaxUint64),
		"unregister inside":  d.HostUnregister(start(memory[101:])),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	require.NoError(t, d.HostRegister(start(memory[200:]), 100), "right behind")
	require.NoError(t, d.HostRegister(start(memory), 100), "right before")
	for _, offset := range []int{0, 100, 200} {
		require.NoError(t, d.HostUnregister(start(memory[offset:])))
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	d := open(t)
	p := alloc(t, d, 4096)
	defer func() { require.NoError(t, d.Free(p)) }()
	assert.Zero(t, allocations.PerRun(func() {
		_, _, _ = d.AddressRange(p.Add(77))
		_, _ = d.PointerInfo(p.Add(77))
	}))
}

func BenchmarkAllocFree(b *testing.B) {
	d := open(b)
	b.ReportAllocs()
	for b.Loop() {
		p, err := d.Alloc(1 << 10)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Free(p); err != nil {
			b.Fatal(err)
		}
	}
}
