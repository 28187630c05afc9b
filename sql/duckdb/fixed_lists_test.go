package duckdb

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestParquetOfFixedLists writes lists of a fixed size, with nulls and null elements, which DuckDB reads as lists, and
// which keep their type here.
func TestParquetOfFixedLists(t *testing.T) {
	p := openEmpty(t)
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float64), Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 1000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		list := b.Field(1).(*array.FixedSizeListBuilder)
		list.Append(i%5 > 0)
		for j := range 3 {
			if i%5 == 0 || (i+j)%7 == 0 {
				list.ValueBuilder().AppendNull()
				continue
			}
			list.ValueBuilder().(*array.Float64Builder).Append(float64(i) + float64(j)/4)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	path := filepath.Join(t.TempDir(), "fixed.parquet")
	_, err := p.engine.Records(schema, record).WriteFile(t.Context(), path, gpuframe.Parquet())
	require.NoError(t, err)
	back := p.engine.Parquet(path)
	got, err := back.Schema(t.Context())
	require.NoError(t, err)
	require.True(t, arrow.TypeEqual(schema.Field(1).Type, got.Field(1).Type), "%v", got)
	theirs, err := p.theirs(fmt.Sprintf("select id, v[1], v[2], v[3], len(v) from '%s' order by id", path))
	require.NoError(t, err)
	p.session.Register("fixed", back)
	_, mine, err := p.mine(t.Context(), "select id, v[1], v[2], v[3], len(v) from fixed order by id")
	require.NoError(t, err)
	require.Equal(t, theirs, mine)
}
