package backendtest

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func testAlloc(t *testing.T, d backend.Device) {
	alignment := uint64(256)
	if d.Info().Kind == backend.Host {
		alignment = 64
	}
	type block struct {
		p       backend.Pointer
		content []byte
	}
	var blocks []block
	for i, size := range []int{1, 3, 255, 256, 257, 4096, 1<<20 + 1} {
		p := allocate(t, d, uint64(size))
		assert.Zero(t, uint64(p)%alignment, "%d bytes at %v", size, p)
		content := pattern(size, uint32(i))
		require.NoError(t, d.CopyToDevice(p, start(content), uint64(size)))
		blocks = append(blocks, block{p, content})
	}
	for _, b := range blocks {
		requireBytes(t, b.content, download(t, d, b.p, len(b.content)), "an allocation of its own")
	}
}

func testAllocTooMuch(t *testing.T, d backend.Device) {
	_, err := d.Alloc(4 * d.Info().TotalMemory)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	_, err = d.Alloc(1 << 62)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	allocate(t, d, 1<<20) // only the request too large fails
}

func testFreeTwice(t *testing.T, d backend.Device) {
	p, err := d.Alloc(4096)
	require.NoError(t, err)
	require.NoError(t, d.Free(p))
	require.ErrorIs(t, d.Free(p), backend.ErrInvalidValue)
}

func testAllocAsync(t *testing.T, d backend.Device) {
	const size = 1<<20 + 3
	s, other := newStream(t, d), newStream(t, d)
	ready := newEvent(t, d, false)
	source, result := pinned(t, d, size), pinned(t, d, size)

	for round := range uint32(4) {
		copy(source, pattern(size, round))
		p, err := d.AllocAsync(size, 0, s)
		if errors.Is(err, backend.ErrNotSupported) {
			t.Skipf("no stream-ordered allocation: %v", err)
		}
		require.NoError(t, err)
		require.NoError(t, d.CopyToDeviceAsync(p, start(source), size, s))
		require.NoError(t, d.EventRecord(ready, s))

		// Used and freed on another stream, which is ordered after the first.
		require.NoError(t, d.StreamWaitEvent(other, ready))
		require.NoError(t, d.CopyToHostAsync(start(result), p, size, other))
		require.NoError(t, d.FreeAsync(p, other))
		require.NoError(t, d.StreamSynchronize(other))
		requireBytes(t, source, result, "round %d", round)
	}
}

func testAddressRange(t *testing.T, d backend.Device) {
	const size = 3<<20 + 5
	p, err := d.Alloc(size)
	require.NoError(t, err)
	for _, offset := range []uint64{0, 1, 255, 1 << 20, size - 1} {
		base, length, err := d.AddressRange(p.Add(offset))
		require.NoError(t, err, "offset %d", offset)
		assert.Equal(t, p, base, "offset %d", offset)
		assert.GreaterOrEqual(t, length, uint64(size), "offset %d", offset)
	}
	require.NoError(t, d.Free(p))

	_, _, err = d.AddressRange(p)
	assert.ErrorIs(t, err, backend.ErrInvalidValue, "after it was freed")
	foreign := make([]byte, 64)
	_, _, err = d.AddressRange(backend.Pointer(uintptr(start(foreign))))
	assert.ErrorIs(t, err, backend.ErrInvalidValue, "memory of Go's")
	runtime.KeepAlive(foreign)
}

func testPointerInfo(t *testing.T, d backend.Device) {
	own := backend.MemoryDevice
	if d.Info().Kind == backend.Host {
		own = backend.MemoryHost
	}
	p := allocate(t, d, 4096)
	for _, offset := range []uint64{0, 17, 4095} {
		info, err := d.PointerInfo(p.Add(offset))
		require.NoError(t, err)
		assert.Equal(t, backend.PointerInfo{Kind: own, Ordinal: d.Info().Ordinal}, info, "offset %d", offset)
	}

	foreign := make([]byte, 64)
	info, err := d.PointerInfo(backend.Pointer(uintptr(start(foreign))))
	require.NoError(t, err, "memory that the driver has not heard of is no error")
	assert.Equal(t, backend.PointerInfo{Kind: backend.MemoryUnknown, Ordinal: -1}, info)
	runtime.KeepAlive(foreign)
}

func requireKind(t *testing.T, d backend.Device, want backend.MemoryKind, p unsafe.Pointer) {
	t.Helper()
	info, err := d.PointerInfo(backend.Pointer(uintptr(p)))
	require.NoError(t, err)
	require.Equal(t, want, info.Kind)
}

func testHostAlloc(t *testing.T, d backend.Device) {
	for _, size := range []int{1, 4095, 1 << 20} {
		memory := pinned(t, d, size)
		requireKind(t, d, backend.MemoryPinned, start(memory))
		requireKind(t, d, backend.MemoryPinned, unsafe.Pointer(&memory[size-1]))

		content := pattern(size, uint32(size))
		copy(memory, content)
		p := allocate(t, d, uint64(size))
		require.NoError(t, d.CopyToDevice(p, start(memory), uint64(size)))
		clear(memory)
		require.NoError(t, d.CopyToHost(start(memory), p, uint64(size)))
		requireBytes(t, content, memory, "%d bytes", size)
	}
	_, err := d.HostAlloc(1 << 62)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

func testHostRegister(t *testing.T, d backend.Device) {
	const page, size = 4096, 64 * 4096
	// Whole pages, so that no page of other objects is locked too.
	memory := make([]byte, size+page)
	skip := -uintptr(start(memory)) & (page - 1)
	pages := memory[skip : skip+size]
	content := pattern(size, 7)
	copy(pages, content)

	requireKind(t, d, backend.MemoryUnknown, start(pages))
	require.NoError(t, d.HostRegister(start(pages), size))
	requireKind(t, d, backend.MemoryPinned, start(pages))
	requireKind(t, d, backend.MemoryPinned, unsafe.Pointer(&pages[size-1]))
	require.Error(t, d.HostRegister(start(pages), size), "registered already")

	p, s := allocate(t, d, size), newStream(t, d)
	require.NoError(t, d.CopyToDeviceAsync(p, start(pages), size, s))
	require.NoError(t, d.StreamSynchronize(s))
	clear(pages)
	require.NoError(t, d.CopyToHostAsync(start(pages), p, size, s))
	require.NoError(t, d.StreamSynchronize(s))
	requireBytes(t, content, pages, "through registered memory")

	require.NoError(t, d.HostUnregister(start(pages)))
	requireKind(t, d, backend.MemoryUnknown, start(pages))
	require.Error(t, d.HostUnregister(start(pages)), "no longer registered")
	runtime.KeepAlive(memory)
}
