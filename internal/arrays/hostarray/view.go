package hostarray

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// View returns the column as an array that shares its memory, with its offset, children
// and dictionary. The array holds the blocks; the caller releases it. Work enqueued on
// the memory must be done; op.Begin waits for it. View does not check the contents:
// offsets of strings that an import left unchecked may be invalid.
//
// # Errors
//
// The error wraps device.ErrNotSupported if the processor cannot access the memory,
// memory.ErrReleased for a released column, and column.ErrInvalid for one that arrow-go
// rejects.
func View(c *column.Column) (view arrow.Array, err error) {
	var v viewer
	data, err := v.view(c)
	if err != nil {
		return nil, fmt.Errorf("host array of %v: %w", c, err)
	}
	defer data.Release()
	defer func() {
		// arrow-go reports invalid parts by panics, and extension types run foreign
		// code.
		if problem := recover(); problem != nil {
			// Buffers that arrow-go made before the panic hold memory and are
			// unreachable.
			for _, h := range v.held {
				h.release()
			}
			view, err = nil, fmt.Errorf("host array of %v: %v: %w", c, problem, column.ErrInvalid)
		}
	}()
	view = array.MakeFromData(data)
	MakeDictionaries(view)
	return view, nil
}

// MakeDictionaries makes the dictionary of an array. arrow-go makes it on the first
// read, without a lock: two goroutines that read one array would race and lose a
// reference to its memory. Slices of an array do not share its dictionary, so call
// MakeDictionaries for a slice that several goroutines read.
func MakeDictionaries(values arrow.Array) {
	switch values := values.(type) {
	case array.ExtensionArray:
		MakeDictionaries(values.Storage())
	case *array.Dictionary:
		MakeDictionaries(values.Dictionary())
	}
}

// Views returns an array for each column; see [View].
func Views(columns []*column.Column) ([]arrow.Array, error) {
	arrays := make([]arrow.Array, len(columns))
	for i, c := range columns {
		var err error
		if arrays[i], err = View(c); err != nil {
			Release(arrays)
			return nil, err
		}
	}
	return arrays, nil
}

// Release releases the arrays that are not nil.
func Release(arrays []arrow.Array) {
	for _, each := range arrays {
		if each != nil {
			each.Release()
		}
	}
}

// viewer makes the data of one array.
type viewer struct{ held []*held }

func (v *viewer) view(c *column.Column) (*array.Data, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	parts := c.Data()
	var buffers []*arrowmemory.Buffer
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Release()
			}
		}
	}()
	l, err := layout.Of(parts.Type)
	if err != nil {
		return nil, err
	}
	buffers = make([]*arrowmemory.Buffer, l.InArrow(0), 3)
	for i, bytes := range parts.Buffers {
		b, err := v.hold(bytes)
		if err != nil {
			return nil, fmt.Errorf("buffer %d: %w", i, err)
		}
		buffers = append(buffers, b)
	}
	nulls := parts.NullCount
	if l.Kind == layout.Null {
		nulls = parts.Length
	}
	if parts.Dictionary != nil {
		dictionary, err := v.view(parts.Dictionary)
		if err != nil {
			return nil, fmt.Errorf("dictionary: %w", err)
		}
		defer dictionary.Release()
		return array.NewDataWithDictionary(parts.Type, parts.Length, buffers, nulls, parts.Offset, dictionary), nil
	}
	children := make([]arrow.ArrayData, 0, len(parts.Children))
	defer func() { release.Arrow(children) }()
	for i, child := range parts.Children {
		data, err := v.view(child)
		if err != nil {
			return nil, fmt.Errorf("child %d: %w", i, err)
		}
		children = append(children, data)
	}
	return array.NewData(parts.Type, parts.Length, buffers, children, nulls, parts.Offset), nil
}

// hold returns a buffer that holds the memory's block until it is released, or nil for
// absent memory.
func (v *viewer) hold(bytes column.Bytes) (*arrowmemory.Buffer, error) {
	block := bytes.Block()
	if block == nil {
		return nil, nil
	}
	if err := block.Retain(); err != nil {
		return nil, err
	}
	data, err := bytes.Host()
	if err != nil {
		return nil, errors.Join(err, block.Release())
	}
	h := &held{block: block}
	v.held = append(v.held, h)
	return arrowmemory.NewBufferWithAllocator(data, h), nil
}

// held is an allocator for one buffer, which calls only Free.
type held struct {
	block *memory.Block
	done  atomic.Bool
}

// Free is called when the last reference to the buffer is released.
func (h *held) Free([]byte) { h.release() }

// release releases the reference, once. It cannot fail, because each buffer holds one
// reference.
func (h *held) release() {
	if !h.done.Swap(true) {
		_ = h.block.Release()
	}
}

// Allocate and Reallocate return ordinary Go memory: arrow-go does not call them on a
// buffer that is not mutable.
func (*held) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate copies to new memory: see Allocate.
func (*held) Reallocate(size int, old []byte) []byte {
	grown := make([]byte, size)
	copy(grown, old)
	return grown
}
