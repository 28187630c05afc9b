package expr_test

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

var ctx = context.Background()

func fromJSON(t testing.TB, dataType arrow.DataType, json string) arrow.Array {
	made, _, err := array.FromJSON(arrowmemory.DefaultAllocator, dataType, strings.NewReader(json))
	require.NoError(t, err)
	return made
}

// tableOf makes a table of columns a, b and so on until the end of the test.
func tableOf(t testing.TB, mgr *memory.Manager, arrays ...arrow.Array) *buffer.Buffer {
	types := make([]arrow.DataType, len(arrays))
	for i, each := range arrays {
		types[i] = each.DataType()
	}
	table, err := buffer.FromRecord(mgr, array.NewRecord(schemaOf(types...), arrays, int64(arrays[0].Len())))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

func arrayOf(t testing.TB, c *column.Column) arrow.Array {
	made, err := c.Array(ctx)
	require.NoError(t, err)
	return made
}

// TestRandomTables runs random expressions on every device, over tables that begin
// anywhere in their columns, against the evaluation of arrays.
func TestRandomTables(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(t *rapid.T) {
			c := exprtest.Draw(t, exprtest.Options{Exact: true, Strings: true})
			defer c.Release()
			record := c.Record()
			defer record.Release()
			whole, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			defer func() { require.NoError(t, whole.Release()) }()
			first := rapid.IntRange(0, c.Rows).Draw(t, "first")
			rows := rapid.IntRange(0, c.Rows-first).Draw(t, "rows")
			table, err := whole.Slice(int64(first), int64(rows))
			require.NoError(t, err)
			defer func() { require.NoError(t, table.Release()) }()

			inputs := make([]arrow.Array, len(c.Program.Inputs))
			for i, input := range c.Inputs() {
				inputs[i] = array.NewSlice(input, int64(first), int64(first+rows))
				defer inputs[i].Release()
			}
			want, err := hosteval.Evaluate(ctx, c.Program, inputs, rows)
			require.NoError(t, err)
			got, err := expr.Evaluate(ctx, table, c.Expressions, kernels.Options{Manager: mgr})
			require.NoError(t, err)
			defer func() {
				for _, column := range got {
					require.NoError(t, column.Release())
				}
			}()
			for i, column := range got {
				t.Log(c.Expressions[i], inputs)
				fetched, err := column.Array(ctx)
				require.NoError(t, err)
				exprtest.Compare(t, want[i], fetched, 0)
			}
		})
	})
}

func TestColumnsPassThrough(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		lists := fromJSON(t, arrow.ListOf(i8), "[[1], null, [2, 3]]")
		table := tableOf(t, mgr, lists, fromJSON(t, i32, "[1, 2, null]"))
		got, err := expr.Evaluate(ctx, table, []expr.Expr{a, b.Neg(), b.As("other"), a.IsNull()})
		require.NoError(t, err)
		require.Same(t, table.Column(0), got[0])
		require.Same(t, table.Column(1), got[2])
		require.Equal(t, "[-1 -2 (null)]", arrayOf(t, got[1]).String())
		require.Equal(t, "[false true false]", arrayOf(t, got[3]).String())
		for _, c := range got {
			require.NoError(t, c.Release())
		}

		got, err = expr.Evaluate(ctx, table, nil)
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

func TestLiteralsAlone(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, fromJSON(t, i32, "[1, 2, null]"))
		projected, err := expr.Project(ctx, table, []expr.Expr{expr.Lit(7), expr.Null(boolean), expr.Lit(1).Add(expr.Lit(2)).As("sum")})
		require.NoError(t, err)
		record, err := projected.Record(ctx)
		require.NoError(t, err)
		require.Equal(t, "[7 7 7]", record.Column(0).String())
		require.Equal(t, "[(null) (null) (null)]", record.Column(1).String())
		require.Equal(t, "[3 3 3]", record.Column(2).String())
		require.Equal(t, []string{"7", "null of bool", "sum"}, []string{record.ColumnName(0), record.ColumnName(1), record.ColumnName(2)})
		require.NoError(t, projected.Release())
	})
}

// TestRowsOnTheDevice checks that results have no rows beyond the count, and that the count
// stays on the device.
func TestRowsOnTheDevice(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := tableOf(t, mgr, fromJSON(t, i32, "[1, 2, null, 4, 5]"), fromJSON(t, text, `["x", "y", "x", "z", "x"]`))
		for _, rows := range []int64{0, 3, 5} {
			count, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, count.Upload(ctx, nil, []int64{rows}))
			table, err := buffer.New(whole.Schema(), []*column.Column{whole.Column(0), whole.Column(1)}, buffer.Rows{Device: count})
			require.NoError(t, err)
			projected, err := expr.Project(ctx, table, []expr.Expr{a.Mul(expr.Lit(2)).As("twice"), b, b.Eq(expr.Lit("x")).As("is x")})
			require.NoError(t, err)
			require.EqualValues(t, 5, projected.Capacity())
			require.Equal(t, count.Pointer(), projected.DeviceRows().Pointer())
			record, err := projected.Record(ctx)
			require.NoError(t, err)
			require.Equal(t, rows, record.NumRows())
			for i, want := range []string{"[2 4 (null) 8 10]", `["x" "y" "x" "z" "x"]`, "[true false true false true]"} {
				all := strings.Fields(strings.Trim(want, "[]"))
				require.Equal(t, "["+strings.Join(all[:rows], " ")+"]", record.Column(i).String())
			}
			require.NoError(t, projected.Release())
			require.NoError(t, table.Release())
			require.NoError(t, count.Release())
		}
	})
}

func TestProjectKeepsWhatIsSaid(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	metadata := arrow.NewMetadata([]string{"source"}, []string{"test"})
	field := arrow.Field{Name: "a", Type: i32, Metadata: arrow.NewMetadata([]string{"unit"}, []string{"mi"})}
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{field}, &metadata), []arrow.Array{fromJSON(t, i32, "[1]")}, 1)
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	projected, err := expr.Project(ctx, table, []expr.Expr{a.As("x"), a.Add(expr.Lit(1))})
	require.NoError(t, err)
	require.Equal(t, metadata, projected.Schema().Metadata())
	require.Equal(t, arrow.Field{Name: "x", Type: i32, Metadata: field.Metadata}, projected.Schema().Field(0))
	require.Equal(t, arrow.Field{Name: "a + 1", Type: i32, Nullable: true}, projected.Schema().Field(1))
	again, err := expr.Project(ctx, projected, []expr.Expr{expr.Col("x").Neg()})
	require.NoError(t, err)
	require.NoError(t, again.Release())
	require.NoError(t, projected.Release())
	require.NoError(t, table.Release())
}

func TestEvaluateRefuses(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	table, err := buffer.FromRecord(mgr, array.NewRecord(schemaOf(i32), []arrow.Array{fromJSON(t, i32, "[1]")}, 1))
	require.NoError(t, err)
	_, err = expr.Evaluate(ctx, table, []expr.Expr{expr.Col("nobody")})
	require.ErrorIs(t, err, buffer.ErrSchema)
	ended, end := context.WithCancel(ctx)
	end()
	_, err = expr.Evaluate(ended, table, []expr.Expr{a, a.Neg()})
	require.ErrorIs(t, err, context.Canceled)
	_, err = expr.Evaluate(ctx, table, []expr.Expr{a}, kernels.Options{}, kernels.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = expr.Project(ctx, table, []expr.Expr{a}, kernels.Options{}, kernels.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.NoError(t, table.Release())
	_, err = expr.Evaluate(ctx, table, []expr.Expr{a})
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = expr.Project(ctx, nil, []expr.Expr{a})
	require.ErrorIs(t, err, memory.ErrReleased)
}
