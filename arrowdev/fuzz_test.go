//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// spoiled changes one field of one struct.
type spoiled struct{ which, field, how byte }

// apply changes the field of the struct. It leaves tables of addresses alone, because
// another address may be unmapped. Addresses of buffers may be any in the producer's
// memory, and lengths any that fit in it.
func (s spoiled) apply(arrays []*cabi.Array, low, high uintptr, value int64) {
	a := arrays[int(s.which)%len(arrays)]
	small := value % 512
	switch s.field % 9 {
	case 0:
		a.Length = value
	case 1:
		a.Offset = value
	case 2:
		a.NullCount = value
	case 3:
		a.NumBuffers = min(a.NumBuffers, value)
	case 4:
		a.NumChildren = min(a.NumChildren, value)
	case 5:
		if buffers := buffersOf(a); len(buffers) > 0 {
			buffers[int(s.how)%len(buffers)] = low + uintptr(value)%(high-low)
		}
	case 6:
		if buffers := buffersOf(a); len(buffers) > 0 {
			buffers[int(s.how)%len(buffers)] = 0
		}
	case 7:
		a.Length, a.Offset = small, small/3
	case 8:
		a.Release = 0
	}
}

// all returns an array's structs.
func all(a *cabi.Array) []*cabi.Array {
	arrays := []*cabi.Array{a}
	for i := range a.NumChildren {
		arrays = append(arrays, all(childOf(a, int(i)))...)
	}
	if a.Dictionary != 0 {
		arrays = append(arrays, all(dictionaryOf(a))...)
	}
	return arrays
}

// inside reports whether all of a table's memory lies in the producer's. The last
// offset of strings may be any number, and the host cannot check it.
func inside(table *buffer.Buffer, low device.Pointer, bytes uint64) bool {
	for i := range table.NumColumns() {
		for block := range table.Column(i).Blocks {
			if at := block.Pointer(); block.Bytes() > 0 && (at < low || at.Add(block.Bytes()) > low.Add(bytes)) {
				return false
			}
		}
	}
	return true
}

// FuzzArray changes structs and contents of an array. For every change the array is
// released once and nothing stays held. An array that is accepted can be downloaded,
// which follows every reference in it.
//
// The host cannot check the bounds of memory. The allocation is large enough that no
// read passes its end.
func FuzzArray(f *testing.F) {
	f.Add([]byte{}, int64(0), uint64(0), byte(0))
	f.Add([]byte{0, 0, 0}, int64(5), uint64(0), byte(0))
	f.Add([]byte{2, 7, 0, 5, 7, 0}, int64(9), uint64(300), byte(0x80))
	f.Add([]byte{9, 5, 1}, int64(640), uint64(1000), byte(0xff))
	f.Add([]byte{12, 2, 0, 3, 8, 0}, int64(-1), uint64(77), byte(3))
	f.Fuzz(func(t *testing.T, changes []byte, value int64, at uint64, content byte) {
		m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
		table := upload(t, m, many())
		a, err := Export(table)
		require.NoError(t, err)
		p := producertest.Disguise(deviceArray(a))
		defer p.Free()
		// The memory extends beyond everything that small lengths can reach.
		const room = 64 << 10
		low, high := extentOf(table)
		bytes := make([]byte, room)
		copy(bytes, rawBytes(t, m, device.Pointer(low), int(high-low)))
		bytes[at%uint64(high-low)] ^= content
		pointer := devicetest.Foreign(t, m.Device(), bytes)
		for block := range table.Column(0).Blocks {
			relocate(p, &p.Device.Array, block, pointer)
		}
		require.NoError(t, table.Release())
		p.Abandon()
		arrays := all(&p.Device.Array)
		for ; len(changes) >= 3; changes = changes[3:] {
			spoiled{changes[0], changes[1], changes[2]}.apply(arrays, uintptr(pointer), uintptr(pointer)+high-low, value)
		}
		for _, each := range arrays {
			if each.Length > 512 || each.Offset > 512 {
				// Out of bounds: only values that are refused before memory is read.
				each.NumBuffers = 1 << 40
			}
		}
		moved := p.Device.Array.Release == 0
		back, err := Import(m, pointerTo(p.Device), a.Schema())
		require.NoError(t, a.Release())
		if err == nil {
			if inside(back, pointer, room) {
				record, err := back.Record(t.Context())
				require.NoError(t, err)
				record.Release()
			}
			require.NoError(t, back.Release())
		} else {
			var typed *Error
			require.ErrorAs(t, err, &typed)
			require.Equal(t, "import", typed.Operation)
			require.Nil(t, back)
		}
		require.Equal(t, !moved, p.RootReleases() == 1)
		requireNothingHeld(t, m)
	})
}
