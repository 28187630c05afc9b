package arrowdev

import (
	"runtime"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// recordOwner is a record that somebody outside holds.
type recordOwner struct {
	record arrow.Record
	pinner runtime.Pinner
}

// Ended gives the record back.
func (o *recordOwner) Ended() {
	o.pinner.Unpin()
	o.record.Release()
}

// hostWriter writes the arrays of a record into the memory of a tree.
type hostWriter struct {
	tree  *cabi.Tree
	owner *recordOwner
}

func pointers(n int) uintptr { return uintptr(n) * unsafe.Sizeof(uintptr(0)) }

// sizeOf returns the nodes, and the bytes, that an array takes in a tree.
func sizeOf(data arrow.ArrayData) (nodes int, bytes uintptr) {
	layout := hostLayoutOf(data)
	nodes = 1
	bytes = unsafe.Sizeof(cabi.Array{}) + pointers(len(layout.buffers)+1+len(data.Children()))
	bytes += 8 // what an empty buffer points at
	bytes += uintptr(8 * len(layout.variadic))
	for _, child := range data.Children() {
		n, b := sizeOf(child)
		nodes, bytes = nodes+n, bytes+b
	}
	if dictionary := hostDictionary(data); dictionary != nil {
		n, b := sizeOf(dictionary)
		nodes, bytes = nodes+n, bytes+b
	}
	return nodes, bytes
}

// hostLayout are the buffers of an array, as the C data interface wants them.
type hostLayout struct {
	buffers []*arrowmemory.Buffer
	// validity says that the first one may be missing.
	validity bool
	// views says that the lengths of the data buffers come last.
	views    bool
	variadic []*arrowmemory.Buffer
}

// hostLayoutOf maps arrow-go's buffers, in which unions and run ends still have a
// validity bitmap that is never there.
func hostLayoutOf(data arrow.ArrayData) hostLayout {
	buffers := data.Buffers()
	take := func(from, to int) []*arrowmemory.Buffer {
		taken := make([]*arrowmemory.Buffer, to-from)
		if from < len(buffers) {
			copy(taken, buffers[from:])
		}
		return taken
	}
	switch storageID(data.DataType()) {
	case arrow.NULL, arrow.RUN_END_ENCODED:
		return hostLayout{}
	case arrow.SPARSE_UNION:
		return hostLayout{buffers: take(1, 2)}
	case arrow.DENSE_UNION:
		return hostLayout{buffers: take(1, 3)}
	case arrow.STRUCT, arrow.FIXED_SIZE_LIST:
		return hostLayout{buffers: take(0, 1), validity: true}
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return hostLayout{buffers: take(0, 3), validity: true}
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		all := take(0, max(2, len(buffers)))
		return hostLayout{buffers: all, validity: true, views: true, variadic: all[2:]}
	}
	return hostLayout{buffers: take(0, 2), validity: true}
}

func storageID(dataType arrow.DataType) arrow.Type {
	for {
		extension, ok := dataType.(arrow.ExtensionType)
		if !ok {
			return dataType.ID()
		}
		dataType = extension.StorageType()
	}
}

func hostDictionary(data arrow.ArrayData) arrow.ArrayData {
	if dictionary, ok := data.Dictionary().(*array.Data); !ok || dictionary == nil {
		return nil
	}
	return data.Dictionary()
}

// array writes an array and what is below it, and returns its address.
func (w *hostWriter) array(data arrow.ArrayData) uintptr {
	out := (*cabi.Array)(w.tree.Take(unsafe.Sizeof(cabi.Array{})))
	w.tree.OwnArray(out)
	layout := hostLayoutOf(data)
	out.Length, out.Offset, out.NullCount = int64(data.Len()), int64(data.Offset()), int64(data.NullN())
	if !layout.validity {
		out.NullCount = 0
		if storageID(data.DataType()) == arrow.NULL {
			out.NullCount = out.Length
		}
	}
	w.buffers(out, layout)
	children := data.Children()
	w.children(out, len(children), func(i int) arrow.ArrayData { return children[i] })
	if dictionary := hostDictionary(data); dictionary != nil {
		out.Dictionary = w.array(dictionary)
	}
	return uintptr(unsafe.Pointer(out))
}

func (w *hostWriter) buffers(out *cabi.Array, layout hostLayout) {
	count := len(layout.buffers)
	if layout.views {
		count++
	}
	memory := w.tree.Take(pointers(len(layout.buffers) + 1))
	empty := uintptr(w.tree.Take(8))
	addresses := unsafe.Slice((*uintptr)(memory), len(layout.buffers)+1)
	for i, buffer := range layout.buffers {
		if addresses[i] = w.pin(buffer); addresses[i] == 0 && (i > 0 || !layout.validity) {
			addresses[i] = empty // offsets of an empty array are one zero
		}
	}
	if layout.views {
		lengths := w.tree.Take(uintptr(8 * len(layout.variadic)))
		for i, buffer := range layout.variadic {
			if buffer != nil {
				unsafe.Slice((*int64)(lengths), len(layout.variadic))[i] = int64(buffer.Len())
			}
		}
		addresses[count-1] = uintptr(lengths)
	}
	out.NumBuffers, out.Buffers = int64(count), uintptr(memory)
}

// pin returns the address of a buffer's memory, which stays where it is until the
// array is released; zero for a buffer that is not there or empty.
func (w *hostWriter) pin(buffer *arrowmemory.Buffer) uintptr {
	if buffer == nil || buffer.Len() == 0 {
		return 0
	}
	first := unsafe.SliceData(buffer.Bytes())
	w.owner.pinner.Pin(first)
	return uintptr(unsafe.Pointer(first))
}

// children writes the arrays below an array.
func (w *hostWriter) children(out *cabi.Array, count int, child func(i int) arrow.ArrayData) {
	memory := w.tree.Take(pointers(count))
	out.NumChildren, out.Children = int64(count), uintptr(memory)
	for i := range count {
		unsafe.Slice((*uintptr)(memory), count)[i] = w.array(child(i))
	}
}
