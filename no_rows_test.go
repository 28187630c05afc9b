package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestListsOfNoRows checks that the first list of no rows is null, as DuckDB has it, and that a list of no values is empty.
func TestListsOfNoRows(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	l, v := gpuframe.Col("L"), gpuframe.Col("V")
	frame, err := gpuframe.From(e, []aloneRow{}).Select(l.First().As("a"), l.Last().As("b"), l.Min().As("c"), l.AnyValue().As("d"), v.List().As("e"), v.Largest(2).As("f")).Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, frame.Release()) }()
	record, err := frame.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	for i, null := range []bool{true, true, true, true, false, false} {
		require.Equal(t, null, record.Column(i).IsNull(0), record.ColumnName(i))
	}
}
