package backendtest

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// guard surrounds the bytes under test, so that a write outside them shows.
const (
	guard      = 0xA5
	guardBytes = 16
)

// spans are the sizes and offsets of the copies. The sizes are around those at which
// drivers change their method; odd offsets prevent wide loads.
var spans = []struct{ size, offset int }{
	{1, 0}, {1, 5}, {3, 0}, {3, 1}, {255, 0}, {255, 7}, {256, 0}, {256, 1}, {4096, 0}, {4096, 3},
	{1 << 20, 0}, {1 << 20, 9}, {33 << 20, 0}, {33 << 20, 11},
}

// copier is the three copies, synchronous or not.
type copier struct {
	toDevice func(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error
	onDevice func(destination, source backend.Pointer, bytes uint64) error
	toHost   func(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error
	wait     func() error
}

func testCopy(t *testing.T, d backend.Device) {
	pageable := func(t *testing.T, size int) []byte { return make([]byte, size) }
	roundTrips(t, d, pageable, copier{
		toDevice: d.CopyToDevice,
		onDevice: d.CopyOnDevice,
		toHost:   d.CopyToHost,
		wait:     func() error { return nil },
	})
}

func testCopyAsync(t *testing.T, d backend.Device) {
	s := newStream(t, d)
	locked := func(t *testing.T, size int) []byte { return pinned(t, d, size) }
	roundTrips(t, d, locked, copier{
		toDevice: func(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
			return d.CopyToDeviceAsync(destination, source, bytes, s)
		},
		onDevice: func(destination, source backend.Pointer, bytes uint64) error {
			return d.CopyOnDeviceAsync(destination, source, bytes, s)
		},
		toHost: func(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
			return d.CopyToHostAsync(destination, source, bytes, s)
		},
		wait: func() error { return d.StreamSynchronize(s) },
	})
}

// roundTrips copies bytes to the device, within it and back, each time to another
// offset, and checks the bytes around them too.
func roundTrips(t *testing.T, d backend.Device, memory func(*testing.T, int) []byte, c copier) {
	largest := spans[len(spans)-1].size + 2*guardBytes
	first, second := allocate(t, d, uint64(largest)), allocate(t, d, uint64(largest))
	source, result := memory(t, largest), memory(t, largest)
	copy(source, pattern(largest, 1))

	for _, span := range spans {
		size, room := uint64(span.size), uint64(span.size+2*guardBytes)
		require.NoError(t, d.Memset(second, guard, 1, room))
		for i := range result[:room] {
			result[i] = guard
		}
		payload := source[span.offset : span.offset+span.size]

		require.NoError(t, c.toDevice(first.Add(guardBytes-1), start(payload), size))
		require.NoError(t, c.onDevice(second.Add(uint64(span.offset)), first.Add(guardBytes-1), size))
		require.NoError(t, c.toHost(start(result[1:]), second, room-1))
		require.NoError(t, c.wait())

		want := make([]byte, room)
		for i := range want {
			want[i] = guard
		}
		copy(want[1+span.offset:], payload)
		requireBytes(t, want, result[:room], "%d bytes at offset %d", span.size, span.offset)
	}
}

func testCopyNothing(t *testing.T, d backend.Device) {
	p, q, s, memory := allocate(t, d, 16), allocate(t, d, 16), newStream(t, d), pinned(t, d, 16)
	content := pattern(16, 3)
	require.NoError(t, d.CopyToDevice(p, start(content), 16))
	copy(memory, content)

	require.NoError(t, d.CopyToDevice(p, start(memory), 0))
	require.NoError(t, d.CopyToHost(start(memory), p, 0))
	require.NoError(t, d.CopyOnDevice(p, q, 0))
	require.NoError(t, d.CopyToDeviceAsync(p, start(memory), 0, s))
	require.NoError(t, d.CopyToHostAsync(start(memory), p, 0, s))
	require.NoError(t, d.CopyOnDeviceAsync(p, q, 0, s))
	require.NoError(t, d.Memset(p, 0, 4, 0))
	require.NoError(t, d.MemsetAsync(p, 0, 4, 0, s))
	require.NoError(t, d.StreamSynchronize(s))
	requireBytes(t, content, download(t, d, p, 16), "device memory")
	requireBytes(t, content, memory, "host memory")
}

func testMemset(t *testing.T, d backend.Device) {
	fills(t, d, d.Memset)
}

func testMemsetAsync(t *testing.T, d backend.Device) {
	s := newStream(t, d)
	fills(t, d, func(destination backend.Pointer, value uint32, width int, count uint64) error {
		if err := d.MemsetAsync(destination, value, width, count, s); err != nil {
			return err
		}
		return d.StreamSynchronize(s)
	})
}

func fills(t *testing.T, d backend.Device, memset func(backend.Pointer, uint32, int, uint64) error) {
	const value = 0x81C3E7F9
	for _, width := range []int{1, 2, 4} {
		for _, count := range []int{1, 3, 255, 256, 4096, 1<<20 + 1} {
			size := (count + 2) * width // one element of guard on each side
			p := allocate(t, d, uint64(size))
			require.NoError(t, d.Memset(p, guard, 1, uint64(size)))
			require.NoError(t, memset(p.Add(uint64(width)), value, width, uint64(count)))

			want := make([]byte, size)
			for i := range want {
				want[i] = guard
			}
			var element [4]byte
			binary.NativeEndian.PutUint32(element[:], value)
			switch width {
			case 1:
				element[0] = value & 0xFF
			case 2:
				binary.NativeEndian.PutUint16(element[:], value&0xFFFF)
			}
			for i := 1; i <= count; i++ {
				copy(want[i*width:], element[:width])
			}
			requireBytes(t, want, download(t, d, p, size), "%d elements of width %d", count, width)
		}
	}
}

func testMemsetBadWidth(t *testing.T, d backend.Device) {
	p := allocate(t, d, 64)
	content := pattern(64, 5)
	require.NoError(t, d.CopyToDevice(p, start(content), 64))
	for _, width := range []int{-1, 0, 3, 5, 8} {
		require.ErrorIs(t, d.Memset(p, 0, width, 1), backend.ErrInvalidValue, "width %d", width)
		require.ErrorIs(t, d.MemsetAsync(p, 0, width, 1, 0), backend.ErrInvalidValue, "width %d", width)
	}
	require.NoError(t, d.Synchronize())
	requireBytes(t, content, download(t, d, p, 64), "after refused fills")
}
