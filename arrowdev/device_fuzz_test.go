//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// viewsAndOthers is a record with string views at two depths and types with other
// buffers.
func viewsAndOthers() arrow.Record {
	g := arraytest.NewGenerator(3)
	var arrays []arrow.Array
	for _, t := range []arrow.DataType{
		arrow.BinaryTypes.StringView, arrow.ListOf(arrow.BinaryTypes.StringView), arrow.BinaryTypes.String,
		arrow.ListViewOf(arrow.PrimitiveTypes.Int32), arrow.DenseUnionOf([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, []arrow.UnionTypeCode{4}),
	} {
		arrays = append(arrays, g.Array(t, 24))
	}
	return recordOf(arrays...)
}

// hostWords are host memory that a wild pointer may name.
var hostWords [64]uint64

// spoiler changes an array in device memory.
type spoiler struct {
	m     *memory.Manager
	views []*cabi.Array
	value int64
}

// lengths returns the place of the address of a view node's lengths, and their number.
func (s spoiler) lengths(which byte) (at *uintptr, count int) {
	buffers := buffersOf(s.views[int(which)%len(s.views)])
	return &buffers[len(buffers)-1], len(buffers) - 3
}

// apply does one change. An address may be any: the driver knows which memory exists.
func (s spoiler) apply(t *testing.T, all []*cabi.Array, which, action, how byte) {
	buffers := buffersOf(all[int(which)%len(all)])
	wild := func(at uintptr) {
		if len(buffers) > 0 {
			buffers[int(how)%len(buffers)] = at
		}
	}
	at, count := s.lengths(which)
	switch action % 8 {
	case 0: // lengths of one value in device memory
		lengths := make([]int64, count)
		for i := range lengths {
			lengths[i] = s.value
		}
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(lengths))), 8*count)
		*at = uintptr(devicetest.Foreign(t, s.m.Device(), bytes))
	case 1: // fewer lengths in device memory than data buffers
		*at = uintptr(devicetest.Foreign(t, s.m.Device(), make([]byte, 8*(count-1))))
	case 2: // a part of the device memory of the lengths
		*at += uintptr(how)
	case 3:
		wild(0xdead0000 + uintptr(how))
	case 4:
		wild(uintptr(s.value))
	case 5:
		wild(uintptr(unsafe.Pointer(&hostWords[how%64])))
	case 6:
		wild(0)
	case 7: // another place in the memory of the buffer
		if len(buffers) > 0 && buffers[int(how)%len(buffers)] != 0 {
			wild(buffers[int(how)%len(buffers)] + uintptr(s.value%4096))
		}
	}
}

// FuzzDeviceMemory gives an array in device memory other addresses, and lengths of data
// buffers in device memory. Whatever the change, the array is released once, nothing
// stays held, and an array that is accepted can be downloaded: the driver knows every
// address, and kernels check the contents.
func FuzzDeviceMemory(f *testing.F) {
	f.Add([]byte{}, int64(0), false)
	for action := range byte(8) {
		f.Add([]byte{0, action, 1}, int64(1<<20), false)
		f.Add([]byte{2, action, 0, 1, action, 3}, int64(-8), true)
		f.Add([]byte{1, 0, 0, 1, action, 8, 4, 3, 2}, int64(64), false)
	}
	dev := devicetest.OpenKernels(f)
	f.Fuzz(func(t *testing.T, changes []byte, value int64, inDevice bool) {
		m := devicetest.Manager(t, dev, memory.Options{})
		p, a := foreignTable(t, m, viewsAndOthers())
		s := spoiler{m: m, value: value}
		for i, each := range []arrow.DataType{arrow.BinaryTypes.StringView, arrow.ListOf(arrow.BinaryTypes.StringView)} {
			s.views = append(s.views, viewNodes(childOf(&p.Device.Array, i), each)...)
		}
		require.Len(t, s.views, 2)
		if inDevice {
			for _, each := range s.views {
				moveLengths(t, m, each)
			}
		}
		arrays := all(&p.Device.Array)
		for ; len(changes) >= 3; changes = changes[3:] {
			s.apply(t, arrays, changes[0], changes[1], changes[2])
		}
		table, err := Import(m, pointerTo(p.Device), a.Schema())
		if err == nil {
			record, err := table.Record(t.Context())
			require.NoError(t, err)
			record.Release()
			require.NoError(t, table.Release())
		} else {
			var typed *Error
			require.ErrorAs(t, err, &typed)
			require.Equal(t, "import", typed.Operation)
			require.NotErrorIs(t, err, device.ErrDeviceLost)
		}
		requireReleasedOnce(t, p)
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}
