package source

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/source/parquetschema"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
)

// parquetFile is a Parquet file, opened when it is read.
type parquetFile struct {
	path   string
	values []*string // of the partitions
	open   opener
	// table is the source that lists the file as listed, or nil.
	table  *parquetFiles
	listed *TableFile

	mu     sync.Mutex
	cached *footer
}

func openReaderAt(r io.ReaderAt, size int64) opener {
	return func(context.Context, *Counters) (*opened, error) {
		return &opened{from: r, close: func() error { return nil }, version: version{size: size}}, nil
	}
}

// ReadAt marks errors of the reader, so that they are not taken for damage of the file.
func (o *opened) ReadAt(p []byte, offset int64) (int, error) {
	n, err := o.from.ReadAt(p, offset)
	return n, readError(err)
}

// readError adds the condition ErrRead to an error of a reader other than io.EOF.
func readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%w: %w", err, ErrRead)
}

// footer describes a Parquet file.
type footer struct {
	metadata *parquetformat.File
	schema   *arrow.Schema
	// fields are those of the file, which the schema may have in another way.
	fields []parquetschema.Field
	// leaves are the columns of the file's values by field of the schema.
	leaves [][]int
	// refused are the errors of fields with types that cannot be read.
	refused map[int]error
	// conversions are those of columns of a table, by their names there.
	conversions map[string]*conversion
	version

	mu sync.Mutex
	// ranges are those of columns in all row groups, for the columns that conditions had.
	ranges map[string][]prune.Range

	indices keptIndices

	partsOnce sync.Once
	// parts are the offsets of parts of the file, in order: see nextPart.
	parts []int64
}

// footer returns the footer of a file, read again if the file has changed.
func (f *parquetFile) footer(ctx context.Context) (*footer, error) {
	open, err := f.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	read, err := f.footerOf(open)
	return read, errors.Join(err, open.close())
}

func (f *parquetFile) footerOf(open *opened) (*footer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cached != nil && f.cached.equal(open.version) {
		return f.cached, nil
	}
	read, err := readFooter(open)
	if err != nil {
		return nil, damaged(err)
	}
	if f.table != nil {
		if err := f.listed.checkDeleted(read.firstRow(len(read.metadata.Groups))); err != nil {
			return nil, err
		}
		if err := f.adapt(read); err != nil {
			return nil, err
		}
	} else {
		f.cached = read
	}
	return f.cached, nil
}

// readFooter reads the footer of a file. Columns without a type in Arrow are refused alone.
func readFooter(open *opened) (*footer, error) {
	data, err := parquetformat.ReadTail(open, open.size)
	if err != nil {
		return nil, err
	}
	about, err := parquetformat.Read(data)
	if err != nil {
		return nil, err
	}
	about.Schema.Root.SplitLevels()
	refused := map[int]error{}
	for i, column := range about.Schema.Root.Children {
		if err := parquetschema.Check(column); err != nil {
			refused[i] = fmt.Errorf("its type in the file cannot be read: %w: %w", err, ErrUnsupported)
			column.Strip()
		}
	}
	original, err := arrowSchema(about)
	if err != nil {
		return nil, err
	}
	fields, err := parquetschema.Fields(about.Schema, original)
	if err != nil {
		return nil, err
	}
	schema := parquetschema.Schema(about.Schema, fields, original)
	f := &footer{metadata: about, schema: schema, fields: fields, refused: refused, leaves: make([][]int, schema.NumFields()), version: open.version}
	for leaf, column := range about.Schema.Columns {
		f.leaves[column.Field] = append(f.leaves[column.Field], leaf)
	}
	f.widenInstants()
	return f, f.check()
}

// widenInstants makes columns of timestamps of 96 bits nullable, because nanoseconds do not hold
// all of them. Spark writes microseconds: its columns have these, which hold all of its timestamps.
// Lists and structs have nanoseconds.
func (f *footer) widenInstants() {
	_, hasVersion := f.metadata.Value("org.apache.spark.version")
	_, hasRows := f.metadata.Value("org.apache.spark.sql.parquet.row.metadata")
	spark := hasVersion || hasRows
	fields := slices.Clone(f.schema.Fields())
	for i, leaves := range f.leaves {
		if !slices.ContainsFunc(leaves, f.isInstant) {
			continue
		}
		fields[i], _ = nullableThroughout(fields[i])
		if t, ok := fields[i].Type.(*arrow.TimestampType); ok && spark {
			fields[i].Type = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: t.TimeZone}
		}
	}
	metadata := f.schema.Metadata()
	f.schema = arrow.NewSchema(fields, &metadata)
}

// arrowSchema decodes the Arrow schema in a file's metadata, or returns nil without one.
func arrowSchema(m *parquetformat.File) (*arrow.Schema, error) {
	encoded, ok := m.Value("ARROW:schema")
	if !ok {
		return nil, nil
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "=")) // some writers leave out the padding
	if err != nil {
		return nil, err
	}
	reader, err := arrowipc.Stream(bytes.NewReader(data), arrowipc.Options{MostBuffer: 16*len(data) + 1<<20})
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	return reader.Schema(), nil
}

// check rejects metadata that would make a reader allocate memory for data that the
// file cannot have.
func (f *footer) check() error {
	for index, group := range f.metadata.Groups {
		for leaf := range group.Chunks {
			m := &group.Chunks[leaf]
			start, length := m.Start(), m.Compressed
			if start < 0 || length < 0 || start > f.size || length > f.size-start || m.Values < 0 {
				return fmt.Errorf("row group %d, column %d has %d values in %d bytes from %d on, the file %d bytes: %w", index, leaf, m.Values, length, start, f.size, ErrContents)
			}
		}
	}
	return nil
}

// about returns what the footer says of a column chunk.
func (f *footer) about(rowGroup, leaf int) *parquetformat.Chunk {
	return &f.metadata.Groups[rowGroup].Chunks[leaf]
}

// column returns the place of a column of values in the schema.
func (f *footer) column(leaf int) *parquetformat.Column { return &f.metadata.Schema.Columns[leaf] }

// startOf returns the place of the first page of a column chunk.
func (f *footer) startOf(rowGroup, leaf int) int64 { return f.about(rowGroup, leaf).Start() }

// chunk describes a column chunk, whose values are read as a type.
func (f *footer) chunk(rowGroup, leaf int, t arrow.DataType) pages.Flat {
	about, column := f.about(rowGroup, leaf), f.column(leaf)
	return pages.Flat{
		Column:   pages.Column{Codec: about.Codec, Values: about.Values, MaxDefinition: column.MaxDefinition, MaxRepetition: column.MaxRepetition},
		Physical: column.Physical, Width: column.Length, Type: t,
	}
}

// isInstant reports whether a column of the file has timestamps of 96 bits.
func (f *footer) isInstant(leaf int) bool {
	return f.column(leaf).Physical == parquetformat.Int96
}

// encoded reports whether a column chunk has values in one of the encodings, by its
// metadata.
func (f *footer) encoded(rowGroup, leaf int, encodings ...int) bool {
	return slices.ContainsFunc(f.about(rowGroup, leaf).Encodings, func(encoding int) bool { return slices.Contains(encodings, encoding) })
}

// match checks that the file has the columns of a schema, and no others.
func (f *footer) match(schema *arrow.Schema, partitions []partition) error {
	isPartition := map[string]bool{}
	for _, p := range partitions {
		isPartition[p.name] = true
	}
	for _, want := range schema.Fields() {
		if isPartition[want.Name] {
			continue
		}
		indices := f.schema.FieldIndices(want.Name)
		if len(indices) == 0 {
			return unknownColumn(want.Name, fieldNames(f.schema), buffer.ErrSchema)
		}
		if has := f.schema.Field(indices[0]).Type; !arrow.TypeEqual(has, want.Type) && f.refused[indices[0]] == nil {
			return fmt.Errorf("column %q is of type %v, in the first file of %v: %w", want.Name, has, want.Type, buffer.ErrSchema)
		}
	}
	for _, has := range f.schema.Fields() {
		if !isPartition[has.Name] && len(schema.FieldIndices(has.Name)) == 0 {
			return fmt.Errorf("column %q is not in the first file, which has %s: %w", has.Name, strings.Join(fieldNames(schema), ", "), buffer.ErrSchema)
		}
	}
	return nil
}

// readable returns the error of a column that is refused.
func (f *footer) readable(columns []string) error {
	for _, name := range columns {
		for _, place := range f.schema.FieldIndices(name) {
			if err := f.refused[place]; err != nil {
				return fmt.Errorf("column %q: %w: leave it out with Select or Drop", name, err)
			}
		}
	}
	return nil
}

// damaged adds the condition ErrContents to an error of a decoder, unless the error
// has another cause: a file that cannot be read, or a context that is done.
func damaged(err error) error {
	var failed *fs.PathError
	if err == nil || errors.Is(err, ErrContents) || errors.Is(err, ErrRead) || errors.As(err, &failed) || errors.Is(err, ErrUnsupported) {
		return err
	}
	if errors.Is(err, arrow.ErrNotImplemented) || errors.Is(err, parquetformat.ErrEncrypted) || errors.Is(err, parquetformat.ErrCodec) {
		return fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	return fmt.Errorf("%w: %w", err, ErrContents)
}

// plainPath removes the path from an error of a file system, which the error of the
// source has already.
func plainPath(err error) error {
	if failed, ok := err.(*fs.PathError); ok {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}

// bytesOf returns the compressed length of the columns of a row group.
func (f *footer) bytesOf(rowGroup int, leaves [][]int) (compressed, decoded int64) {
	for _, column := range leaves {
		for _, leaf := range column {
			m := f.about(rowGroup, leaf)
			compressed += m.Compressed
			decoded += min(max(m.Uncompressed, 0), math.MaxInt32)
		}
	}
	return compressed, decoded
}
