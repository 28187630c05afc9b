package chunks

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// The lengths of strings are known when the pages are decoded: their memory is allocated then, and they are written in
// a second round.

// stringPage is Strings of strings.cu.
type stringPage struct {
	offsets, bytes   place
	base             uint64
	page, last, wide uint32
	_                uint32
}

// writtenStrings are the strings of a column or of its dictionary.
type writtenStrings struct {
	offsets, bytes memory.Slice[uint8]
	rows, width    uint64        // width is that of an offset
	block          *memory.Block // of all columns
}

// stringColumns are those of each column.
type stringColumns []writtenStrings

// release gives up the memory, which columns hold.
func (s stringColumns) release() error {
	for _, each := range s {
		if each.block != nil {
			return each.block.Release()
		}
	}
	return nil
}

// column makes a dictionary.
func (s writtenStrings) column(t arrow.DataType, m *memory.Manager) (*column.Column, error) {
	if s.rows == 0 {
		return emptyColumn(m, t)
	}
	return column.New(column.Data{Type: t, Length: int(s.rows), Manager: m, Buffers: []column.Bytes{{}, s.offsets, s.bytes}})
}

// stringPages are the pages that have the strings of a column or of its dictionary.
func (t *target) stringPages() (numbers []uint32, rows uint64) {
	switch {
	case t.strings == nil || t.length == 0:
		return nil, 0
	case t.strings == t.dataType:
		return t.pages, t.rows
	}
	return t.dictionaries, t.entries
}

// offsetBytes is the width of an offset of strings of a type.
func offsetBytes(t arrow.DataType) uint64 {
	if t != nil && (t.ID() == arrow.LARGE_STRING || t.ID() == arrow.LARGE_BINARY) {
		return 8
	}
	return 4
}

// writeStrings allocates the strings of all columns and enqueues the kernels that write them.
func (b *Batch) writeStrings(call *op.Call, outcomes []outcome) (columns stringColumns, err error) {
	columns = make(stringColumns, len(b.targets))
	sizes := make([]uint64, 0, 2*len(b.targets))
	for i := range b.targets {
		numbers, rows := b.targets[i].stringPages()
		offsets, bytes := uint64(0), uint64(0)
		for _, number := range numbers {
			bytes += outcomes[number].bytes
		}
		width := offsetBytes(b.targets[i].strings)
		if bytes > uint64(strategy.MaximumOffset(call.Context(), int(width))) {
			return nil, fmt.Errorf("column %d: %d bytes: %w", b.targets[i].column, bytes, ErrLong)
		}
		if columns[i].rows = rows; rows > 0 {
			offsets = width * (rows + 1)
		}
		columns[i].width = width
		sizes = append(sizes, offsets, bytes)
	}
	block, slices, err := call.Allocate(sizes...)
	if err != nil || block == nil {
		return columns, err
	}
	w := stringWriter{batch: b, outcomes: outcomes}
	for i := range b.targets {
		columns[i].block, columns[i].offsets, columns[i].bytes = block, slices[2*i], slices[2*i+1]
		numbers, _ := b.targets[i].stringPages()
		w.add(numbers, columns[i])
	}
	if err := w.write(call); err != nil {
		return nil, errors.Join(err, block.Release())
	}
	return columns, block.RecordUse(call.Stream)
}

// stringWriter lists the pages with strings, and tiles of their rows and bytes.
type stringWriter struct {
	batch      *Batch
	outcomes   []outcome
	pages      []stringPage
	rows, data []tile
}

// byteTile is the number of bytes of a tile: see strings.cu.
const byteTile = 16384

// add adds the pages of a column.
func (w *stringWriter) add(numbers []uint32, to writtenStrings) {
	row, base := uint64(0), uint64(0)
	for _, number := range numbers {
		p, bytes := &w.batch.pages[number], w.outcomes[number].bytes
		target := stringPage{offsets: place(uint64(to.offsets.Pointer()) + to.width*row), base: base, page: number, wide: uint32(to.width / 8)}
		if bytes > 0 {
			target.bytes = place(uint64(to.bytes.Pointer()) + base)
		}
		if row+uint64(p.rows) == to.rows {
			target.last = 1
		}
		index := uint32(len(w.pages))
		w.pages = append(w.pages, target)
		p.eachTile(func(first uint32) { w.rows = append(w.rows, tile{index, first}) })
		if bytes > 0 {
			for first := uint64(0); first < bytes+uint64(target.bytes)%16; first += byteTile {
				w.data = append(w.data, tile{index, uint32(first)})
			}
		}
		row, base = row+uint64(p.rows), base+bytes
	}
}

// write copies the lists to the device and enqueues the kernels.
func (w *stringWriter) write(call *op.Call) (err error) {
	lists := [][]byte{address.BytesOf(w.pages), address.BytesOf(w.rows), address.BytesOf(w.data)}
	block, slices, err := call.Scratch(uint64(len(lists[0])), uint64(len(lists[1])), uint64(len(lists[2])))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	var uploads memory.Batch
	for i, list := range lists {
		if err := memory.AddUpload(&uploads, slices[i], list); err != nil {
			return err
		}
	}
	if err := uploads.Run(call.Context(), call.Stream); err != nil {
		return err
	}
	for i, l := range []launch{
		{file: "strings", entry: "write_offsets", threads: 128, blocks: len(w.rows)},
		{file: "strings", entry: "write_bytes", threads: 256, blocks: len(w.data)},
	} {
		if l.blocks == 0 {
			continue
		}
		if err := w.batch.kernel(call, l, slices[i+1], slices[0]); err != nil {
			return err
		}
	}
	return w.batch.recordUse(call)
}
