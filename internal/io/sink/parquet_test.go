package sink_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "github.com/gpuframe/gpuframe/compression/brotli"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/pagestest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// parquetTypes are types of flat columns that are read as they were written.
func parquetTypes() (types []arrow.DataType) {
	for _, t := range pagestest.Types() {
		if t.ID() != arrow.FLOAT16 {
			types = append(types, t)
		}
	}
	return append(types, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Timestamp_ns, arrow.BinaryTypes.LargeBinary,
		&arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 70}, arrow.FixedWidthTypes.Duration_us,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.Binary})
}

// drawParquetOptions draws options, also those with which every page and row group has a border.
func drawParquetOptions(r *rapid.T, rows int64, names []string) sink.ParquetOptions {
	groupRows, pageRows := []int64{0, 500, 1000}, []int64{0, 100, 333}
	if rows < 500 {
		groupRows, pageRows = append(groupRows, 1, 7, 100), append(pageRows, 1, 8)
	}
	return sink.ParquetOptions{
		Compression:    rapid.SampledFrom([]string{"", "zstd", "gzip", "brotli", "lz4_raw", "none"}).Draw(r, "compression"),
		GroupRows:      rapid.SampledFrom(groupRows).Draw(r, "rows of a row group"),
		PageRows:       rapid.SampledFrom(pageRows).Draw(r, "rows of a page"),
		NoDictionaries: rapid.IntRange(0, 3).Draw(r, "no dictionaries") == 0,
		OldEncodings:   rapid.IntRange(0, 3).Draw(r, "old encodings") == 0,
		Bloom:          rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID).Draw(r, "Bloom filters"),
	}
}

// drawTable draws a record of flat columns.
func drawTable(t testing.TB, r *rapid.T) arrow.Record {
	generator := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
	rows := rapid.SampledFrom([]int{1, 9, 130, 500, 3000}).Draw(r, "rows")
	var fields []arrow.Field
	var columns []arrow.Array
	for i := range rapid.IntRange(1, 5).Draw(r, "columns") {
		dataType := rapid.SampledFrom(parquetTypes()).Draw(r, "type")
		generator.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull}).Draw(r, "nulls")
		generator.Sliced = rapid.Bool().Draw(r, "sliced")
		distinct := rapid.SampledFrom([]int{1, 2, 20, 300, rows}).Draw(r, "distinct values")
		var values arrow.Array
		switch {
		case distinct < rows && dataType.ID() != arrow.DICTIONARY:
			values = columntest.Repeated(t, generator, dataType, distinct, rows)
		case isInteger(dataType) && rapid.Bool().Draw(r, "near"):
			values = near(generator, dataType, rows, rapid.SampledFrom([]int{0, 5, 300}).Draw(r, "step"), rapid.SampledFrom([]int{1, 50, 5000}).Draw(r, "range"))
		default:
			values = generator.Array(dataType, rows)
		}
		values = pagestest.Fitting(values)
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dataType, Nullable: arraytest.AnyNull(values) || rapid.Bool().Draw(r, "nullable")})
		columns = append(columns, values)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
}

func isInteger(t arrow.DataType) bool { return t.ID() == arrow.INT64 || t.ID() == arrow.UINT32 }

// near returns integers that ascend by up to step, each with a random number below width added.
func near(g *arraytest.Generator, t arrow.DataType, rows, step, width int) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, t)
	at := int64(g.Uint32())
	for range rows {
		at += int64(g.IntN(step + 1))
		v := at + int64(g.IntN(width))
		switch b := b.(type) {
		case *array.Int64Builder:
			b.Append(v - 1<<31)
		case *array.Uint32Builder:
			b.Append(uint32(v))
		}
	}
	return b.NewArray()
}

// written returns a record as a file.
func written(t require.TestingT, m *memory.Manager, record arrow.Record, options sink.ParquetOptions, batch int64) []byte {
	reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, batch)
	var to bytes.Buffer
	w, err := sink.ToWriter(context.Background(), &to, sink.Parquet(options), reader)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	require.Equal(t, record.NumRows(), w.Rows)
	return to.Bytes()
}

// Random tables are the same when they are read again, on every device and by arrow-go.
func TestRandomParquet(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			record := drawTable(t, r)
			var names []string
			for _, field := range record.Schema().Fields() {
				names = append(names, field.Name)
			}
			defer sink.SetLeastDeviceRows(rapid.SampledFrom([]int64{1, 100, 1 << 16}).Draw(r, "rows for the device"))()
			data := written(r, m, record, drawParquetOptions(r, record.NumRows(), names), rapid.SampledFrom([]int64{1 << 20, 33, 1000}).Draw(r, "rows of a table"))
			s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
			require.NoError(r, err)
			back := whole(r, m, s)
			theirs := readByArrow(r, data)
			for i, field := range record.Schema().Fields() {
				sameValues(r, record.Column(i), back.Column(i), field.Type.String())
				if field.Type.ID() != arrow.DICTIONARY && field.Type.ID() != arrow.DURATION {
					sameValues(r, record.Column(i), theirs.Column(i), "arrow-go: "+field.Type.String())
				}
			}
		})
	})
}

// Devices write the same bytes as the host.
func TestDevicesWriteTheSameParquet(t *testing.T) {
	defer sink.SetLeastDeviceRows(1)()
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			record := drawTable(t, r)
			options := drawParquetOptions(r, record.NumRows(), []string{"c0"})
			options.GroupRows = 0
			require.Equal(r, written(r, host, record, options, 1<<20), written(r, m, record, options, 1<<20))
		})
	})
}

// Arrays with dictionaries give the same pages as their texts.
func TestDictionariesAreWrittenAsTexts(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
		g.Sliced = rapid.Bool().Draw(r, "sliced")
		rows := rapid.SampledFrom([]int{1, 20, 700}).Draw(r, "rows")
		coded := g.Array(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}, rows).(*array.Dictionary)
		b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
		for i := range rows {
			if arraytest.IsNull(coded, i) {
				b.AppendNull()
			} else {
				b.Append(coded.Dictionary().(*array.String).Value(coded.GetValueIndex(i)))
			}
		}
		var data [2][]byte
		batch := rapid.SampledFrom([]int64{1 << 20, 9}).Draw(r, "rows of a table")
		for i, values := range []arrow.Array{coded, b.NewArray()} {
			record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType(), Nullable: true}}, nil), []arrow.Array{values}, int64(rows))
			data[i] = written(r, m, record, sink.ParquetOptions{}, batch)
			footer := int(binary.LittleEndian.Uint32(data[i][len(data[i])-8:])) + 8
			data[i] = data[i][:len(data[i])-footer]
		}
		require.Equal(r, data[1], data[0])
	})
}

// A page may have more blocks of differences than a block of threads writes together.
func TestLongDeltaPages(t *testing.T) {
	defer sink.SetLeastDeviceRows(1)()
	const rows = 140_000
	values := near(arraytest.NewGenerator(1), arrow.PrimitiveTypes.Uint32, rows, 3, 3000)
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: values.DataType()}}, nil), []arrow.Array{values}, rows)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	options := sink.ParquetOptions{PageRows: 1 << 20, NoDictionaries: true}
	want := written(t, host, record, options, 1<<20)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		require.Equal(t, want, written(t, devicetest.Manager(t, dev, memory.Options{}), record, options, 1<<20))
	})
}

// Row groups of long values have fewer rows, unless the options have the rows.
func TestBytesOfRowGroups(t *testing.T) {
	defer sink.SetMostGroupBytes(1000)()
	defer sink.SetLeastDeviceRows(1)()
	b := array.NewLargeStringBuilder(arrowmemory.DefaultAllocator)
	for range 100 {
		b.Append(strings.Repeat("x", 42)) // 50 bytes with the offset
	}
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.LargeString}}, nil), []arrow.Array{b.NewArray()}, 100)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for groupRows, want := range map[int64]int{0: 6, 50: 2, 200: 1} {
			reader, err := file.NewParquetReader(bytes.NewReader(written(t, m, record, sink.ParquetOptions{GroupRows: groupRows}, 1<<20)))
			require.NoError(t, err)
			require.Equal(t, want, reader.NumRowGroups(), "%d rows", groupRows)
		}
	})
}

// Row groups of long lists have fewer rows, too: a list of ten numbers takes 4 + 10 * (4 + 2) bytes.
func TestBytesOfListsInRowGroups(t *testing.T) {
	defer sink.SetMostGroupBytes(1000)()
	b := array.NewListBuilder(arrowmemory.DefaultAllocator, arrow.PrimitiveTypes.Int32)
	for range 100 {
		b.Append(true)
		b.ValueBuilder().(*array.Int32Builder).AppendValues([]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, nil)
	}
	wrapped, err := array.NewStructArray([]arrow.Array{b.NewArray()}, []string{"l"})
	require.NoError(t, err)
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: wrapped.DataType()}}, nil), []arrow.Array{wrapped}, 100)
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for groupRows, want := range map[int64]int{0: 7, 50: 2} {
		reader, err := file.NewParquetReader(bytes.NewReader(written(t, m, record, sink.ParquetOptions{GroupRows: groupRows}, 1<<20)))
		require.NoError(t, err)
		require.Equal(t, want, reader.NumRowGroups(), "%d rows", groupRows)
	}
}

// A table without columns keeps the number of its rows.
func TestParquetWithoutColumns(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	data := written(t, m, array.NewRecord(arrow.NewSchema(nil, nil), nil, 3), sink.ParquetOptions{}, 2)
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	require.EqualValues(t, 3, reader.NumRows())
}

// readByArrow reads a file with arrow-go.
func readByArrow(t require.TestingT, data []byte) arrow.Record {
	parquetFile, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	reader, err := pqarrow.NewFileReader(parquetFile, pqarrow.ArrowReadProperties{}, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	table, err := reader.ReadTable(context.Background())
	require.NoError(t, err)
	columns := make([]arrow.Array, table.NumCols())
	for i := range columns {
		columns[i], err = array.Concatenate(table.Column(i).Data().Chunks(), arrowmemory.DefaultAllocator)
		require.NoError(t, err)
	}
	return array.NewRecord(table.Schema(), columns, table.NumRows())
}

// Dates of 64 bits are written as days. A time of day is refused, with the name of the column.
func TestDatesOf64Bits(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	write := func(dates ...arrow.Date64) ([]byte, error) {
		b := array.NewDate64Builder(arrowmemory.DefaultAllocator)
		defer b.Release()
		b.AppendNull()
		b.AppendValues(dates, nil)
		record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "day", Type: arrow.FixedWidthTypes.Date64, Nullable: true}}, nil), []arrow.Array{b.NewArray()}, int64(len(dates)+1))
		defer record.Release()
		s, err := source.Records(record.Schema(), record)
		require.NoError(t, err)
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(t, err)
		defer func() { require.NoError(t, reader.Close()) }()
		var to bytes.Buffer
		_, err = sink.ToWriter(t.Context(), &to, sink.Parquet(sink.ParquetOptions{}), reader)
		return to.Bytes(), err
	}
	const day = 86_400_000
	data, err := write(0, day, -day, 18_295*day)
	require.NoError(t, err)
	s, err := source.ParquetReaderAt("days", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	back := whole(t, m, s)
	require.Equal(t, "date32", back.Schema().Field(0).Type.String())
	require.Equal(t, "[(null) 1970-01-01 1970-01-02 1969-12-31 2020-02-03]", fmt.Sprint(texts(back.Column(0))))
	for _, date := range []arrow.Date64{1, -1, 1 << 62} {
		_, err := write(date)
		require.ErrorIs(t, err, sink.ErrUnsupported)
		require.ErrorContains(t, err, `column "day"`)
	}
}

func texts(values arrow.Array) (list []string) {
	for i := range values.Len() {
		list = append(list, values.ValueStr(i))
	}
	return list
}
