package gpuframe_test

import (
	"context"
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

// A table in host memory is read by many queries. It takes a few bits for each value.
func ExampleEngine_NewHostTable() {
	gpu := hostEngine()
	defer gpu.Close()
	table, err := gpu.NewHostTable(context.Background(), numberedRecords(3, 100_000), gpuframe.HostTableOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Release()
	fmt.Println(table.NumRows(), "rows,", table.Bytes(0)*8/table.NumRows(), "and", table.Bytes(1)*8/table.NumRows(), "bits for each")
	show(gpu.HostTable(table).Filter(gpuframe.Col("n").Ge(200_000)).GroupBy(gpuframe.Col("rest")).Agg(gpuframe.Col("n").Max()).Sort(gpuframe.Col("rest")))
	// Output:
	// 300000 rows, 0 and 2 bits for each
	// rest,n
	// 0,299997
	// 1,299998
	// 2,299999
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
