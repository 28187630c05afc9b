//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// writeFlat writes columns of integers and strings, and returns the record.
func writeFlat(t testing.TB, path string, columns, rows int, options ...parquet.WriterProperty) arrow.Record {
	var fields []arrow.Field
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String}[i%2], Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, s)
	defer b.Release()
	for row := range rows {
		for i, field := range b.Fields() {
			switch field := field.(type) {
			case *array.Int64Builder:
				field.Append(int64(row * i))
			case *array.StringBuilder:
				field.Append(fmt.Sprint("text ", row%(97*i)))
			}
		}
	}
	record := b.NewRecord()
	out, err := os.Create(path)
	require.NoError(t, err)
	options = append([]parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageSize(1 << 14)}, options...)
	writer, err := pqarrow.NewFileWriter(s, out, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, writer.WriteBuffered(record))
	require.NoError(t, writer.Close())
	return record
}

// manyProcessors lets goroutines run in parallel on a machine of one processor too.
func manyProcessors(t testing.TB) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestParquetColumnsInParallel(t *testing.T) {
	manyProcessors(t)
	path := filepath.Join(t.TempDir(), "flat.parquet")
	record := writeFlat(t, path, 9, 140_000) // more than a batch
	defer record.Release()
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, columns := range [][]string{nil, {"c7", "c0", "c3"}, {"c2"}} {
		b, err := reading{Columns: columns}.read(m, path, openParquet)
		require.NoError(t, err)
		back, err := b.Record(t.Context())
		require.NoError(t, err)
		if columns == nil {
			require.True(t, array.RecordEqual(record, back))
		}
		for i, name := range columns {
			require.Equal(t, name, back.ColumnName(i))
			require.True(t, array.Equal(record.Column(record.Schema().FieldIndices(name)[0]), back.Column(i)))
		}
		back.Release()
		require.NoError(t, b.Release())
	}
}

// TestDamagedParquetInParallel changes bytes of the pages. Each file is read or is an
// error; a panic on any goroutine would end the test.
func TestDamagedParquetInParallel(t *testing.T) {
	manyProcessors(t)
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	record := writeFlat(t, path, 6, 5_000)
	record.Release()
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	random, failed := rand.New(rand.NewPCG(1, 2)), 0
	for range 100 {
		damaged := append([]byte(nil), whole...)
		for range 1 + random.IntN(4) {
			damaged[4+random.IntN(len(damaged)*9/10)] ^= 1 << random.IntN(8)
		}
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		b, err := reading{}.read(m, path, openParquet)
		if err != nil {
			failed++
			continue
		}
		require.NoError(t, b.Release())
	}
	require.Greater(t, failed, 10)
}

// TestDamagedParquetNamesItsPlace damages one column of one row group.
func TestDamagedParquetNamesItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	record := writeFlat(t, path, 4, 6_000, parquet.WithMaxRowGroupLength(2_000), parquet.WithDictionaryDefault(false))
	record.Release()
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	reader, err := file.OpenParquetFile(path, false)
	require.NoError(t, err)
	place := reader.MetaData().RowGroups[1].Columns[2].MetaData.DataPageOffset
	require.NoError(t, reader.Close())
	copy(whole[place:], bytes.Repeat([]byte{0xff}, 40))
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, columns := range [][]string{nil, {"c2"}, {"c3", "c2"}} {
		_, err = reading{Columns: columns}.read(m, path, openParquet)
		require.ErrorContains(t, err, `row group 1: column "c2" of int64: `)
	}
	b, err := reading{Columns: []string{"c0", "c1"}}.read(m, path, openParquet)
	require.NoError(t, err)
	require.NoError(t, b.Release())
}

func BenchmarkReadParquet(b *testing.B) {
	path := filepath.Join(b.TempDir(), "flat.parquet")
	record := writeFlat(b, path, 8, 500_000)
	record.Release()
	m := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	for b.Loop() {
		table, err := reading{}.read(m, path, openParquet)
		require.NoError(b, err)
		require.NoError(b, table.Release())
	}
}
