package chunks_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Column chunks of other writers.
func TestFiles(t *testing.T) {
	type chunk struct {
		name  string
		bytes []byte
		about pages.Flat
	}
	var list []chunk
	for _, name := range []string{"bloom-duckdb-1.4.4", "others/lz4-raw", "others/duckdb-byte-stream-split"} {
		data, err := os.ReadFile("../testdata/" + name + ".parquet")
		require.NoError(t, err)
		reader, err := file.NewParquetReader(bytes.NewReader(data))
		require.NoError(t, err)
		schema, err := pqarrow.FromParquet(reader.MetaData().Schema, nil, nil)
		require.NoError(t, err)
		for g, group := range reader.MetaData().GetRowGroups() {
			for i, c := range group.GetColumns() {
				m, column := c.MetaData, reader.MetaData().Schema.Column(i)
				start := m.GetDataPageOffset()
				if m.IsSetDictionaryPageOffset() && m.GetDictionaryPageOffset() > 0 {
					start = min(start, m.GetDictionaryPageOffset())
				}
				about := pages.Flat{
					Column:   pages.Column{Codec: parquetformat.Codec(m.GetCodec()), Values: m.GetNumValues(), MaxDefinition: column.MaxDefinitionLevel(), MaxRepetition: column.MaxRepetitionLevel()},
					Physical: parquetformat.Type(column.PhysicalType()), Width: column.TypeLength(), Type: schema.Field(i).Type,
				}
				bytes := data[start : start+m.GetTotalCompressedSize()]
				plan, err := pages.NewPlan(bytes, about.Column)
				require.NoError(t, err)
				require.True(t, chunks.Decodable(about, plan), "%s, column %d", name, i)
				list = append(list, chunk{fmt.Sprintf("%s, row group %d, column %d", name, g, i), bytes, about})
			}
		}
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for _, c := range list {
			requireLikeHost(t, t, m, c.bytes, c.about, c.name)
		}
	})
}
