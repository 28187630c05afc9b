package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// readWhole reads a file as one record.
func readWhole(t require.TestingT, tb testing.TB, m *memory.Manager, data []byte, batch int64) arrow.Record {
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	schema, err := s.Schema(tb.Context())
	require.NoError(t, err)
	records := read(tb, s, m, source.Request{BatchRows: batch})
	rows, columns := int64(0), make([]arrow.Array, schema.NumFields())
	for _, record := range records {
		rows += record.NumRows()
	}
	for i, field := range schema.Fields() {
		parts := []arrow.Array{array.MakeArrayOfNull(arrowmemory.DefaultAllocator, field.Type, 0)}
		for _, record := range records {
			parts = append(parts, record.Column(i))
		}
		columns[i], err = array.Concatenate(parts, arrowmemory.DefaultAllocator)
		require.NoError(t, err)
	}
	return array.NewRecord(schema, columns, rows)
}

// requireSame compares the columns of records.
func requireSame(t require.TestingT, want, got arrow.Record, name string) {
	require.Equal(t, want.NumRows(), got.NumRows(), name)
	for c, field := range want.Schema().Fields() {
		require.True(t, array.Equal(want.Column(c), got.Column(c)), "%s: column %q of %v", name, field.Name, field.Type)
	}
}

// Random files have the same values on devices as on the host.
func TestRandomChunksOnDevices(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			data := randomParquet(r)
			batch := rapid.SampledFrom([]int64{0, 33, 1000}).Draw(r, "rows of a table")
			requireSame(r, readWhole(r, t, host, data, 0), readWhole(r, t, m, data, batch), "random file")
		})
	})
}

// Files of other writers have the same values on devices as on the host.
func TestFilesOfOthersOnDevices(t *testing.T) {
	var names []string
	for _, folder := range []string{"testdata/*.parquet", "testdata/others/*.parquet"} {
		list, err := filepath.Glob(folder)
		require.NoError(t, err)
		names = append(names, list...)
	}
	require.Greater(t, len(names), 3)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for _, name := range names {
			s := openedParquet(t, name)
			schema, err := s.Schema(t.Context())
			require.NoError(t, err)
			for _, field := range schema.Fields() {
				request := source.Request{Columns: []string{field.Name}}
				if reader, err := s.Open(t.Context(), host, request); err != nil {
					require.ErrorIs(t, err, source.ErrUnsupported)
					continue
				} else {
					require.NoError(t, reader.Close())
				}
				want, got := read(t, s, host, request), read(t, s, m, request)
				require.Equal(t, len(want), len(got), name)
				for i := range want {
					requireSame(t, want[i], got[i], name)
				}
			}
		}
	})
}

// chunkTypes are types of flat columns of which devices decode all chunks.
func chunkTypes() []arrow.DataType {
	return []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, &arrow.Decimal128Type{Precision: 15, Scale: 2},
	}
}

// A file with damaged pages gives an error that names the row group, or as many rows as it has, and
// leaves no memory in use.
func TestDamagedChunks(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		rounds := 300
		if testing.Short() {
			rounds = 40
		}
		m := devicetest.Manager(t, dev, memory.Options{})
		random := property.Random(t)
		for n, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
			data := variedParquet(t, chunkTypes(), parquet.WithCompression(codec), parquet.WithDictionaryDefault(n%2 == 1), parquet.WithDataPageSize(200), parquet.WithBatchSize(50))
			failed := 0
			for range rounds / 3 {
				changed := damagePages(random, data)
				s, err := source.ParquetReaderAt("data", bytes.NewReader(changed), int64(len(changed)))
				if err != nil {
					continue
				}
				err = drainBy(t.Context(), s, m, 0)
				if err == nil {
					continue
				}
				failed++
				var about *source.Error
				require.ErrorAs(t, err, &about)
				require.False(t, errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrInvalidValue), "%v", err)
			}
			assert.Positive(t, failed, "%v", codec)
			require.Zero(t, m.Stats().InUse)
		}
	})
}

// Files are read in any budget that suffices for one page: in smaller tables, or decoded on the host.
func TestChunksInLittleMemory(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		// The last types are lists, a struct and a map, which arrow-go reads from the file again.
		data := variedParquet(t, append(chunkTypes(), variedTypes()[14:]...), parquet.WithDataPageSize(1000), parquet.WithBatchSize(100))
		want := readWhole(t, t, host, data, 0)
		for _, budget := range []uint64{16 << 10, 40 << 10, 100 << 10, 300 << 10, 1 << 20} {
			m := devicetest.Manager(t, dev, memory.Options{Budget: budget})
			requireSame(t, want, readWhole(t, t, m, data, 0), fmt.Sprint("budget ", budget))
		}
	})
}

// Some row groups have a column in an encoding that only the host decodes: all rows are read.
func TestChunksOfSomeRowGroups(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		types := append(chunkTypes(), variedTypes()[14:]...)
		first := variedParquet(t, types, parquet.WithCompression(compress.Codecs.Snappy))
		second := variedParquet(t, types, parquet.WithCompression(compress.Codecs.Brotli))
		folder := t.TempDir()
		snappy, brotli := write(t, first, folder, "a.parquet"), write(t, second, folder, "b.parquet")
		for _, batch := range []int64{0, 70} {
			both := openedParquet(t, snappy, brotli)
			rows := int64(0)
			for _, record := range read(t, both, m, source.Request{BatchRows: batch}) {
				rows += record.NumRows()
			}
			require.Equal(t, 2*readWhole(t, t, host, first, 0).NumRows(), rows)
		}
	})
}
