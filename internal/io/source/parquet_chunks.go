package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/memory"
)

// A GPU decodes the column chunks that package chunks knows: the host reads their bytes into pinned
// memory, and records have arrays of chunkType in the place of values. The loader copies the bytes
// of a table together, and decodes them there. It decodes them on the host if memory is short.

// chunksOnDevice is false if the host decodes all column chunks.
var chunksOnDevice = true // tests change it

var (
	// deviceRows and deviceBytes are the number of rows of a table that a GPU decodes, if a request does
	// not give one, and the length of its column chunks from which on no further rows are added. A page
	// takes the same time whether a hundred or a thousand are decoded together, and a file has one
	// or two for 10⁵ rows: many rows keep all processors busy. The next ones are read meanwhile.
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

// chunkType is the type of an array of rows of one column chunk. Its first buffer has all bytes of
// the chunk, and the offset of the array is the first row.
type chunkType struct {
	arrow.ExtensionBase
	about  pages.Flat
	plan   pages.Plan
	source *parquetFiles
	group  rowGroup
}

// chunkArray is an array of chunkType. It has no values.
type chunkArray struct{ array.ExtensionArrayBase }

// fail is an error about the column chunk.
func (t *chunkType) fail(field arrow.Field, err error) error {
	return t.source.fail(t.group.file, t.group.index, damaged(fmt.Errorf("column %q of %v: %w", field.Name, field.Type, err)))
}

// ArrayType implements [arrow.ExtensionType].
func (*chunkType) ArrayType() reflect.Type { return reflect.TypeFor[chunkArray]() }

// ExtensionName implements [arrow.ExtensionType].
func (*chunkType) ExtensionName() string { return "gpuframe.column_chunk" }

// ExtensionEquals implements [arrow.ExtensionType].
func (t *chunkType) ExtensionEquals(other arrow.ExtensionType) bool { return t == other }

// Serialize implements [arrow.ExtensionType]. Arrays of this type are written nowhere.
func (*chunkType) Serialize() string { return "" }

// Deserialize implements [arrow.ExtensionType].
func (*chunkType) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) {
	return nil, fmt.Errorf("column chunks are written nowhere: %w", ErrUnsupported)
}

// String implements [arrow.DataType].
func (t *chunkType) String() string { return "a column chunk of " + t.about.Type.String() }

// isChunk reports whether an array has rows of a column chunk.
func isChunk(t arrow.DataType) bool {
	_, ok := t.(*chunkType)
	return ok
}

// chunkOf returns the rows of an array of chunkType.
func chunkOf(a arrow.Array) chunks.Chunk {
	data := a.Data()
	t := a.DataType().(*chunkType)
	return chunks.Chunk{About: t.about, Plan: t.plan, Bytes: data.Buffers()[0].Bytes(), First: int64(data.Offset()), Rows: int64(data.Len())}
}

// columnChunk has the bytes of a column chunk that the device decodes.
type columnChunk struct {
	t     *chunkType
	bytes *arrowmemory.Buffer
}

// openChunk reads a column chunk, or returns nil if the host has to decode it.
func (d *groupDecoder) openChunk(i int) (c *columnChunk, err error) {
	about, ok := d.flat(i)
	if !d.device || !ok {
		return nil, nil
	}
	about.Type = d.schema.Field(i).Type // the device decodes dictionaries
	leaf := d.leaves[i][0]
	length := d.group.footer.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf].MetaData.GetTotalCompressedSize()
	bytes := uninitialized(d.allocator, int(length))
	defer func() {
		if c == nil {
			bytes.Release()
		}
	}()
	if err := readChunk(d.from, bytes.Bytes(), d.group.footer.startOf(d.group.index, leaf)); err != nil {
		return nil, err
	}
	plan, err := pages.NewPlan(bytes.Bytes(), about.Column)
	if err != nil || !chunks.Decodable(about, plan) {
		return nil, err
	}
	for n, page := range plan {
		if _, err := page.Body(bytes.Bytes()); err != nil {
			return nil, fmt.Errorf("page %d: %w", n, err)
		}
	}
	return &columnChunk{&chunkType{arrow.ExtensionBase{Storage: arrow.Null}, about, plan, d.source, d.group}, bytes}, nil
}

// uninitialized returns memory of an allocator, of which the caller writes every byte.
func uninitialized(mem arrowmemory.Allocator, length int) *arrowmemory.Buffer {
	if m, ok := mem.(interface{ AllocateUninitialized(int) []byte }); ok {
		return arrowmemory.NewBufferWithAllocator(m.AllocateUninitialized(length), mem)
	}
	return arrowmemory.NewBufferWithAllocator(mem.Allocate(length), mem)
}

// readChunk reads a column chunk.
func readChunk(from io.ReaderAt, to []byte, offset int64) error {
	n, err := from.ReadAt(to, offset)
	if n == len(to) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("the column chunk has %d bytes, the file %d of them: %w", len(to), n, ErrContents)
	}
	return err
}

// rows returns rows of the chunk as an array.
func (c *columnChunk) rows(first, rows int64) *arrow.Chunked {
	data := array.NewData(c.t, int(rows), []*arrowmemory.Buffer{c.bytes}, nil, 0, int(first))
	defer data.Release()
	values := array.MakeFromData(data)
	defer values.Release()
	return arrow.NewChunked(c.t, []arrow.Array{values})
}

// chunkLength is the length of the column chunks of a record, in proportion to its rows of them.
func chunkLength(record arrow.Record) (bytes int64) {
	for _, values := range record.Columns() {
		if !isChunk(values.DataType()) {
			continue
		}
		c := chunkOf(values)
		bytes += int64(float64(len(c.Bytes)) * float64(c.Rows) / float64(max(c.About.Values, 1)))
	}
	return bytes
}

// hasChunks reports whether records have column chunks, or texts.
func hasChunks(records []arrow.Record) bool {
	for _, record := range records {
		for _, f := range record.Schema().Fields() {
			if isChunk(f.Type) || isTextType(f.Type) {
				return true
			}
		}
	}
	return false
}

// chunkBatch is the bytes of the column chunks or of the texts of records, on the device.
type chunkBatch struct {
	schema *arrow.Schema
	places []int // of the columns
	// types are those of each column's chunks, for errors.
	types [][]*chunkType
	batch interface {
		Decode(ctx context.Context) ([]*column.Column, error)
		Bytes() uint64
		Release() error
	}
}

// copyChunks copies the bytes of all column chunks, or of the texts, of records to the device of a manager.
func copyChunks(ctx context.Context, m *memory.Manager, schema *arrow.Schema, records []arrow.Record, options chunks.Options) (*chunkBatch, error) {
	if _, text := textsOf(records[0]); text != nil {
		return copyTexts(ctx, m, records, delimited.Options{Tag: options.Tag, CopyStream: options.CopyStream})
	}
	b := &chunkBatch{schema: schema}
	var columns []chunks.Column
	for place := range schema.NumFields() {
		if !isChunk(records[0].Column(place).DataType()) {
			continue
		}
		column, types := chunks.Column{Type: schema.Field(place).Type}, []*chunkType(nil)
		for _, record := range records {
			t, next := record.Column(place).DataType().(*chunkType), chunkOf(record.Column(place))
			if last := len(types) - 1; last >= 0 && types[last] == t && column.Chunks[last].First+column.Chunks[last].Rows == next.First {
				column.Chunks[last].Rows += next.Rows
				continue
			}
			column.Chunks, types = append(column.Chunks, next), append(types, t)
		}
		columns, b.places, b.types = append(columns, column), append(b.places, place), append(b.types, types)
	}
	batch, err := chunks.Copy(ctx, m, columns, options)
	if err != nil {
		return nil, b.located(err)
	}
	b.batch = batch
	return b, nil
}

// located names the file and the column of damage.
func (b *chunkBatch) located(err error) error {
	if damage := (*chunks.Error)(nil); errors.As(err, &damage) {
		return b.types[damage.Column][damage.Chunk].fail(b.schema.Field(b.places[damage.Column]), fmt.Errorf("page %d: %w", damage.Page, damage.Err))
	}
	return err
}

// decode decodes the columns and puts them into a list.
func (b *chunkBatch) decode(ctx context.Context, to []*column.Column) error {
	decoded, err := b.batch.Decode(ctx)
	if err != nil {
		return b.located(err)
	}
	for i, place := range b.places {
		to[place] = decoded[i]
	}
	return nil
}

// release gives the memory of the bytes back. The batch may be nil.
func (b *chunkBatch) release() error {
	if b == nil {
		return nil
	}
	return b.batch.Release()
}

// bytes is the memory of the batch, which may be nil.
func (b *chunkBatch) bytes() uint64 {
	if b == nil {
		return 0
	}
	return b.batch.Bytes()
}

// withoutChunks decodes column chunks of records on the host, those of places for which decoded
// reports true. It takes the references to the records.
func withoutChunks(schema *arrow.Schema, records []arrow.Record, decoded func(place int) bool) (result []arrow.Record, err error) {
	defer releaseRecords(records)
	for _, record := range records {
		parts, err := withoutChunk(schema, record, decoded)
		if err != nil {
			releaseRecords(result)
			return nil, err
		}
		result = append(result, parts...)
	}
	return result, nil
}

// mixedChunks reports for each place whether some records have column chunks there and others have
// values.
func mixedChunks(records []arrow.Record) (places []bool, mixed bool) {
	places = make([]bool, records[0].NumCols())
	for i := range places {
		first := isChunk(records[0].Column(i).DataType())
		places[i] = slices.ContainsFunc(records, func(r arrow.Record) bool { return isChunk(r.Column(i).DataType()) != first })
		mixed = mixed || places[i]
	}
	return places, mixed
}

// withoutChunk decodes column chunks of one record. It returns several records if one cannot have
// the values.
func withoutChunk(schema *arrow.Schema, record arrow.Record, decoded func(place int) bool) (records []arrow.Record, err error) {
	fields := record.Schema().Fields()
	var columns []arrow.Column
	defer func() {
		for i := range columns {
			columns[i].Release()
		}
	}()
	for i, field := range fields {
		chunk := arrow.NewChunked(field.Type, []arrow.Array{record.Column(i)})
		if isChunk(field.Type) && decoded(i) {
			chunk.Release()
			fields[i].Type = schema.Field(i).Type
			if chunk, err = hostChunk(chunkOf(record.Column(i)), arrowmemory.DefaultAllocator); err != nil {
				return nil, field.Type.(*chunkType).fail(schema.Field(i), err)
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

// hostChunk decodes rows of a column chunk on the host.
func hostChunk(c chunks.Chunk, allocator arrowmemory.Allocator) (*arrow.Chunked, error) {
	d, err := pages.NewDecoder(c.Bytes, c.About, allocator)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var arrays []arrow.Array
	defer func() {
		for _, each := range arrays {
			each.Release()
		}
	}()
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
