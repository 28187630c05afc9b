package source_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// words returns records of utf8 and binary columns with few values, others in each record.
func words(records, rows int) []arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "b", Type: arrow.BinaryTypes.Binary},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	var list []arrow.Record
	for r := range records {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		for i := range rows {
			if i%7 == 3 {
				b.Field(0).AppendNull()
			} else {
				b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("word %d of %d", i%50, r))
			}
			b.Field(1).(*array.BinaryBuilder).Append([]byte{byte(i % 3), byte(r)})
			b.Field(2).(*array.Int64Builder).Append(int64(i))
		}
		list = append(list, b.NewRecord())
		b.Release()
	}
	return list
}

// wordsFile is a file with a row group for each record.
func wordsFile(t testing.TB, records []arrow.Record, properties ...parquet.WriterProperty) []byte {
	t.Helper()
	var file bytes.Buffer
	writer, err := pqarrow.NewFileWriter(records[0].Schema(), &file, parquet.NewWriterProperties(append(properties, parquet.WithMaxRowGroupLength(records[0].NumRows()))...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, writer.Write(r))
	}
	require.NoError(t, writer.Close())
	return file.Bytes()
}

// Strings that are read with their dictionaries are those of the file, also if dictionaries
// differ, a table has several row groups, or a row group several tables.
func TestEncodedStrings(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		records := words(3, 6000)
		for name, properties := range map[string][]parquet.WriterProperty{
			"dictionaries":    nil,
			"no dictionaries": {parquet.WithDictionaryDefault(false)},
			"both":            {parquet.WithDictionaryPageSizeLimit(1000), parquet.WithBatchSize(100), parquet.WithDataPageSize(1000)},
			"version 2":       {parquet.WithDataPageVersion(parquet.DataPageV2)},
		} {
			data := wordsFile(t, records, properties...)
			s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			for _, batch := range []int64{0, 6000, 4096, 5000, 100_000} {
				r, row := 0, int64(0)
				for _, got := range read(t, s, m, source.Request{BatchRows: batch}) {
					require.True(t, got.Schema().Equal(records[0].Schema()), "%s: %v", name, got.Schema())
					for from := int64(0); from < got.NumRows(); {
						n := min(got.NumRows()-from, records[r].NumRows()-row)
						require.True(t, array.RecordEqual(records[r].NewSlice(row, row+n), got.NewSlice(from, from+n)), "%s, batches of %d, row %d of %d", name, batch, row, r)
						if from, row = from+n, row+n; row == records[r].NumRows() {
							r, row = r+1, 0
						}
					}
				}
				require.Equal(t, len(records), r, "%s, batches of %d", name, batch)
			}
		}
	})
}

// If the dictionaries and the values do not fit the budget together, the values are decoded on
// the host and come in smaller tables.
func TestEncodedStringsInLittleMemory(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		records := words(2, 6000)
		data := wordsFile(t, records)
		s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, budget := range []uint64{40 << 10, 100 << 10, 300 << 10, 500 << 10} {
			m := devicetest.Manager(t, dev, memory.Options{Budget: budget})
			rows := int64(0)
			for _, got := range read(t, s, m, source.Request{}) {
				rows += got.NumRows()
			}
			assert.EqualValues(t, 12_000, rows)
		}
	})
}

// A dictionary with a value twice is read as it is. arrow-go stores the value once, and shifts the
// indices after it.
func TestDictionaryWithEqualValues(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	names := []string{"aaaa", "bbbb", "cccc"}
	for i := range 9000 {
		b.Field(0).(*array.StringBuilder).Append(names[i%3])
	}
	data := wordsFile(t, []arrow.Record{b.NewRecord()}, parquet.WithStats(false))
	at := bytes.Index(data, []byte("bbbb"))
	require.Positive(t, at)
	copy(data[at:], "aaaa")
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	for _, batch := range []int64{0, 5000} {
		row := 0
		for _, got := range read(t, s, m, source.Request{BatchRows: batch}) {
			for i := range int(got.NumRows()) {
				require.Equal(t, []string{"aaaa", "aaaa", "cccc"}[row%3], got.Column(0).(*array.String).Value(i), "row %d", row)
				row++
			}
		}
		require.Equal(t, 9000, row)
	}
}

// BenchmarkStrings reads two columns of strings that a file encodes by dictionaries.
func BenchmarkStrings(b *testing.B) {
	m := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	const rows = 1 << 20
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.BinaryTypes.String},
	}, nil))
	defer builder.Release()
	for i := range rows {
		builder.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("city number %d", i*7919%1000))
		builder.Field(1).(*array.StringBuilder).Append([]string{"AIR", "TRUCK", "SHIP", "RAIL"}[i*31%4])
	}
	record := builder.NewRecord()
	data := wordsFile(b, []arrow.Record{record, record})
	for name, least := range map[string]int64{"device": 1, "host": 1 << 40} {
		b.Run("decoded on the "+name, func(b *testing.B) {
			defer source.SetLeastEncodedRows(least)()
			s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
			require.NoError(b, err)
			for b.Loop() {
				require.NoError(b, drainBy(b.Context(), s, m, 0))
			}
		})
	}
}
