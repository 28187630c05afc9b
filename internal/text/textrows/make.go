package textrows

import (
	"embed"
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
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx*
var code embed.FS

var set = kernelset.Set{Files: code, Directory: "cuda"}

const (
	blockThreads = 256
	tileRows     = 1024
	// copiedBytes is the number of bytes that a thread copies.
	copiedBytes = 64
	// shortRow is the mean length of rows of which a thread copies only 16 bytes.
	shortRow = 20
	// textWords is the length of the argument of words. A place has 8 bits for the source.
	textWords, mostSources = 384, 256
)

// Part is the places and lengths of a part, 8 bytes for each row.
type Part struct{ Places, Lengths memory.Slice[uint8] }

// Rows describes a column of strings.
type Rows struct {
	Type     arrow.DataType
	Kind     Kind
	Parts    []Part
	Capacity int
	// Count is the number of rows on the device, or empty if there are Capacity rows. The
	// others are empty strings.
	Count memory.Slice[int64]
	// Valid is the bitmap of the rows that are not null, or empty if all are valid.
	Valid memory.Slice[uint8]
	// Sources are the memory that places name by number. Literals have the numbers after
	// those.
	Sources  []memory.Slice[uint8]
	Literals []string
	// Old and With are the literals of Replaced.
	Old, With int
}

// Make makes the column. It waits until the device knows the number of bytes.
func Make(call op.Call, r Rows) (*column.Column, error) {
	words, sources, err := r.words()
	if err != nil {
		return nil, err
	}
	width := uint64(4)
	if l, err := layout.Of(r.Type); err == nil && l.Width == 8 {
		width = 8
	}
	tiles := r.Capacity/tileRows + 1 // offsets are one more than rows
	scratch, temporary, err := call.Scratch(8*uint64(r.Capacity+1), 8*uint64(tiles+1))
	if err != nil {
		return nil, err
	}
	bitmap := uint64(0)
	if r.Valid.Len() > 0 {
		bitmap = op.BitmapBytes(r.Capacity)
	}
	block, buffers, err := call.Allocate(bitmap, uint64(r.Capacity+1)*width)
	if err != nil {
		return nil, errors.Join(err, scratch.Release())
	}
	parts := partsLayout{parts: uint32(len(r.Parts)), sources: sources}
	m := maker{call: call, rows: r, words: words, layout: parts.asArgument(), width: width,
		lengths: temporary[0], sums: temporary[1], valid: buffers[0], offsets: buffers[1], tiles: tiles}
	written, err := m.make()
	return release.OnError(written, err, block.Release(), scratch.Release())
}

// words writes the argument Text of the kernels, and returns the number of the first word
// of the sources.
func (r *Rows) words() (*kernels.Words, uint32, error) {
	w := new(kernels.Words)
	for _, part := range r.Parts {
		w.AddAddress(part.Places.Pointer(), part.Places.Block())
		w.AddAddress(part.Lengths.Pointer(), part.Lengths.Block())
	}
	first := len(w.Values)
	for _, source := range r.Sources {
		if source.Len() == 0 {
			w.Add(8) // bounds of no bytes; an end of 0 means a literal
			w.Add(8)
			continue
		}
		w.AddAddress(source.Pointer(), source.Block())
		w.AddAddress(source.Pointer()+device.Pointer(source.Len()), source.Block())
	}
	at := len(w.Values) + 2*len(r.Literals)
	for _, literal := range r.Literals {
		w.Add(uint64(at))
		w.Add(0)
		at += len(literal)/8 + 1
	}
	if at > textWords || len(r.Sources)+len(r.Literals) > mostSources {
		return nil, 0, fmt.Errorf("%d columns, %d literals and their bytes take %d words of arguments, a kernel has %d: make the string in parts: %w",
			len(r.Sources), len(r.Literals), at, textWords, device.ErrNotSupported)
	}
	for _, literal := range r.Literals {
		for i := range len(literal)/8 + 1 {
			var padded [8]byte
			copy(padded[:], literal[8*i:])
			w.Add(binary.LittleEndian.Uint64(padded[:]))
		}
	}
	for len(w.Values) < textWords {
		w.Add(0)
	}
	return w, uint32(first), nil
}

// literals is the argument Literals of the kernels that rewrite.
func (r *Rows) literals() any {
	place := func(literal int) (place, length uint64) {
		if literal >= len(r.Literals) {
			return 0, 0
		}
		return uint64(len(r.Sources)+literal) << 56, uint64(len(r.Literals[literal]))
	}
	var l literalsLayout
	l.old, l.oldLength = place(r.Old)
	l.with, l.withLength = place(r.With)
	return l.asArgument()
}

// maker is one call of Make.
type maker struct {
	call   op.Call
	rows   Rows
	words  *kernels.Words
	layout any
	width  uint64
	tiles  int
	// lengths and sums are scratch memory; valid and offsets belong to the result.
	lengths, sums, valid, offsets memory.Slice[uint8]
}

func (m *maker) launch(file, entry string, grid device.Dim3, arguments ...any) error {
	f, err := m.call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(m.call.Stream, grid, device.Dim3{X: blockThreads}, 0, arguments...)
}

func (m *maker) make() (written *column.Column, err error) {
	total, err := m.measure()
	if err != nil {
		return nil, err
	}
	data := column.Data{Type: m.rows.Type, Length: m.rows.Capacity, Manager: m.call.Manager, Buffers: []column.Bytes{m.valid, m.offsets, {}}}
	if m.valid.Len() > 0 {
		data.NullCount = column.UnknownNullCount
	}
	block, buffers, err := m.call.Allocate(total)
	if err != nil {
		return nil, err
	}
	data.Buffers[2] = buffers[0]
	if err = m.write(buffers[0], int(total)); err == nil {
		written, err = column.New(data)
	}
	return release.OnError(written, err, block.Release())
}

// measure computes the offsets and returns the number of bytes.
func (m *maker) measure() (uint64, error) {
	r := &m.rows
	grid := device.Dim3{X: uint32(m.tiles)}
	file, entry := "rows", "text_sizes"
	arguments := []any{m.lengths, m.sums, m.valid, r.Valid, r.Count, uint64(r.Capacity)}
	if r.Kind == Copied {
		arguments = append(arguments, m.layout, m.words)
	} else {
		file, entry = "rewrite", "text_measure"
		arguments = append(arguments, uint32(r.Kind), m.layout, r.literals(), m.words)
	}
	if err := m.launch(file, entry, grid, arguments...); err != nil {
		return 0, err
	}
	if err := m.launch("rows", "text_add_sums", device.Dim3{X: 1}, m.sums, uint64(m.tiles)); err != nil {
		return 0, err
	}
	if err := m.launch("rows", fmt.Sprint("text_offsets_", m.width), grid, m.offsets, m.lengths, m.sums, uint64(r.Capacity)); err != nil {
		return 0, err
	}
	last, err := m.sums.Slice(8*m.tiles, 8*m.tiles+8)
	if err != nil {
		return 0, err
	}
	var total [8]byte
	if err := last.Download(m.call.Context(), m.call.Stream, total[:]); err != nil {
		return 0, err
	}
	bytes := binary.NativeEndian.Uint64(total[:])
	if most := uint64(strategy.MaximumOffset(m.call.Context(), int(m.width))); bytes > most {
		return 0, fmt.Errorf("strings of %d bytes, the offsets of %v reach to %d: use a column with large offsets: %w", bytes, r.Type, most, memory.ErrOverflow)
	}
	return bytes, nil
}

// write writes the bytes of the rows.
func (m *maker) write(to memory.Slice[uint8], total int) error {
	r := &m.rows
	switch {
	case total == 0:
		return nil
	case r.Kind == Copied && len(r.Parts) == 1 && strings.Join(r.Literals, "") == "":
		// A block keeps the places of its rows in shared memory. It takes fewer bytes of short rows.
		each := uint32(copiedBytes / 16)
		if total/r.Capacity < shortRow {
			each = 1
		}
		return m.launch("rows", fmt.Sprint("text_copy_rows_", m.width), kernels.GridFor(total, blockThreads*16*int(each)),
			to, m.offsets, uint64(r.Capacity), uint64(total), each, m.layout, m.words)
	case r.Kind == Copied:
		return m.launch("rows", fmt.Sprint("text_copy_", m.width), kernels.GridFor(total, blockThreads*copiedBytes),
			to, m.offsets, uint64(r.Capacity), uint64(total), m.layout, m.words)
	}
	wide := uint32(0)
	if m.width == 8 {
		wide = 1
	}
	return m.launch("rewrite", "text_rewrite", kernels.GridFor(r.Capacity, blockThreads),
		to, m.offsets, wide, m.lengths, uint64(r.Capacity), uint32(r.Kind), m.layout, r.literals(), m.words)
}
