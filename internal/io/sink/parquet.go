package sink

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/sink/rowgroups"
	"github.com/gpuframe/gpuframe/memory"
)

// ParquetOptions describe a Parquet file.
type ParquetOptions struct {
	// Compression is "snappy", "zstd", "gzip", "brotli", "lz4_raw" or "none". Empty means snappy.
	Compression string
	// Level is the level of the compression: zstd has 1 to 22, gzip 1 to 9, brotli 1 to 11. Zero means
	// the usual one, which is 1 for zstd.
	Level int
	// GroupRows is the number of rows of a row group. Zero means 1,048,576, or fewer rows of 256 MiB.
	GroupRows int64
	// PageRows is the number of rows of a page, which readers leave out by the page index. Pages with
	// more than 1 MiB of values have fewer. Zero means 65,536.
	PageRows int64
	// NoDictionaries leaves out dictionaries.
	NoDictionaries bool
	// OldEncodings leaves out the encodings DELTA_BINARY_PACKED and DELTA_LENGTH_BYTE_ARRAY, which some
	// readers from before 2022 do not have.
	OldEncodings bool
	// Bloom has the names of columns with Bloom filters, by which readers leave out row groups without
	// a value. A column of lists, structs or maps has one for each of its leaves.
	Bloom []string
	// FieldIDs are the IDs of the columns, in their order. Nil means none.
	FieldIDs []FieldID
}

// defaultGroupRows is the number of rows of a row group: enough for a dictionary to be smaller than
// its indices, few enough for readers to decode several row groups in parallel.
const defaultGroupRows = 1 << 20

var codecs = map[string]parquetformat.Codec{
	"": parquetformat.Snappy, "snappy": parquetformat.Snappy, "zstd": parquetformat.Zstd,
	"gzip": parquetformat.Gzip, "brotli": parquetformat.Brotli, "lz4_raw": parquetformat.LZ4Raw, "none": parquetformat.Uncompressed,
}

// mostLevels are the greatest levels of codecs.
var mostLevels = map[string]int{"zstd": 22, "gzip": 9, "brotli": 11}

// check checks the options, and returns them with those that are not given.
func (o ParquetOptions) check(schema *arrow.Schema) (ParquetOptions, error) {
	if _, ok := codecs[o.Compression]; !ok {
		return o, fmt.Errorf("compression %q, expected snappy, zstd, gzip, brotli, lz4_raw or none: %w", o.Compression, ErrArgument)
	}
	if most := mostLevels[o.Compression]; o.Level < 0 || o.Level > most {
		return o, fmt.Errorf("level %d of compression %q, expected 0 to %d: %w", o.Level, o.Compression, most, ErrArgument)
	}
	if o.GroupRows < 0 || o.GroupRows > math.MaxInt32 {
		return o, fmt.Errorf("row groups of %d rows, expected 1 to 2,147,483,647: %w", o.GroupRows, ErrArgument)
	}
	if o.PageRows < 0 || o.PageRows > math.MaxInt32 {
		return o, fmt.Errorf("pages of %d rows, expected 1 to 2,147,483,647: %w", o.PageRows, ErrArgument)
	}
	for _, name := range o.Bloom {
		if !schema.HasField(name) {
			return o, fmt.Errorf("a Bloom filter of column %q, which the table does not have: %w", name, ErrArgument)
		}
	}
	return o, nil
}

// Parquet is the Parquet format, with statistics and the Arrow schema, so that types such
// as dictionaries are read as they were written. Seconds become milliseconds.
func Parquet(options ParquetOptions) Format { return parquetFormat{options} }

type parquetFormat struct{ ParquetOptions }

func (parquetFormat) name() string { return "parquet" }

func (f parquetFormat) begin(w io.Writer, schema *arrow.Schema) (encoder, error) {
	o, err := f.check(schema)
	if err != nil {
		return nil, err
	}
	if err := holdsTypes(schema, inParquet); err != nil {
		return nil, err
	}
	if err := holdsParts(schema); err != nil {
		return nil, err
	}
	if err := checkFieldIDs(schema, o.FieldIDs); err != nil {
		return nil, err
	}
	e := &parquetEncoder{groupRows: o.GroupRows, flat: isFlat(schema)}
	e.Writer, err = rowgroups.NewWriter(w, valueSchema(schema), rowgroups.Options{Codec: codecs[o.Compression], Level: o.Level, PageRows: int(o.PageRows),
		NoDictionaries: o.NoDictionaries, OldEncodings: o.OldEncodings, Bloom: o.Bloom, FieldIDs: o.FieldIDs})
	if err != nil {
		return nil, unsupported(err)
	}
	return e, nil
}

// isFlat reports whether a schema has columns, and no lists and structs.
func isFlat(schema *arrow.Schema) bool {
	return schema.NumFields() > 0 && !slices.ContainsFunc(schema.Fields(), func(field arrow.Field) bool { return arrow.IsNested(field.Type.ID()) })
}

// valueSchema returns the schema with the values' types in place of dictionaries, and integers
// in place of durations, which Parquet lacks. Its metadata has the original schema, which
// restores both when the file is read. Parquet makes its own dictionaries.
func valueSchema(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	for i, field := range fields {
		switch t := field.Type.(type) {
		case *arrow.DictionaryType:
			fields[i].Type = t.ValueType
		case *arrow.DurationType:
			fields[i].Type = arrow.PrimitiveTypes.Int64
		}
	}
	original := base64.StdEncoding.EncodeToString(schemaMessage(schema))
	entries := schema.Metadata()
	metadata := arrow.NewMetadata(append(slices.Clone(entries.Keys()), "ARROW:schema"), append(slices.Clone(entries.Values()), original))
	return arrow.NewSchema(fields, &metadata)
}

// schemaMessage returns a schema as a stream of Arrow's IPC without records, which is the form that readers of Parquet files know.
func schemaMessage(schema *arrow.Schema) []byte {
	var stream bytes.Buffer
	_ = ipc.NewWriter(&stream, ipc.WithSchema(schema)).Close() // it writes to memory
	return stream.Bytes()
}

// parquetEncoder collects records until they fill a row group.
type parquetEncoder struct {
	*rowgroups.Writer
	flat      bool  // tables are encoded on their device
	groupRows int64 // or 0
	pending   []arrow.Record
	rows      int64 // of pending
}

// mostGroupBytes limits the memory of a row group, unless the options have its rows.
var mostGroupBytes = int64(256 << 20)

// rowsOfGroup returns the number of rows of a row group, by the bytes of a number of rows.
func (e *parquetEncoder) rowsOfGroup(bytes, rows int64) int64 {
	if e.groupRows > 0 {
		return e.groupRows
	}
	return min(defaultGroupRows, max(1, mostGroupBytes/(bytes/max(rows, 1)+1)))
}

func (e *parquetEncoder) write(ctx context.Context, record arrow.Record) error {
	most := e.rowsOfGroup(rowgroups.RecordBytes(record), record.NumRows())
	for from := int64(0); from < record.NumRows(); {
		end := min(record.NumRows(), from+max(most-e.rows, 0))
		if end > from {
			e.pending = append(e.pending, record.NewSlice(from, end))
		}
		e.rows, from = e.rows+end-from, end
		if e.rows >= most {
			if err := e.group(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// leastDeviceRows is the number of rows from which a table is encoded on its device.
var leastDeviceRows = int64(1 << 16)

// writeTable encodes a table in row groups of nearly the same length. If its device has no memory for that,
// the host encodes them.
func (e *parquetEncoder) writeTable(ctx context.Context, table *buffer.Buffer) (bool, error) {
	if !e.flat {
		return false, nil
	}
	rows, err := table.NumRows(ctx)
	if err != nil || rows < leastDeviceRows {
		return false, err
	}
	if e.rows > 0 {
		if err := e.group(ctx); err != nil {
			return false, err
		}
	}
	bytes, err := rowgroups.ColumnBytes(ctx, columnsOf(table))
	if err != nil {
		return false, err
	}
	most := e.rowsOfGroup(bytes, rows)
	groups := int((rows + most - 1) / most)
	parts := make([]devicePart, groups)
	for i := range groups + rowgroups.GroupsAtOnce {
		if i < groups {
			p := &parts[i]
			p.begin, p.end = int64(i)*rows/int64(groups), int64(i+1)*rows/int64(groups)
			p.prepared.Go(func() { p.err = p.prepare(ctx, e.Writer, table) })
		}
		if i < rowgroups.GroupsAtOnce {
			continue
		}
		if p := &parts[i-rowgroups.GroupsAtOnce]; err == nil {
			err = p.write(ctx, e.Writer)
		} else {
			p.drop()
		}
	}
	return true, unsupported(err)
}

// devicePart is a part of a table that becomes a row group: encoded on the device, or a record if the
// device has no memory for that.
type devicePart struct {
	begin, end int64
	prepared   sync.WaitGroup
	group      *rowgroups.RowGroup
	record     arrow.Record
	err        error
}

func (p *devicePart) prepare(ctx context.Context, w *rowgroups.Writer, table *buffer.Buffer) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	part, err := table.Slice(p.begin, p.end-p.begin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, part.Release()) }()
	p.group, err = w.EncodeColumns(ctx, part.Manager(), columnsOf(part), int(p.end-p.begin))
	if errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory) {
		p.record, err = part.Record(ctx)
	}
	return err
}

func columnsOf(table *buffer.Buffer) []*column.Column {
	columns := make([]*column.Column, table.NumColumns())
	for i := range columns {
		columns[i] = table.Column(i)
	}
	return columns
}

// write writes the part as soon as it is prepared.
func (p *devicePart) write(ctx context.Context, w *rowgroups.Writer) error {
	p.prepared.Wait()
	switch {
	case p.err != nil:
		p.drop()
		return p.err
	case p.record != nil:
		defer p.record.Release()
		return w.Write(ctx, []arrow.Record{p.record})
	}
	return w.WriteGroup(ctx, p.group)
}

// drop releases the part.
func (p *devicePart) drop() {
	p.prepared.Wait()
	if p.group != nil {
		p.group.Release()
	}
	if p.record != nil {
		p.record.Release()
	}
}

// pendingRows implements groupedEncoder.
func (e *parquetEncoder) pendingRows() int64 { return e.rows }

// group writes the pending records as a row group.
func (e *parquetEncoder) group(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	defer e.release()
	return unsupported(e.Write(ctx, e.pending))
}

func (e *parquetEncoder) end(ctx context.Context) error {
	if e.rows > 0 {
		if err := e.group(ctx); err != nil {
			return err
		}
	}
	return unsupported(e.Close(ctx))
}

func (e *parquetEncoder) release() {
	release.Arrow(e.pending)
	e.pending, e.rows = nil, 0
}

func (e *parquetEncoder) drop() {
	e.release()
	e.Abort()
}

// unsupported adds the condition ErrUnsupported to an error about a type.
func unsupported(err error) error {
	if errors.Is(err, arrow.ErrNotImplemented) || errors.Is(err, arrow.ErrInvalid) || errors.Is(err, rowgroups.ErrValue) || errors.Is(err, parquetformat.ErrCodec) {
		return fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	return err
}
