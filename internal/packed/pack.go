package packed

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Packer packs the columns of a table, some rows after others. It is not safe for concurrent use.
type Packer struct {
	types        []arrow.DataType
	kinds        []kind
	dictionaries []*dictionaryBuilder
	allocator    arrowmemory.Allocator
}

// NewPacker returns a packer of columns of types. The allocator is for the blocks. An error wraps [ErrType].
func NewPacker(types []arrow.DataType, allocator arrowmemory.Allocator) (*Packer, error) {
	p := &Packer{types: types, allocator: allocator, kinds: make([]kind, len(types)), dictionaries: make([]*dictionaryBuilder, len(types))}
	for i, t := range types {
		k, err := checkType(t)
		if err != nil {
			return nil, fmt.Errorf("packed: column %d: %w", i, err)
		}
		if p.kinds[i] = k; k.isText() {
			p.dictionaries[i] = newDictionaryBuilder()
		}
	}
	return p, nil
}

// Pack packs further rows: the arrays of each column, which have the same number of rows together. All calls but the
// last one have a multiple of [BlockRows] rows. The dictionary of a column has those of earlier calls too.
//
// # Ownership
//
// The caller releases the memory of the blocks.
//
// # Errors
//
// The error of the context, and one that wraps [ErrLong] for strings of more than 2 GiB in a block.
func (p *Packer) Pack(ctx context.Context, arrays [][]arrow.Array) (columns []Column, memory []*arrowmemory.Buffer, err error) {
	if len(arrays) != len(p.kinds) {
		return nil, nil, fmt.Errorf("packed: %d columns, expected %d: %w", len(arrays), len(p.kinds), device.ErrInvalidValue)
	}
	list := make([]*packing, len(arrays))
	for i := range arrays {
		list[i] = &packing{rowReader: newRowReader(p.kinds[i], p.types[i], arrays[i]), dictionary: p.dictionaries[i]}
		n := tileCount(list[i].rows())
		list[i].blocks = make([]packedBlock, (n+BlockRows/TileRows-1)/(BlockRows/TileRows))
	}
	if err := p.encode(ctx, list); err != nil {
		return nil, nil, fmt.Errorf("packed: %w", err)
	}
	err = eachBlock(ctx, list, func(c *packing, block int) error { return c.pack(block) })
	if err != nil {
		return nil, nil, fmt.Errorf("packed: %w", err)
	}
	columns, memory = make([]Column, len(list)), make([]*arrowmemory.Buffer, len(list))
	var writers sync.WaitGroup
	for i, c := range list {
		writers.Go(func() { columns[i], memory[i] = c.column(p.allocator) }) // pinning takes a while
	}
	writers.Wait()
	for i, d := range p.dictionaries {
		columns[i].Type = p.types[i]
		if d != nil {
			columns[i].Dictionary = d.dictionary()
		}
	}
	return columns, memory, nil
}

// encode numbers the strings of blocks.
func (p *Packer) encode(ctx context.Context, list []*packing) error {
	err := eachBlock(ctx, list, func(c *packing, block int) error {
		if c.kind.isText() {
			first, rows := c.blockRows(block)
			c.blocks[block].codes = codesOf(c.rowReader, first, rows)
		}
		return nil
	})
	for i, c := range list {
		for block := range c.blocks {
			if codes := c.blocks[block].codes; codes != nil && !p.dictionaries[i].add(codes) {
				c.blocks[block].codes = nil
			}
		}
	}
	return err
}

// packing is a column that is packed.
type packing struct {
	*rowReader
	blocks []packedBlock
	// dictionary is that of strings, or nil.
	dictionary *dictionaryBuilder
}

// packedBlock is a block without its bytes.
type packedBlock struct {
	Block
	codes *blockCodes
	tiles []tile
	words []uint64
	text  []byte
}

// blockRows returns the rows of a block.
func (c *packing) blockRows(block int) (first, rows int) {
	first = block * BlockRows
	return first, min(BlockRows, c.rows()-first)
}

// eachBlock calls f for each block of each column, on all processors.
func eachBlock(ctx context.Context, list []*packing, f func(c *packing, block int) error) error {
	type task struct {
		column *packing
		block  int
	}
	var tasks []task
	for _, c := range list {
		for block := range c.blocks {
			tasks = append(tasks, task{c, block})
		}
	}
	return eachTask(ctx, len(tasks), func(i int) error {
		return recovered(func() error { return f(tasks[i].column, tasks[i].block) })
	})
}

// eachTask calls f for each of the tasks, on all processors. It returns the error of the first task with one.
func eachTask(ctx context.Context, tasks int, f func(task int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	var workers sync.WaitGroup
	failures := make([]error, tasks)
	for range min(runtime.GOMAXPROCS(0), tasks) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < tasks && !failed.Load(); i = int(next.Add(1)) - 1 {
				if failures[i] = cancel.Error(ctx); failures[i] == nil {
					failures[i] = f(i)
				}
				if failures[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	workers.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// recovered turns a panic of reading an array with invalid contents into an error.
func recovered(f func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("an array cannot be read: %v: %w", reason, device.ErrInvalidValue)
		}
	}()
	return f()
}

// pack packs a block.
func (c *packing) pack(block int) error {
	first, rows := c.blockRows(block)
	b := &c.blocks[block]
	b.Rows, b.Bounded = rows, hasBounds(c.kind)
	w := blockWriter{packing: c, block: b}
	for at := 0; at < rows; at += TileRows {
		if err := w.tile(first+at, at, min(TileRows, rows-at)); err != nil {
			return err
		}
	}
	b.words, b.Coded, b.codes = w.words, b.codes != nil, nil
	b.Bounded = b.Bounded && w.bounds
	return nil
}

// column puts the bytes of all blocks into memory of an allocator.
func (c *packing) column(allocator arrowmemory.Allocator) (column Column, memory *arrowmemory.Buffer) {
	total := 0
	for i := range c.blocks {
		total += c.blocks[i].bytes()
	}
	memory = arrowmemory.NewBufferWithAllocator(uninitialized(allocator, total), allocator)
	rest := memory.Buf()
	for i := range c.blocks {
		b := &c.blocks[i]
		n := b.bytes()
		b.write(rest[:n])
		rest = rest[n:]
		column.Rows += int64(b.Rows)
		column.Blocks = append(column.Blocks, b.Block)
	}
	return column, memory
}

// uninitialized returns memory of which the caller writes every byte.
func uninitialized(allocator arrowmemory.Allocator, length int) []byte {
	if a, ok := allocator.(interface{ AllocateUninitialized(int) []byte }); ok {
		return a.AllocateUninitialized(length)
	}
	return allocator.Allocate(length)
}

// bytes is the length of the block, a multiple of 8.
func (b *packedBlock) bytes() int {
	return len(b.tiles)*int(tileBytes) + 8*len(b.words) + (len(b.text)+7)/8*8 + padding
}

// write writes the bytes of the block. The strings are at its end.
func (b *packedBlock) write(to []byte) {
	header := len(b.tiles) * int(tileBytes)
	for i := range b.tiles {
		t := &b.tiles[i]
		t.data += uint32(header)
		if t.validity != none {
			t.validity += uint32(header)
		}
	}
	copy(to, address.BytesOf(b.tiles))
	clear(to[header+copy(to[header:], address.BytesOf(b.words)):])
	b.Bytes = to
	if !b.Coded {
		copy(to[b.strings():], b.text)
	}
	b.tiles, b.words, b.text = nil, nil, nil
}

// blockWriter writes the tiles of a block.
type blockWriter struct {
	tileWriter
	*packing
	block  *packedBlock
	values [TileRows]int64
	floats [TileRows]int64
	valid  [runWords]uint64
	// bounds is set if the block has a value within its bounds.
	bounds bool
}

// tile packs a tile: rows from row first of the column, which is row at of the block.
func (w *blockWriter) tile(first, at, rows int) error {
	nulls := w.validity(first, rows, w.valid[:])
	w.block.Nulls += nulls
	values := w.values[:rows]
	before := len(w.block.text)
	switch {
	case !w.kind.isText():
		if !w.rowReader.values(first, rows, values) && w.isWide(first, rows) {
			w.wide(first, rows, nulls)
			return nil
		}
	case w.block.codes != nil:
		for i, code := range w.block.codes.codes[at : at+rows] {
			values[i] = int64(code)
		}
		before = int(w.block.Text)
		w.block.Text += uint32(min(w.codedLength(values), math.MaxInt32+1))
	default:
		i := 0
		w.eachText(first, rows, func(text string, _ bool) bool {
			values[i] = int64(len(text))
			w.block.text = append(w.block.text, text...)
			i++
			return true
		})
		w.block.Text = uint32(min(uint64(len(w.block.text)), math.MaxInt32+1))
	}
	if w.block.Text > math.MaxInt32 {
		return fmt.Errorf("strings of more than %d bytes in %d rows: %w", math.MaxInt32, w.block.Rows, ErrLong)
	}
	known := true
	if nulls > 0 && (!w.kind.isText() || w.block.codes != nil) {
		known = spread(values, w.valid[:])
	}
	t := w.numbers(values, known)
	t.text = uint32(before)
	w.add(t, nulls)
	return nil
}

// numbers packs the values of a tile. known is false if all are null.
func (w *blockWriter) numbers(values []int64, known bool) (t tile) {
	exponent := uint8(asBits)
	if w.kind == floats4 || w.kind == floats8 {
		w.widenFloats(values, known)
		if e, ok := w.kind.decimalCodes(values, w.floats[:]); ok {
			values, exponent = w.floats[:len(values)], e
		}
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if known && w.kind != floats4 && w.kind != floats8 {
		w.widenBounds(low, high)
	}
	t = w.write(values, low, high)
	t.exponent = exponent
	return t
}

// widenBounds adds integers to the bounds of the block.
func (w *blockWriter) widenBounds(low, high int64) {
	b := w.block
	if w.unsigned && low < 0 {
		if high >= 0 || w.bounds && b.Low >= 0 {
			b.Bounded = false // the order of the type is another one
		}
	} else if w.unsigned && w.bounds && b.Low < 0 {
		b.Bounded = false
	}
	if !w.bounds {
		b.Low, b.High, w.bounds = low, high, true
		return
	}
	b.Low, b.High = min(b.Low, low), max(b.High, high)
}

// widenFloats adds floats to the bounds of the block.
func (w *blockWriter) widenFloats(values []int64, known bool) {
	b := w.block
	for _, bits := range values {
		v := w.kind.floatOf(bits)
		if !known || v != v {
			continue
		}
		if !w.bounds {
			b.Low, b.High, w.bounds = int64(math.Float64bits(v)), int64(math.Float64bits(v)), true
			continue
		}
		if v < math.Float64frombits(uint64(b.Low)) {
			b.Low = int64(math.Float64bits(v))
		}
		if v > math.Float64frombits(uint64(b.High)) {
			b.High = int64(math.Float64bits(v))
		}
	}
}

// isWide reports whether a valid decimal of a tile has more than 64 bits. Others that are null do not count.
func (w *blockWriter) isWide(first, rows int) bool {
	wide := make([]decimal128.Num, rows)
	w.rowReader.wide(first, rows, wide)
	for i, v := range wide {
		if w.valid[i/64]>>(i%64)&1 != 0 && v.HighBits() != int64(v.LowBits())>>63 {
			return true
		}
	}
	return false
}

// wide packs decimals of more than 64 bits.
func (w *blockWriter) wide(first, rows, nulls int) {
	values := make([]decimal128.Num, rows)
	w.rowReader.wide(first, rows, values)
	spread(values, w.valid[:])
	t := tile{form: wide, factor: 1, exponent: asBits, validity: none, data: uint32(8 * len(w.words))}
	w.words = append(w.words, address.ValuesOf[uint64](address.BytesOf(values))...)
	w.block.Bounded = false
	w.add(t, nulls)
}

// add adds a tile to the block, with its bitmap if it has nulls.
func (w *blockWriter) add(t tile, nulls int) {
	if nulls > 0 {
		t.validity = uint32(8 * len(w.words))
		w.words = append(w.words, w.valid[:]...)
	}
	w.block.tiles = append(w.block.tiles, t)
}

// codedLength returns the length of the strings of the valid rows of a tile by their codes.
func (w *blockWriter) codedLength(codes []int64) (length uint64) {
	offsets := w.dictionary.offsets
	for i, code := range codes {
		if w.valid[i/64]>>(i%64)&1 != 0 {
			length += uint64(offsets[code+1] - offsets[code])
		}
	}
	return length
}
