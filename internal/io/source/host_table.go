package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/memory"
)

// HostTable is rows in host memory: packed columns, and arrays of types that are not packed. It is in pinned memory if
// it is for a GPU.
type HostTable struct {
	schema   *arrow.Schema
	segments []arrow.Record
	// joined are the arrays of columns that are not packed.
	joined    []arrow.Array
	rows      int64
	nullable  []bool
	allocator arrowmemory.Allocator
	pinned    *memory.PinnedAllocator

	mu sync.Mutex
	// references are those of the owner and of readers.
	references int
	released   bool
}

// HostOptions are those of [NewHostTable].
type HostOptions struct {
	// Plain is set if no column is packed.
	Plain bool
}

// segmentRows is the number of rows that are packed at a time: one copy to the device for each column of them.
var segmentRows int64 = 64 * packed.BlockRows // tests change it

// segmentBytes is the length of arrays from which on fewer rows are packed at a time.
const segmentBytes = 1 << 30

// RecordsOf yields the records of a reader. They are those of the reader.
func RecordsOf(reader array.RecordReader) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		for reader.Next() {
			if !yield(reader.Record(), nil) {
				return
			}
		}
		if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}

// NewHostTable packs records of a schema for a device. Views of text and bytes become text and bytes.
//
// # Ownership
//
// A record is used until the next one is yielded. The caller releases the table. Readers of the table's rows keep it until they
// are closed.
func NewHostTable(ctx context.Context, dev *device.Device, schema *arrow.Schema, list iter.Seq2[arrow.Record, error], options HostOptions) (*HostTable, error) {
	t := &HostTable{allocator: arrowmemory.DefaultAllocator, references: 1}
	if dev.Kind() == device.CUDA {
		t.pinned = memory.NewPinnedAllocator(dev, 0)
		t.allocator = t.pinned
	}
	if err := t.read(ctx, schema, list, options); err != nil {
		return nil, errors.Join(&Error{Source: "host table", RowGroup: -1, Err: err}, t.Release())
	}
	return t, nil
}

func (t *HostTable) read(ctx context.Context, schema *arrow.Schema, list iter.Seq2[arrow.Record, error], options HostOptions) (err error) {
	defer recovered(&err)
	if schema == nil {
		return fmt.Errorf("the schema is nil: %w", ErrArgument)
	}
	t.schema = plainSchema(schema)
	t.nullable = make([]bool, t.schema.NumFields())
	b, err := newHostTableBuilder(t, options)
	if err != nil {
		return err
	}
	defer func() { release.Arrow(b.pending) }()
	plain, number := projection{schema: t.schema}, 0
	for record, err := range list {
		if err != nil {
			return err
		}
		if err := otherColumns(record.Schema(), schema); err != nil {
			return fmt.Errorf("record %d has another schema than the table: %w", number, err)
		}
		if err := b.add(ctx, plain.record(record)); err != nil {
			return err
		}
		number++
	}
	if err := b.flush(ctx, b.rows); err != nil {
		return err
	}
	t.schema = nullableWhere(t.schema, func(place int) bool { return t.nullable[place] })
	return nil
}

// hostTableBuilder packs records.
type hostTableBuilder struct {
	table *HostTable
	// places are the columns that are packed, by packer.
	places []int
	packer *packed.Packer
	// pending are records that are not packed yet.
	pending     []arrow.Record
	rows, bytes int64
}

func newHostTableBuilder(t *HostTable, options HostOptions) (*hostTableBuilder, error) {
	b := &hostTableBuilder{table: t}
	var types []arrow.DataType
	for i, f := range t.schema.Fields() {
		if packed.Packable(f.Type) && !options.Plain {
			b.places, types = append(b.places, i), append(types, f.Type)
		}
	}
	var err error
	b.packer, err = packed.NewPacker(types, t.allocator)
	return b, err
}

// add takes over a record.
func (b *hostTableBuilder) add(ctx context.Context, record arrow.Record) error {
	b.pending, b.rows = append(b.pending, record), b.rows+record.NumRows()
	for _, values := range record.Columns() {
		b.bytes += valueBytes(values)
	}
	for b.rows >= segmentRows {
		if err := b.flush(ctx, segmentRows); err != nil {
			return err
		}
	}
	if whole := b.rows / packed.BlockRows * packed.BlockRows; b.bytes >= segmentBytes && whole > 0 {
		return b.flush(ctx, whole)
	}
	return nil
}

// valueBytes is about the length of an array that is not sliced.
func valueBytes(values arrow.Array) int64 { return dataBytes(values.Data()) }

func dataBytes(data arrow.ArrayData) (bytes int64) {
	for _, b := range data.Buffers() {
		if b != nil {
			bytes += int64(b.Len())
		}
	}
	for _, child := range data.Children() {
		bytes += dataBytes(child)
	}
	return bytes
}

// flush packs the first pending rows.
func (b *hostTableBuilder) flush(ctx context.Context, rows int64) error {
	if rows == 0 {
		return nil
	}
	first, rest := cut(b.pending, rows)
	release.Arrow(b.pending)
	defer release.Arrow(first)
	b.bytes = int64(float64(b.bytes) * float64(b.rows-rows) / float64(b.rows))
	b.pending, b.rows = rest, b.rows-rows
	columns := make([]arrow.Array, b.table.schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	if err := b.pack(ctx, first, columns); err != nil {
		return err
	}
	fields := b.table.schema.Fields()
	for i := range fields {
		if columns[i] == nil {
			columns[i] = b.join(columnOf(first, i), rows)
			b.table.nullable[i] = b.table.nullable[i] || slices.ContainsFunc(columnOf(first, i), func(a arrow.Array) bool { return a.NullN() > 0 })
		}
		fields[i].Type = columns[i].DataType()
	}
	b.table.segments = append(b.table.segments, array.NewRecord(arrow.NewSchema(fields, nil), columns, rows))
	b.table.rows += rows
	return nil
}

// join copies arrays of a column that is not packed to the memory of the table. Arrays that arrow-go cannot copy are
// retained.
func (b *hostTableBuilder) join(arrays []arrow.Array, rows int64) arrow.Array {
	c := &rawJoined{t: arrays[0].DataType()}
	for _, a := range arrays {
		copied, err := array.Concatenate([]arrow.Array{a}, b.table.allocator)
		if err != nil {
			copied = a
			copied.Retain()
		}
		c.arrays = append(c.arrays, copied)
	}
	b.table.joined = append(b.table.joined, c.arrays...)
	return newRaw(c, nil, 0, rows)
}

// pack packs the columns that are packed.
func (b *hostTableBuilder) pack(ctx context.Context, records []arrow.Record, to []arrow.Array) error {
	arrays := make([][]arrow.Array, len(b.places))
	for i, place := range b.places {
		arrays[i] = columnOf(records, place)
	}
	columns, blocks, err := b.packer.Pack(ctx, arrays)
	if err != nil {
		return err
	}
	defer packed.Release(blocks)
	for i, place := range b.places {
		to[place] = newRaw(&rawPacked{columns[i]}, blocks[i], 0, columns[i].Rows)
		for k := range columns[i].Blocks {
			b.table.nullable[place] = b.table.nullable[place] || columns[i].Blocks[k].Nulls > 0
		}
	}
	return nil
}

// columnOf returns the arrays of a column.
func columnOf(records []arrow.Record, place int) []arrow.Array {
	arrays := make([]arrow.Array, len(records))
	for i, record := range records {
		arrays[i] = record.Column(place)
	}
	return arrays
}

// Schema returns the schema of the rows.
func (t *HostTable) Schema() *arrow.Schema { return t.schema }

// Rows is the number of rows.
func (t *HostTable) Rows() int64 { return t.rows }

// ColumnBytes is the host memory of a column.
func (t *HostTable) ColumnBytes(place int) (bytes int64) {
	var dictionary *packed.Dictionary
	for _, segment := range t.segments {
		values := segment.Column(place)
		length, _ := formOf(values.DataType()).length(segment, []int{place})
		bytes += length
		if c, ok := rawAs[*rawPacked](values.DataType()); ok {
			dictionary = c.Dictionary
		}
	}
	return bytes + dictionary.Bytes()
}

// Release gives up the owner's reference. Further calls do nothing.
func (t *HostTable) Release() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released {
		return nil
	}
	t.released = true
	return t.drop()
}

// retain adds the reference of a reader.
func (t *HostTable) retain() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released {
		return fmt.Errorf("the host table is released: %w", memory.ErrReleased)
	}
	t.references++
	return nil
}

// close gives up the reference of a reader.
func (t *HostTable) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.drop()
}

func (t *HostTable) drop() error {
	if t.references--; t.references > 0 {
		return nil
	}
	release.Arrow(t.segments)
	release.Arrow(t.joined)
	t.segments, t.joined = nil, nil
	if t.pinned == nil {
		return nil
	}
	return t.pinned.Close()
}
