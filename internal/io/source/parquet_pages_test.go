package source_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// indexedFile is a file with page indices, and its rows.
type indexedFile struct {
	data    []byte
	record  arrow.Record
	columns []memberColumn
}

// drawIndexed draws a file with values that follow the rows more or less: pages have intervals of them. The first columns may be given.
func drawIndexed(t testing.TB, r *rapid.T, first ...memberColumn) (f indexedFile) {
	all := slices.DeleteFunc(memberColumns(), func(c memberColumn) bool {
		return arrow.TypeEqual(c.t, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}) // arrow-go writes milliseconds
	})
	var fields []arrow.Field
	for i := range rapid.IntRange(1, 3).Draw(r, "columns") {
		c := rapid.SampledFrom(all).Draw(r, "type")
		if i < len(first) {
			c = first[i]
		}
		f.columns = append(f.columns, c)
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: c.t, Nullable: true})
	}
	fields = append(fields, arrow.Field{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true})
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer builder.Release()
	rows, random := rapid.SampledFrom([]int{1, 90, 700}).Draw(r, "rows"), rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
	for i, c := range f.columns {
		noise, nulls := rapid.SampledFrom([]int{1, 5, 100}).Draw(r, "noise"), rapid.SampledFrom([]int{0, 1, 2}).Draw(r, "nulls")
		for row := range rows {
			at := min(row*100/rows+random.IntN(noise), 99)
			if nulls > 0 && (random.IntN(10) == 0 || nulls > 1 && at%20 < 10) {
				builder.Field(i).AppendNull()
			} else {
				c.append(builder.Field(i), at)
			}
		}
	}
	list := builder.Field(len(f.columns)).(*array.ListBuilder)
	for row := range rows {
		list.Append(true)
		for k := range row % 3 {
			list.ValueBuilder().(*array.Int32Builder).Append(int32(row + k))
		}
	}
	f.record = builder.NewRecord()
	properties := []parquet.WriterProperty{
		parquet.WithCreatedBy("a writer of page indices"), parquet.WithStats(false),
		parquet.WithCompression(rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Brotli}).Draw(r, "codec")),
		parquet.WithDataPageVersion(rapid.SampledFrom([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}).Draw(r, "version of pages")),
		parquet.WithDataPageSize(rapid.SampledFrom([]int64{20, 100, 1 << 20}).Draw(r, "length of a page")),
		parquet.WithBatchSize(rapid.SampledFrom([]int64{7, 30}).Draw(r, "batch")),
		parquet.WithDictionaryDefault(rapid.Bool().Draw(r, "dictionary")),
		parquet.WithDictionaryPageSizeLimit(rapid.SampledFrom([]int64{100, 1 << 20}).Draw(r, "length of a dictionary")),
	}
	for i, c := range f.columns {
		if c.t.ID() == arrow.STRING && rapid.Bool().Draw(r, "shared beginnings") {
			name := fmt.Sprint("c", i)
			properties = append(properties, parquet.WithDictionaryFor(name, false), parquet.WithEncodingFor(name, parquet.Encodings.DeltaByteArray))
		}
	}
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(f.record.Schema(), &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(r, err)
	table := array.NewTableFromRecords(f.record.Schema(), []arrow.Record{f.record})
	defer table.Release()
	require.NoError(r, writer.WriteTable(table, rapid.SampledFrom([]int64{40, 300, 1000}).Draw(r, "rows of a row group")))
	require.NoError(r, writer.Close())
	f.data = pagestest.WithIndex(t, to.Bytes(), func(_, column int, x *pagestest.Index) {
		x.WithoutBounds, x.WithoutLocations = random.IntN(8) == 0, random.IntN(8) == 0
		text := column < len(f.columns) && arrow.IsBaseBinary(f.columns[column].t.ID())
		withoutNulls := random.IntN(4) == 0
		for i := range x.Bounds {
			b := &x.Bounds[i]
			if withoutNulls {
				b.Nulls = -1
			}
			if text && random.IntN(3) == 0 {
				b.Low, b.High = b.Low[:min(len(b.Low), 1)], b.High[:min(len(b.High), 2)]
			}
		}
	})
	return f
}

// condition draws a condition on some columns.
func (f indexedFile) condition(r *rapid.T, depth int) expr.Expr {
	if depth > 0 && rapid.Bool().Draw(r, "joined") {
		a, b := f.condition(r, depth-1), f.condition(r, depth-1)
		if rapid.Bool().Draw(r, "both") {
			return a.And(b)
		}
		return a.Or(b)
	}
	i := rapid.IntRange(0, len(f.columns)-1).Draw(r, "column")
	column, literal := expr.Col(fmt.Sprint("c", i)), expr.Lit(f.columns[i].literal(rapid.IntRange(0, 99).Draw(r, "literal")))
	list := []expr.Expr{column.Eq(literal), column.Ne(literal), column.IsNull(), column.IsValid()}
	if id := f.columns[i].t.ID(); !arrow.IsBaseBinary(id) {
		list = append(list, column.Lt(literal), column.Le(literal), column.Gt(literal), column.Ge(literal), literal.Lt(column))
	}
	return rapid.SampledFrom(list).Draw(r, "condition")
}

// matches returns the rows of records that meet a condition, as one array for each column, or nil if its types do not fit.
func matches(t testing.TB, condition expr.Expr, schema *arrow.Schema, records ...arrow.Record) []arrow.Array {
	columns := make([]arrow.Array, schema.NumFields())
	parts := make([][]arrow.Array, len(columns))
	for i, field := range schema.Fields() {
		parts[i] = append(parts[i], array.MakeArrayOfNull(arrowmemory.DefaultAllocator, field.Type, 0))
	}
	for _, record := range records {
		results, err := expr.EvaluateRecord(t.Context(), record, []expr.Expr{condition})
		if err != nil {
			return nil
		}
		meets := results[0].(*array.Boolean)
		for row := range meets.Len() {
			for i := range columns {
				if meets.IsValid(row) && meets.Value(row) {
					parts[i] = append(parts[i], array.NewSlice(record.Column(i), int64(row), int64(row+1)))
				}
			}
		}
	}
	for i := range columns {
		var err error
		columns[i], err = array.Concatenate(parts[i], arrowmemory.DefaultAllocator)
		require.NoError(t, err)
	}
	return columns
}

// A query with page indices has the rows of one without: with bounds that are cut short or missing, pages of nulls, NaN, columns
// without an index and nested ones. The condition meets the rows of the record that was written.
func TestRandomPageIndices(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetLeastEncodedRows(8)()
		skipped, excluded := int64(0), int64(0)
		property.Check(t, func(r *rapid.T) {
			f := drawIndexed(t, r)
			s, err := source.ParquetReaderAt("data", bytes.NewReader(f.data), int64(len(f.data)))
			if rapid.Bool().Draw(r, "object") {
				defer drawObjects(r)()
				var store objecttest.Memory
				store.Set("mem://bucket/data", f.data)
				s, err = source.Files{Store: &store}.Parquet([]string{"mem://bucket/data"})
			}
			require.NoError(r, err)
			for range 4 {
				condition := f.condition(r, 2)
				want := matches(t, condition, f.record.Schema(), f.record)
				if want == nil {
					continue // literals of another type
				}
				var counters source.Counters
				request := source.Request{Where: []expr.Expr{condition}, Counters: &counters, BatchRows: rapid.SampledFrom([]int64{0, 50}).Draw(r, "rows of a table")}
				got := matches(t, condition, f.record.Schema(), read(t, s, m, request)...)
				for i := range want {
					require.True(r, array.ApproxEqual(want[i], got[i], array.WithNaNsEqual(true), array.WithAbsTolerance(0)), "column %d, %v\nwant %v\ngot  %v", i, condition, want[i], got[i])
				}
				skipped += counters.SkippedPages.Load()
				excluded += counters.SkippedByIndex.Load()
			}
		})
		assert.Positive(t, skipped, "pages are left out")
		assert.Positive(t, excluded, "row groups are left out")
	})
}

// sortedFile is a file of two columns of 1,000 rows, in pages of about 50, and its page indices.
func sortedFile(t testing.TB, change func(column int, x *pagestest.Index), properties ...parquet.WriterProperty) []byte {
	properties = append([]parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(400), parquet.WithBatchSize(10)}, properties...)
	record := numbered(0, 1000)
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(record.Schema(), &to, parquet.NewWriterProperties(properties...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	require.NoError(t, writer.Write(record))
	require.NoError(t, writer.Close())
	return pagestest.WithIndex(t, to.Bytes(), func(_, column int, x *pagestest.Index) {
		if change != nil {
			change(column, x)
		}
	})
}

// Pages without a row of interest are not read from the file.
func TestPagesAreNotRead(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		data := sortedFile(t, nil)
		s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		n := expr.Col("n")
		for _, condition := range []expr.Expr{n.Eq(expr.Lit(500)), n.Lt(expr.Lit(20)).Or(n.Gt(expr.Lit(990))), n.Ge(expr.Lit(100)).And(n.Lt(expr.Lit(200)))} {
			var all, some source.Counters
			reset := source.SetPageIndices(false)
			want := numbers(t, read(t, s, m, source.Request{Where: []expr.Expr{condition}, Counters: &all}))
			reset()
			got := numbers(t, read(t, s, m, source.Request{Where: []expr.Expr{condition}, Counters: &some}))
			require.Len(t, want, 1000)
			assert.Less(t, len(got), 250, "%v", condition)
			assert.Less(t, some.FileBytes.Load(), all.FileBytes.Load()/3)
			assert.Zero(t, all.SkippedPages.Load()+all.Pages.Load())
			assert.Greater(t, some.SkippedPages.Load(), 2*some.Pages.Load())
			assert.Positive(t, some.Pages.Load())
		}
		var counters source.Counters
		assert.Empty(t, read(t, s, m, source.Request{Where: []expr.Expr{n.Gt(expr.Lit(400)), n.Lt(expr.Lit(300))}, Counters: &counters}))
		assert.EqualValues(t, 1, counters.SkippedRowGroups.Load())
		assert.EqualValues(t, 1, counters.SkippedByIndex.Load())
	})
}

// readAll reads all tables, or returns the error.
func readAll(t testing.TB, s source.Source, m *memory.Manager, request source.Request) (records []arrow.Record, err error) {
	reader, err := s.Open(t.Context(), m, request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for {
		table, err := reader.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		record, err := table.Record(t.Context())
		require.NoError(t, err)
		require.NoError(t, table.Release())
		records = append(records, record)
	}
}

// An index that disagrees with the pages is an error that names file, row group and column.
func TestDamagedPageIndices(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for name, change := range property.InOrder(map[string]func(x *pagestest.Index){
			"fewer pages":      func(x *pagestest.Index) { x.Locations = x.Locations[:3] },
			"fewer bounds":     func(x *pagestest.Index) { x.Bounds = x.Bounds[1:] },
			"no pages":         func(x *pagestest.Index) { x.Locations, x.Bounds = nil, nil },
			"a row too early":  func(x *pagestest.Index) { x.Locations[10].Row-- },
			"a row too late":   func(x *pagestest.Index) { x.Locations[11].Row++ },
			"no first row":     func(x *pagestest.Index) { x.Locations[0].Row = 1 },
			"rows in no order": func(x *pagestest.Index) { x.Locations[4].Row = 0 },
			"too many rows":    func(x *pagestest.Index) { x.Locations[len(x.Locations)-1].Row = 1001 },
			"another place":    func(x *pagestest.Index) { x.Locations[10].Offset++ },
			"a place before":   func(x *pagestest.Index) { x.Locations[0].Offset = 0 },
			"a place behind":   func(x *pagestest.Index) { x.Locations[10].Offset = 1 << 40 },
			"a negative place": func(x *pagestest.Index) { x.Locations[10].Offset = -5 },
			"too short":        func(x *pagestest.Index) { x.Locations[10].Length-- },
			"too long":         func(x *pagestest.Index) { x.Locations[10].Length = 1 << 30 },
			"no length":        func(x *pagestest.Index) { x.Locations[10].Length = 0 },
			"pages exchanged":  func(x *pagestest.Index) { x.Locations[10], x.Locations[11] = x.Locations[11], x.Locations[10] },
			"two pages for one": func(x *pagestest.Index) {
				x.Locations, x.Bounds = slices.Delete(x.Locations, 10, 11), slices.Delete(x.Bounds, 10, 11)
			},
			"a length of another": func(x *pagestest.Index) { x.Locations[10].Length = 90 },
			"a page without rows": func(x *pagestest.Index) { x.Locations[10].Row = x.Locations[11].Row },
		}) {
			data := sortedFile(t, func(column int, x *pagestest.Index) {
				if column == 0 {
					change(x)
				}
			})
			s, err := source.ParquetReaderAt("some file", bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			_, err = readAll(t, s, m, source.Request{Where: []expr.Expr{expr.Col("n").Ge(expr.Lit(490)), expr.Col("n").Lt(expr.Lit(600))}})
			var typed *source.Error
			require.ErrorAs(t, err, &typed, name)
			require.ErrorIs(t, err, source.ErrContents, name)
			assert.Zero(t, typed.RowGroup, name)
			assert.ErrorContains(t, err, `column "n"`, name)
			assert.ErrorContains(t, err, "some file", name)
		}
	})
}

// A wrong byte of an offset index is an error or changes nothing.
func TestWrongBytesOfPageIndices(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		var first pages.Location
		whole := sortedFile(t, func(column int, x *pagestest.Index) {
			if x.WithoutLocations = column > 0; column == 0 {
				first = x.Locations[0]
			}
		})
		begin := bytes.LastIndex(whole, binary.AppendVarint([]byte{0x16}, first.Offset)) - 3 // the head of the list
		require.Positive(t, begin)
		condition := expr.Col("n").Ge(expr.Lit(490)).And(expr.Col("n").Lt(expr.Lit(600)))
		schema := numbered(0, 1).Schema()
		want := matches(t, condition, schema, numbered(0, 1000))
		random := property.Random(t)
		for range 300 {
			data := slices.Clone(whole)
			at := begin + random.IntN(200)
			data[at] ^= byte(1 + random.IntN(255))
			s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			records, err := readAll(t, s, m, source.Request{Where: []expr.Expr{condition}})
			if err != nil {
				var typed *source.Error
				require.ErrorAs(t, err, &typed)
				require.ErrorIs(t, err, source.ErrContents)
				continue
			}
			got := matches(t, condition, schema, records...)
			for i := range want {
				require.True(t, array.Equal(want[i], got[i]), "byte %d", at)
			}
		}
	})
}

// The files are of parquet-go, which writes page indices of all columns.
func TestPageIndicesOfOthers(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for _, name := range []string{"testdata/others/parquet-go-1.parquet", "testdata/others/parquet-go-2.parquet"} {
			s := openedParquet(t, name)
			schema, err := s.Schema(t.Context())
			require.NoError(t, err)
			columns := []string{}
			for _, field := range schema.Fields() {
				if reader, err := s.Open(t.Context(), m, source.Request{Columns: []string{field.Name}}); err == nil {
					require.NoError(t, reader.Close())
					columns = append(columns, field.Name)
				}
			}
			require.Len(t, columns, 5)
			step := int64(1)
			if testing.Short() {
				step = 19
			}
			for id := int64(0); id < 210; id += step {
				condition := expr.Col("id").Eq(expr.Lit(id))
				reset := source.SetPageIndices(false)
				whole := read(t, s, m, source.Request{Columns: columns, Where: []expr.Expr{condition}})
				reset()
				var counters source.Counters
				part := read(t, s, m, source.Request{Columns: columns, Where: []expr.Expr{condition}, Counters: &counters})
				want, got := matches(t, condition, whole[0].Schema(), whole...), matches(t, condition, whole[0].Schema(), part...)
				require.Equal(t, 1, want[0].Len())
				for i := range want {
					require.True(t, array.ApproxEqual(want[i], got[i], array.WithNaNsEqual(true), array.WithAbsTolerance(0)), "%s, id %d, column %q", name, id, columns[i])
				}
				assert.Positive(t, counters.SkippedPages.Load())
			}
		}
	})
}
