package textrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// The strings of a column follow each other in its data. Functions that change each
// byte, or each occurrence of a literal, need no rows for that: a thread takes 16 bytes in
// the order of the memory, and the offsets follow from the number of occurrences before
// them. Rows that are null keep their bytes, changed like the others.

// FewestBytes is the size of the data from which on the functions of this file are worth
// their kernels.
const FewestBytes = 1 << 20

// Whole is a column of strings on a GPU, without its nulls.
type Whole struct {
	Type          arrow.DataType
	Offsets, Data memory.Slice[uint8]
	Rows          int
	// Count is the number of rows on the device, or empty if there are Rows rows.
	Count memory.Slice[int64]
	width int
}

// WholeOf returns the strings of the first rows of a column. It returns false for other
// columns, for dictionaries and for strings of a fixed width.
func WholeOf(c *column.Column, rows int, count memory.Slice[int64]) (w Whole, ok bool) {
	l, err := layout.Of(c.Type())
	if err != nil || rows == 0 || rows > c.Len() {
		return w, false
	}
	switch t := layout.Storage(c.Type()); t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		w = Whole{Type: t, Data: c.Buffer(2), Rows: rows, Count: count, width: l.Width}
		w.Offsets, err = c.Buffer(1).Slice(c.Offset()*l.Width, (c.Offset()+rows+1)*l.Width)
		return w, err == nil && w.Data.Len() > 0
	}
	return w, false
}

// Parts of the bytes that the kernels count.
const (
	wholeTile   = 1 << 15 // bytes that a tile of hits describes
	wholeGroups = 256     // of a tile
	wholeBlocks = 8192    // blocks of a kernel, at most
	// longestLiteral is Literal of whole.cu.
	longestLiteral = 32
)

// argument is Whole of whole.cu.
func (w *Whole) argument() any {
	l := wholeLayout{offsets: w.Offsets, data: w.Data, extent: uint64(w.Data.Len()), counted: w.Count, rows: uint64(w.Rows), width: uint32(w.width)}
	return l.asArgument()
}

func literalArgument(literal string) any {
	var words [longestLiteral]byte
	copy(words[:], literal)
	l := literalLayout{length: uint64(len(literal))}
	for i := range l.word {
		l.word[i] = binary.LittleEndian.Uint64(words[8*i:])
	}
	return l.asArgument()
}

func launchWhole(call *op.Call, entry string, grid device.Dim3, arguments ...any) error {
	f, err := call.Kernel(&set, "whole", entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, grid, device.Dim3{X: blockThreads}, 0, arguments...)
}

// gridOver is a grid of threads that take several items each.
func gridOver(items int) device.Dim3 {
	return device.Dim3{X: uint32(min((items+blockThreads-1)/blockThreads, wholeBlocks))}
}

// column makes a result. Its block has the offsets and the bytes.
func (w *Whole) column(call *op.Call, valid memory.Slice[uint8], buffers []memory.Slice[uint8]) (*column.Column, error) {
	data := column.Data{Type: w.Type, Length: w.Rows, Manager: call.Manager, Buffers: []column.Bytes{valid, buffers[0], buffers[1]}}
	if valid.Len() > 0 {
		data.NullCount = column.UnknownNullCount
	}
	return column.New(data)
}

// Case changes the case of the letters. It returns nil if there are characters beyond 127,
// which may have other lengths in the other case. It waits twice: for the bounds of the
// bytes, and for the bytes.
func (w *Whole) Case(call *op.Call, kind Kind, valid memory.Slice[uint8]) (changed *column.Column, err error) {
	scratch, words, err := call.Scratch(16, 4)
	if err != nil {
		return nil, err
	}
	defer func() { changed, err = release.OnError(changed, err, scratch.Release()) }()
	var bounds [16]byte
	if err = launchWhole(call, "whole_bounds", device.Dim3{X: 1}, words[0], w.argument()); err == nil {
		err = words[0].Download(call.Context(), call.Stream, bounds[:])
	}
	if err != nil {
		return nil, err
	}
	total := binary.NativeEndian.Uint64(bounds[8:]) - binary.NativeEndian.Uint64(bounds[:])
	block, buffers, err := call.Allocate(uint64(w.Rows+1)*uint64(w.width), total)
	if err != nil {
		return nil, err
	}
	defer func() { changed, err = release.OnError(changed, err, block.Release()) }()
	if err = launchWhole(call, "whole_offsets", gridOver(w.Rows+1), buffers[0], new(hits).argument(), w.argument(), int64(0)); err != nil {
		return nil, err
	}
	toUpper := uint32(0)
	if kind == Upper {
		toUpper = 1
	}
	var others [4]byte
	if total > 0 {
		err = words[1].Upload(call.Context(), call.Stream, others[:])
		if err == nil {
			err = launchWhole(call, "whole_case", gridOver(int(total+15)/16), buffers[1], words[1], w.argument(), toUpper)
		}
		if err == nil {
			err = words[1].Download(call.Context(), call.Stream, others[:])
		}
	}
	if err != nil || others != [4]byte{} {
		return nil, err
	}
	return w.column(call, valid, buffers)
}

// Replaces reports whether a literal can be replaced by another. Occurrences of the first
// may not overlap: no beginning of it is also an end.
func Replaces(old, with string) bool {
	if old == "" || len(old) > longestLiteral || len(with) > longestLiteral {
		return false
	}
	for n := 1; n < len(old); n++ {
		if strings.HasSuffix(old, old[:n]) {
			return false
		}
	}
	return true
}

// hits is where a literal occurs in the bytes of a column.
type hits struct {
	scratch             *memory.Block
	bits, groups, sums  memory.Slice[uint8]
	length              int
	total, count, bytes uint64 // the bytes of the strings, the hits, and the bytes of a result
}

// find finds a literal, and waits for the number of its occurrences.
func (w *Whole) find(call *op.Call, literal string, more int) (h *hits, err error) {
	tiles := (w.Data.Len()+15)/wholeTile + 1
	scratch, buffers, err := call.Scratch(uint64(tiles)*wholeTile/8, uint64(tiles)*wholeGroups*2, uint64(tiles+3)*8)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			h, err = nil, errors.Join(err, scratch.Release())
		}
	}()
	h = &hits{scratch: scratch, bits: buffers[0], groups: buffers[1], sums: buffers[2], length: len(literal)}
	err = launchWhole(call, "whole_find", gridOver(tiles*wholeTile/16), h.bits, w.argument(), literalArgument(literal))
	if err == nil && len(literal) > 1 {
		err = launchWhole(call, "whole_clear", gridOver(w.Rows), h.bits, w.argument(), uint64(len(literal)))
	}
	if err == nil {
		err = launchWhole(call, "whole_count", device.Dim3{X: uint32(tiles + 1)}, h.sums, h.groups, h.bits, uint64(tiles), w.argument())
	}
	if err == nil {
		f, kernelErr := call.Kernel(&set, "rows", "text_add_sums")
		if err = kernelErr; err == nil {
			err = f.Launch(call.Stream, device.Dim3{X: 1}, device.Dim3{X: blockThreads}, 0, h.sums, uint64(tiles))
		}
	}
	if err != nil {
		return nil, err
	}
	last, err := h.sums.Slice(8*tiles, 8*tiles+24)
	if err != nil {
		return nil, err
	}
	var words [24]byte
	if err = last.Download(call.Context(), call.Stream, words[:]); err != nil {
		return nil, err
	}
	h.count = binary.NativeEndian.Uint64(words[:])
	h.total = binary.NativeEndian.Uint64(words[16:]) - binary.NativeEndian.Uint64(words[8:])
	h.bytes = h.total + h.count*uint64(int64(more))
	if most := strategy.MaximumOffset(call.Context(), w.width); h.bytes > uint64(most) {
		return nil, fmt.Errorf("strings of %d bytes, the offsets of %v reach to %d: use a column with large offsets: %w", h.bytes, w.Type, most, memory.ErrOverflow)
	}
	return h, nil
}

// argument is Hits of whole.cu.
func (h *hits) argument() any {
	l := hitsLayout{sums: h.sums, groups: h.groups, bits: h.bits}
	return l.asArgument()
}

// write writes the bytes with a literal in place of the hits.
func (w *Whole) write(call *op.Call, h *hits, to memory.Slice[uint8], with string) error {
	if h.bytes == 0 {
		return nil
	}
	return launchWhole(call, "whole_replace", gridOver(int(h.total)/16+2), to, h.argument(), w.argument(), uint64(h.length), literalArgument(with))
}

// Replace replaces each occurrence of a literal by another: see [Replaces]. It waits for the
// number of bytes.
func (w *Whole) Replace(call *op.Call, old, with string, valid memory.Slice[uint8]) (replaced *column.Column, err error) {
	more := len(with) - len(old)
	h, err := w.find(call, old, more)
	if err != nil {
		return nil, err
	}
	defer func() { replaced, err = release.OnError(replaced, err, h.scratch.Release()) }()
	block, buffers, err := call.Allocate(uint64(w.Rows+1)*uint64(w.width), h.bytes)
	if err != nil {
		return nil, err
	}
	defer func() { replaced, err = release.OnError(replaced, err, block.Release()) }()
	err = launchWhole(call, "whole_offsets", gridOver(w.Rows+1), buffers[0], h.argument(), w.argument(), int64(more))
	if err == nil {
		err = w.write(call, h, buffers[1], with)
	}
	if err != nil {
		return nil, err
	}
	return w.column(call, valid, buffers)
}

// Split returns the lists of the parts between the occurrences of a separator: see
// [Replaces]. No row may be null, and the number of rows is known. It waits for the number of
// parts. The caller releases the column.
func (w *Whole) Split(call *op.Call, separator string) (lists *column.Column, err error) {
	h, err := w.find(call, separator, -len(separator))
	if err != nil {
		return nil, err
	}
	defer func() { lists, err = release.OnError(lists, err, h.scratch.Release()) }()
	count := uint64(w.Rows) + h.count
	if most := strategy.MaximumOffset(call.Context(), 4); count > uint64(most) {
		return nil, fmt.Errorf("%d elements, the offsets of %v reach to %d: use large lists: %w", count, arrow.ListOf(w.Type), most, memory.ErrOverflow)
	}
	block, buffers, err := call.Allocate(4*uint64(w.Rows+1), (count+1)*uint64(w.width), h.bytes)
	if err != nil {
		return nil, err
	}
	defer func() { lists, err = release.OnError(lists, err, block.Release()) }()
	err = launchWhole(call, "whole_parts", gridOver(w.Rows+1), buffers[1], buffers[0], h.argument(), w.argument(), uint64(len(separator)))
	if err == nil {
		err = w.write(call, h, buffers[2], "")
	}
	if err != nil {
		return nil, err
	}
	none := memory.Slice[uint8]{}
	parts, err := column.New(column.Data{Type: w.Type, Length: int(count), Manager: call.Manager, Buffers: []column.Bytes{none, buffers[1], buffers[2]}})
	if err != nil {
		return nil, err
	}
	lists, err = column.New(column.Data{Type: arrow.ListOf(w.Type), Length: w.Rows, Manager: call.Manager, Buffers: []column.Bytes{none, buffers[0]}, Children: []*column.Column{parts}})
	return release.OnError(lists, err, parts.Release())
}
