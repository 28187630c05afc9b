package arrowdev

import (
	"runtime"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// recordOwner is a record that a consumer holds.
type recordOwner struct {
	record arrow.Record
	pinner runtime.Pinner
}

// Ended releases the record.
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

// sizeOf returns the numbers of nodes and bytes that an array takes in a tree.
func sizeOf(data arrow.ArrayData) (nodes int, bytes uintptr) {
	host := hostLayoutOf(data)
	nodes = 1
	bytes = unsafe.Sizeof(cabi.Array{}) + pointers(len(host.buffers)+1+len(data.Children()))
	bytes += 8 // the target of empty buffers
	bytes += uintptr(8 * len(host.variadic))
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

// hostLayout describes the buffers of an array in the C data interface.
type hostLayout struct {
	buffers []*arrowmemory.Buffer
	// validity reports whether the first buffer may be missing.
	validity bool
	// views reports whether the lengths of the data buffers follow as the last
	// buffer.
	views    bool
	variadic []*arrowmemory.Buffer
	layout   layout.Layout
}

// hostLayoutOf maps arrow-go's buffers, which include an empty slot for the bitmap of
// types without one.
func hostLayoutOf(data arrow.ArrayData) hostLayout {
	l, err := layout.Of(data.DataType())
	if err != nil {
		return hostLayout{} // the schema's export has refused the type
	}
	all := data.Buffers()
	host := hostLayout{layout: l, validity: l.HasValidity(), views: l.Kind == layout.View}
	count := l.Buffers()
	if host.views {
		count = max(count, len(all))
	}
	host.buffers = make([]*arrowmemory.Buffer, count)
	if first := l.InArrow(0); first < len(all) {
		copy(host.buffers, all[first:])
	}
	if host.views {
		host.variadic = host.buffers[l.Buffers():]
	}
	return host
}

func hostDictionary(data arrow.ArrayData) arrow.ArrayData {
	if dictionary, ok := data.Dictionary().(*array.Data); !ok || dictionary == nil {
		return nil
	}
	return data.Dictionary()
}

// array writes an array and everything below it, and returns its address.
func (w *hostWriter) array(data arrow.ArrayData) uintptr {
	out := (*cabi.Array)(w.tree.Take(unsafe.Sizeof(cabi.Array{})))
	w.tree.OwnArray(out)
	host := hostLayoutOf(data)
	out.Length, out.Offset, out.NullCount = int64(data.Len()), int64(data.Offset()), int64(data.NullN())
	if out.Length == 0 {
		out.Offset = 0 // buffers need not reach to it
	}
	if !host.validity {
		out.NullCount = 0
		if host.layout.Kind == layout.Null {
			out.NullCount = out.Length
		}
	}
	w.buffers(out, host)
	children := data.Children()
	w.children(out, len(children), func(i int) arrow.ArrayData { return children[i] })
	if dictionary := hostDictionary(data); dictionary != nil {
		out.Dictionary = w.array(dictionary)
	}
	return uintptr(unsafe.Pointer(out))
}

func (w *hostWriter) buffers(out *cabi.Array, host hostLayout) {
	count := len(host.buffers)
	if host.views {
		count++
	}
	memory := w.tree.Take(pointers(len(host.buffers) + 1))
	empty := uintptr(w.tree.Take(8))
	addresses := unsafe.Slice((*uintptr)(memory), len(host.buffers)+1)
	for i, buffer := range host.buffers {
		if addresses[i] = w.pin(buffer); addresses[i] == 0 && (i > 0 || !host.validity) {
			addresses[i] = empty // the offsets of an empty array are one zero
		}
	}
	if host.views {
		lengths := w.tree.Take(uintptr(8 * len(host.variadic)))
		for i, buffer := range host.variadic {
			if buffer != nil {
				unsafe.Slice((*int64)(lengths), len(host.variadic))[i] = int64(buffer.Len())
			}
		}
		addresses[count-1] = uintptr(lengths)
	}
	out.NumBuffers, out.Buffers = int64(count), uintptr(memory)
}

// pin returns the address of a buffer's memory and pins it until the array is
// released. It returns zero for a missing or empty buffer.
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
