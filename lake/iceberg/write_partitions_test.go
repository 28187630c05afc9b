package iceberg_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

const partitionedRows = `[{"id": 1, "day": "2024-02-29", "city": "Oslo", "big": true, "n": -1}, {"id": 2, "day": "2024-02-29", "city": "São Paulo/x=%41", "big": false, "n": 7},
	{"id": 3, "day": "1969-12-31", "city": "", "big": null, "n": null}, {"id": 4, "day": null, "city": null, "big": true, "n": 7},
	{"id": 5, "day": "2024-02-29", "city": "Oslo", "big": true, "n": -1}, {"id": 6, "day": "2024-02-29", "city": "__HIVE_DEFAULT_PARTITION__", "big": true, "n": -1}]`

func partitionedSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true}, {Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "big", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
}

// Files of partitions have the values of their rows, of all types that partition, and leave out files.
func TestWrittenPartitions(t *testing.T) {
	engine, folder := openEngine(t), t.TempDir()
	path := filepath.Join(folder, "go", "partitioned")
	w, err := iceberg.Create(t.Context(), path, partitionedSchema(), iceberg.WriteOptions{PartitionBy: []string{"day", "city", "big", "n"}})
	require.NoError(t, err)
	query := queryOf(t, engine, partitionedSchema(), partitionedRows)
	_, err = w.Append(t.Context(), query)
	require.NoError(t, err)
	table, err := iceberg.Open(t.Context(), path, iceberg.Options{})
	require.NoError(t, err)
	require.Len(t, table.Files(), 5)
	for _, filter := range []gpuframe.Expression{
		gpuframe.Col("id").Gt(0), gpuframe.Col("city").Eq("Oslo"), gpuframe.Col("city").IsNull(), gpuframe.Col("city").Eq(""), gpuframe.Col("city").Eq("São Paulo/x=%41"),
		gpuframe.Col("city").Eq("__HIVE_DEFAULT_PARTITION__"), gpuframe.Col("big").IsNull(), gpuframe.Col("big").Eq(false), gpuframe.Col("n").Lt(0), gpuframe.Col("n").IsNull(), gpuframe.Col("day").IsNull(),
	} {
		require.Equal(t, rowsOf(t, query.Filter(filter)), rowsOf(t, table.Query(engine).Filter(filter)))
	}
	_, err = w.Append(t.Context(), query)
	require.NoError(t, err)
	require.Equal(t, sorted(rowsOf(t, query), rowsOf(t, query)), tableRows(t, engine, path, iceberg.Options{}))
	s, err := w.Overwrite(t.Context(), query.Filter(gpuframe.Col("id").Gt(2)))
	require.NoError(t, err)
	require.Equal(t, "10", s.Summary["deleted-data-files"])
	require.Equal(t, rowsOf(t, query.Filter(gpuframe.Col("id").Gt(2))), tableRows(t, engine, path, iceberg.Options{}))
	if program := os.Getenv("GPUFRAME_ICEBERG_GO"); program != "" {
		require.Equal(t, tableRows(t, engine, path, iceberg.Options{}), rowsOfIcebergGo(t, program, folder, "partitioned"))
	}
	for _, names := range [][]string{{"absent"}, {"n", "n"}} {
		_, err = iceberg.Create(t.Context(), path+"2", partitionedSchema(), iceberg.WriteOptions{PartitionBy: names})
		require.ErrorIs(t, err, iceberg.ErrColumns)
	}
	_, err = iceberg.Create(t.Context(), path+"2", everyType(), iceberg.WriteOptions{PartitionBy: []string{"d"}})
	require.ErrorIs(t, err, iceberg.ErrColumns)
}
