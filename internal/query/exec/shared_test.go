package exec_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// counted counts how often a source is opened.
type counted struct {
	source.Source
	opened *int
}

// Open implements source.Source.
func (c counted) Open(ctx context.Context, m *memory.Manager, request source.Request) (buffer.Reader, error) {
	*c.opened++
	return c.Source.Open(ctx, m, request)
}

// numbers is a scan of the integers below n in batches of two, and the number of times that
// it was opened.
func numbers(t *testing.T, n int32) (scan plan.Node, opened *int) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int32Builder).Append(i)
	}
	record := b.NewRecord()
	t.Cleanup(record.Release)
	of, err := source.Records(schema, record)
	require.NoError(t, err)
	opened = new(int)
	made, err := plan.NewScan(counted{of, opened}, schema, int64(n), true)
	require.NoError(t, err)
	return made, opened
}

func settingsOn(t *testing.T) exec.Settings {
	t.Helper()
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	spilling := &exec.Spilling{Manager: m}
	t.Cleanup(func() { require.NoError(t, spilling.Close()) })
	return exec.Settings{Manager: m, BatchRows: 2, Spilling: spilling}
}

// column reads the first column of a result.
func column(t *testing.T, n plan.Node, settings exec.Settings) (values []int32) {
	t.Helper()
	reader, err := exec.Open(t.Context(), n, settings)
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	table, err := exec.Collect(t.Context(), reader, settings)
	require.NoError(t, err)
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.NoError(t, table.Release())
	return append(values, record.Column(0).(*array.Int32).Int32Values()...)
}

func TestSharedNodesRunOnce(t *testing.T) {
	settings := settingsOn(t)
	scan, opened := numbers(t, 6)
	keys := []plan.JoinKey{{Left: expr.Col("n"), Right: expr.Col("n")}}
	joined, err := plan.NewJoin(scan, scan, plan.JoinOptions{Kind: join.Semi, Keys: keys})
	require.NoError(t, err)
	small, err := plan.NewFilter(joined, expr.Col("n").Lt(expr.Lit(2)))
	require.NoError(t, err)
	head, err := plan.NewSlice(joined, 0, 3)
	require.NoError(t, err)
	all, err := plan.NewUnion(joined, small, head, joined)
	require.NoError(t, err)
	require.Equal(t, []int32{0, 1, 2, 3, 4, 5, 0, 1, 0, 1, 2, 0, 1, 2, 3, 4, 5}, column(t, all, settings))
	require.Equal(t, 2, *opened, "once for each side of the join")
	again, err := plan.NewUnion(scan, scan)
	require.NoError(t, err)
	require.Len(t, column(t, again, settings), 12)
	require.Equal(t, 4, *opened, "a scan by itself is read again")
}

// TestSharedNodesAreClosed closes a query after its users have read different parts.
func TestSharedNodesAreClosed(t *testing.T) {
	settings := settingsOn(t)
	scan, _ := numbers(t, 8)
	keys := []plan.JoinKey{{Left: expr.Col("n"), Right: expr.Col("n")}}
	joined, err := plan.NewJoin(scan, scan, plan.JoinOptions{Kind: join.Semi, Keys: keys})
	require.NoError(t, err)
	all, err := plan.NewUnion(joined, joined)
	require.NoError(t, err)
	for read := range 8 {
		reader, err := exec.Open(t.Context(), all, settings)
		require.NoError(t, err)
		for range read {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			require.NoError(t, table.Release())
		}
		require.NoError(t, reader.Close())
		require.NoError(t, reader.Close())
		require.Zero(t, settings.Manager.Stats().InUse)
	}
}
