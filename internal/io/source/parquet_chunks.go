package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/memory"
)

// A GPU decodes the column chunks that package chunks knows: the host reads their bytes into pinned
// memory as raw columns.

// chunksOnDevice is false if the host decodes all column chunks.
var chunksOnDevice = true // tests change it

var (
	// deviceRows and deviceBytes are the number of rows of a table that a GPU decodes, if a request does
	// not give one, and the length of its raw columns, with their weight, from which on no further rows are
	// added. A page takes the same time whether a hundred or a thousand are decoded together, and a file has
	// one or two for 10⁵ rows: many rows keep all processors busy. The next ones are read and copied meanwhile.
	deviceRows  int64 = 32 << 20
	deviceBytes int64 = 768 << 20 // tests change it
)

// deviceShare is the part, as a divisor, of the rows that memory may hold.
const deviceShare = 8

// batchRows is the number of rows of a table, if a request does not give one.
func batchRows(onDevice bool, request Request) int64 {
	if !onDevice {
		return defaultRows
	}
	if request.MostRows == 0 {
		return deviceRows
	}
	return min(deviceRows, max(defaultRows, request.MostRows/deviceShare))
}

// decodesChunks reports whether the device of a manager decodes column chunks.
func decodesChunks(m *memory.Manager) bool {
	return chunksOnDevice && m != nil && m.Device().Kind() == device.CUDA
}

// rawChunk is a column chunk of rows, or the leaves of a column of lists or structs: the bytes are those that are read.
type rawChunk struct {
	about  pages.Flat
	plan   pages.Plan
	rows   int64
	nested *pages.Nested
	leaves []rawLeaf
	source *parquetFiles
	group  rowGroup
}

// String implements [rawColumn].
func (c *rawChunk) String() string { return "a column chunk of " + c.about.Type.String() }

func (*rawChunk) form() rawForm { return chunkForm{} }

// fail is an error about the column chunk.
func (c *rawChunk) fail(field arrow.Field, err error) error {
	return c.source.fail(c.group.file, c.group.index, damaged(fmt.Errorf("column %q of %v: %w", field.Name, field.Type, err)))
}

// chunkOf returns the rows of an array of a column chunk.
func chunkOf(a arrow.Array) chunks.Chunk {
	data := a.Data()
	c, _ := rawAs[*rawChunk](a.DataType())
	bytes, first, rows := data.Buffers()[0].Bytes(), int64(data.Offset()), int64(data.Len())
	if c.nested != nil {
		return chunks.Chunk{Leaves: c.leavesOf(bytes), All: c.rows, First: first, Rows: rows}
	}
	return chunks.Chunk{About: c.about, Plan: c.plan, Bytes: bytes, First: first, Rows: rows}
}

// columnChunk has the bytes of a column chunk that the device decodes, or of a part of it.
type columnChunk struct {
	t     *rawChunk
	part  *chunkPart
	bytes *arrowmemory.Buffer
}

// openChunk reads a column chunk, or returns nil if the host has to decode it.
func (d *groupDecoder) openChunk(i int) (c *columnChunk, err error) {
	about, ok := d.deviceFlat(i)
	if !ok {
		return nil, nil
	}
	about.Type = d.schema.Field(i).Type // the device decodes dictionaries
	part, bytes := d.parts[i], d.bytesOf[i]
	if part == nil {
		if part, err = d.chunkPart(d.leaves[i][0]); err != nil {
			return nil, err
		}
	}
	d.bytesOf[i] = nil
	read := bytes != nil
	if !read {
		bytes = uninitialized(d.allocator, int(part.length))
	}
	defer func() {
		if c == nil {
			bytes.Release()
		}
	}()
	if !read {
		if err := part.read(d.from, bytes.Bytes()); err != nil {
			return nil, err
		}
	}
	about.Values = part.rows
	plan, err := pages.NewPlan(bytes.Bytes(), about.Column)
	if err == nil {
		err = part.check(plan)
	}
	if err != nil || !chunks.Decodable(about, plan) {
		return nil, err
	}
	d.count(part)
	return &columnChunk{&rawChunk{about: about, plan: plan, rows: part.rows, source: d.source, group: d.group}, part, bytes}, nil
}

// uninitialized returns memory of an allocator, of which the caller writes every byte.
func uninitialized(mem arrowmemory.Allocator, length int) *arrowmemory.Buffer {
	if m, ok := mem.(interface{ AllocateUninitialized(int) []byte }); ok {
		return arrowmemory.NewBufferWithAllocator(m.AllocateUninitialized(length), mem)
	}
	return arrowmemory.NewBufferWithAllocator(mem.Allocate(length), mem)
}

// readPart reads a part of a file.
func readPart(from io.ReaderAt, to []byte, offset int64) error {
	n, err := from.ReadAt(to, offset)
	if n == len(to) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("the file has %d of %d bytes from byte %d on: %w", n, len(to), offset, ErrContents)
	}
	return err
}

// rows returns rows from one of the row group on as an array.
func (c *columnChunk) rows(first, rows int64) *arrow.Chunked {
	values := newRaw(c.t, c.bytes, c.part.place(first), rows)
	defer values.Release()
	return arrow.NewChunked(values.DataType(), []arrow.Array{values})
}

// chunkWeight makes 128 MiB of column chunks a table. Those of codecs that take long for a page, whether few or a
// thousand are decompressed together, count as they are.
const chunkWeight = 6

// weight is the weight of a byte of the column chunk.
func (c *rawChunk) weight() int64 {
	codec := c.about.Column.Codec
	if c.nested != nil {
		codec = c.leaves[0].about.Column.Codec
	}
	switch codec {
	case parquetformat.Zstd, parquetformat.Gzip:
		return 1
	}
	return chunkWeight
}

// chunkForm is the form of column chunks.
type chunkForm struct{}

// length implements [rawForm].
func (chunkForm) length(record arrow.Record, places []int) (bytes, weighted int64) {
	for _, place := range places {
		data := record.Column(place).Data()
		c, _ := rawAs[*rawChunk](data.DataType())
		length := int64(float64(data.Buffers()[0].Len()) * float64(data.Len()) / float64(max(c.rows, 1)))
		bytes, weighted = bytes+length, weighted+length*c.weight()
	}
	return bytes, weighted
}

// chunkBatch is the bytes of the column chunks of records, on the device.
type chunkBatch struct {
	schema *arrow.Schema
	places []int // of the columns
	// chunks are those of each column, for errors.
	chunks [][]*rawChunk
	batch  *chunks.Batch
}

// copy implements [rawForm].
func (chunkForm) copy(ctx context.Context, to rawTarget, records []arrow.Record, places []int) (rawBatch, error) {
	b := &chunkBatch{schema: to.schema, places: places, chunks: make([][]*rawChunk, len(places))}
	columns := make([]chunks.Column, len(places))
	for i, place := range places {
		column := &columns[i]
		column.Type = to.schema.Field(place).Type
		for _, record := range records {
			t, _ := rawAs[*rawChunk](record.Column(place).DataType())
			column.Nested = t.nested
			next := chunkOf(record.Column(place))
			if last := len(b.chunks[i]) - 1; last >= 0 && b.chunks[i][last] == t {
				column.Chunks[last].Extend(next.First, next.Rows)
				continue
			}
			column.Chunks, b.chunks[i] = append(column.Chunks, next), append(b.chunks[i], t)
		}
	}
	to.filter.encode(columns, places)
	var err error
	if b.batch, err = chunks.Copy(ctx, to.manager, columns, chunks.Options{Tag: to.tag, CopyStream: to.ahead, DecompressStream: to.decompress}); err != nil {
		return nil, b.located(err)
	}
	return b, nil
}

// located names the file and the column of damage.
func (b *chunkBatch) located(err error) error {
	if damage := (*chunks.Error)(nil); errors.As(err, &damage) {
		return b.chunks[damage.Column][damage.Chunk].fail(b.schema.Field(b.places[damage.Column]), b.chunks[damage.Column][damage.Chunk].damage(damage))
	}
	return err
}

// damage names the page, and the leaf of a column of lists or structs.
func (c *rawChunk) damage(damage *chunks.Error) error {
	if c.nested != nil {
		return fmt.Errorf("leaf %d, page %d: %w", damage.Leaf, damage.Page, damage.Err)
	}
	return fmt.Errorf("page %d: %w", damage.Page, damage.Err)
}

// decompressed implements [decompresser].
func (b *chunkBatch) decompressed() uint64 { return b.batch.Decompressed() }

// decode implements [rawBatch].
func (b *chunkBatch) decode(ctx context.Context) ([]*column.Column, error) {
	decoded, err := b.batch.Decode(ctx)
	return decoded, b.located(err)
}

// release implements [rawBatch].
func (b *chunkBatch) release() error { return b.batch.Release() }

// onHost implements [rawForm].
func (chunkForm) onHost(ctx context.Context, schema *arrow.Schema, record arrow.Record, places []int) (records []arrow.Record, err error) {
	fields := record.Schema().Fields()
	var columns []arrow.Column
	defer func() {
		for i := range columns {
			columns[i].Release()
		}
	}()
	for i, field := range fields {
		chunk := arrow.NewChunked(field.Type, []arrow.Array{record.Column(i)})
		if slices.Contains(places, i) {
			chunk.Release()
			fields[i].Type = schema.Field(i).Type
			c, _ := rawAs[*rawChunk](field.Type)
			if chunk, err = c.hostRows(record.Column(i)); err != nil {
				return nil, c.fail(schema.Field(i), err)
			}
		}
		columns = append(columns, *arrow.NewColumn(fields[i], chunk))
		chunk.Release()
	}
	table := array.NewTable(arrow.NewSchema(fields, nil), columns, record.NumRows())
	yieldTable(table, func(record arrow.Record) bool {
		records = append(records, record)
		return true
	})
	return records, nil
}

// hostRows decodes rows of a column chunk, or of a list or a struct, on the host.
func (c *rawChunk) hostRows(rows arrow.Array) (chunk *arrow.Chunked, err error) {
	defer recovered(&err)
	if c.nested == nil {
		return hostChunk(chunkOf(rows), boundedHost)
	}
	decoder, err := c.onHost(rows.Data().Buffers()[0].Bytes(), boundedHost)
	if err != nil {
		return nil, err
	}
	column := nestedColumn{decoder: decoder}
	defer column.release()
	first := int64(rows.Data().Offset())
	return column.between(c.nested.Type, first, first+int64(rows.Len()))
}

// hostChunk decodes rows of a column chunk on the host.
func hostChunk(c chunks.Chunk, allocator arrowmemory.Allocator) (*arrow.Chunked, error) {
	d, err := pages.NewDecoder(c.Bytes, c.About, allocator)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for at, end := int64(0), c.First+c.Rows; at < end; {
		next := end - at
		if at < c.First {
			next = c.First - at
		}
		values, err := d.Next(next)
		if err != nil {
			return nil, err
		}
		if at += int64(values.Len()); at <= c.First {
			values.Release()
		} else {
			arrays = append(arrays, values)
		}
	}
	return arrow.NewChunked(c.About.Type, arrays), nil
}
