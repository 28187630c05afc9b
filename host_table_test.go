package gpuframe_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// numberedRecords returns a reader of records of a number and its remainder as text.
func numberedRecords(records, rows int) array.RecordReader {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "rest", Type: arrow.BinaryTypes.String}}, nil)
	var list []arrow.Record
	for at := range records {
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		for i := range rows {
			b.Field(0).(*array.Int64Builder).Append(int64(at*rows + i))
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprint((at*rows + i) % 3))
		}
		list = append(list, b.NewRecord())
		b.Release()
	}
	reader, err := array.NewRecordReader(schema, list)
	if err != nil {
		panic(err)
	}
	return reader
}

// Results of queries on host tables are those on their records; results become host tables again.
func TestHostTables(t *testing.T) {
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		table, err := gpu.NewHostTable(t.Context(), numberedRecords(2, 70_000), gpuframe.HostTableOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		require.Equal(t, "n", table.Schema().Field(0).Name)
		kept := gpu.HostTable(table).Filter(gpuframe.Col("n").Lt(1000)).With(gpuframe.Col("n").Mul(2).As("double"))
		again, err := kept.HostTable(t.Context(), gpuframe.HostTableOptions{Plain: true})
		require.NoError(t, err)
		defer func() { require.NoError(t, again.Release()) }()
		require.EqualValues(t, 1000, again.NumRows())
		frame, err := gpu.HostTable(again).GroupBy().Agg(gpuframe.Col("double").Sum()).Collect(t.Context())
		require.NoError(t, err)
		record, err := frame.Record(t.Context())
		require.NoError(t, err)
		require.NoError(t, frame.Release())
		assert.EqualValues(t, 999*1000, record.Column(0).(*array.Int64).Value(0))

		_, err = gpu.HostTable(nil).Collect(t.Context())
		require.ErrorContains(t, err, "the table is nil")
		_, err = gpu.NewHostTable(t.Context(), nil, gpuframe.HostTableOptions{})
		require.Error(t, err)
	})
}
