package nested_test

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// orders is a table with a list, a struct and a map.
func orders(t testing.TB) arrow.Record {
	item := arrow.StructOf(arrow.Field{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "price", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "prices", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "names", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "item", Type: item, Nullable: true},
		{Name: "tags", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[
		{"id": 1, "prices": [3, 1, null], "names": ["c", "a", null], "item": {"name": "pen", "price": 2}, "tags": [{"key": "a", "value": 1}, {"key": "b", "value": 2}]},
		{"id": 2, "prices": null, "names": [], "item": null, "tags": null},
		{"id": 3, "prices": [7], "names": ["x"], "item": {"name": null, "price": 5}, "tags": [{"key": "b", "value": null}]},
		{"id": 4, "prices": [], "names": null, "item": {"name": "ink", "price": null}, "tags": []},
		{"id": 5, "prices": [4, 4], "names": ["d", "d"], "item": {"name": "cap", "price": 9}, "tags": [{"key": "c", "value": 3}, {"key": "b", "value": 4}]}
	]`))
	require.NoError(t, err)
	t.Cleanup(record.Release)
	return record
}

// lines returns the rows of a table, which it releases, as text.
func lines(t testing.TB, table *buffer.Buffer) []string {
	record := columntest.Fetch(t, table)
	made := make([]string, record.NumRows())
	for i := range made {
		values := make([]string, record.NumCols())
		for j, c := range record.Columns() {
			values[j] = c.ValueStr(i)
		}
		made[i] = strings.Join(values, " ")
	}
	return made
}

func TestStructsAndMaps(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := orders(t)
		record := whole.NewSlice(1, 5)
		defer record.Release()
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		for _, c := range []struct {
			e    expr.Expr
			want []string
		}{
			{nested.Field(expr.Col("item"), "name"), []string{"(null)", "(null)", "ink", "cap"}},
			{nested.Field(expr.Col("item"), "price").Add(expr.Col("id")), []string{"(null)", "8", "(null)", "14"}},
			{nested.Lookup(expr.Col("tags"), "b"), []string{"(null)", "(null)", "(null)", "4"}},
			{nested.Lookup(expr.Col("tags"), "c"), []string{"(null)", "(null)", "(null)", "3"}},
			{nested.Field(nested.Struct(expr.Col("id"), expr.Col("id").Mul(expr.Lit(2)).As("twice")), "twice"), []string{"4", "6", "8", "10"}},
			{nested.Contains(expr.Col("names"), "d"), []string{"false", "false", "(null)", "true"}},
			{nested.Get(nested.Sort(expr.Col("prices"), nested.SortOptions{}), 0), []string{"(null)", "7", "(null)", "4"}},
		} {
			made, err := expr.Project(t.Context(), table, []expr.Expr{c.e})
			require.NoError(t, err)
			require.Equal(t, c.want, lines(t, made), c.e)
		}

		// Filters and aggregates run the operators first.
		many := nested.Length(expr.Col("prices")).Gt(expr.Lit(0))
		kept, err := selection.FilterSelect(t.Context(), table, many, []string{"id"})
		require.NoError(t, err)
		require.Equal(t, []string{"3", "5"}, lines(t, kept))
		sums, err := reduce.Table(t.Context(), table, []reduce.Aggregate{
			reduce.Sum(nested.Fold(expr.Col("prices"), nested.Sum)), reduce.CountAll().Where(many),
		})
		require.NoError(t, err)
		require.Equal(t, []string{"15 2"}, lines(t, sums))
	})
}

func TestExplodeSeveral(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table, err := buffer.FromRecord(mgr, orders(t))
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		part, err := table.Select("id", "prices", "names")
		require.NoError(t, err)
		defer func() { require.NoError(t, part.Release()) }()
		made, err := nested.Explode(t.Context(), part, []string{"names", "prices"})
		require.NoError(t, err)
		require.Equal(t, []string{
			"1 3 c", "1 1 a", "1 (null) (null)", "2 (null) (null)", "3 7 x", "4 (null) (null)", "5 4 d", "5 4 d",
		}, lines(t, made))
		made, err = nested.Explode(t.Context(), part, []string{"prices", "names"}, nested.ExplodeOptions{DropEmpty: true, Position: "at"})
		require.NoError(t, err)
		require.Equal(t, []string{"1 3 c 0", "1 1 a 1", "1 (null) (null) 2", "3 7 x 0", "5 4 d 0", "5 4 d 1"}, lines(t, made))

		_, err = nested.Explode(t.Context(), table, []string{"prices", "tags"})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, `the lists of 1 rows have different numbers of elements`)
	})
}

func TestRefused(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	table, err := buffer.FromRecord(mgr, orders(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	for want, columns := range map[string][]string{
		"no column is given":               nil,
		`0 columns are called "nowhere"`:   {"nowhere"},
		"int64 is no list":                 {"id"},
		`column "prices" is given twice`:   {"prices", "prices"},
		"explode [\"id\" \"prices\"]: col": {"id", "prices"},
	} {
		_, err := nested.Explode(t.Context(), table, columns)
		require.ErrorContains(t, err, want)
	}
	for want, e := range map[string]expr.Expr{
		"list_length(id): int64 is no list":   nested.Length(expr.Col("id")),
		"no sum of lists of utf8":             nested.Fold(expr.Col("names"), nested.Sum),
		"cannot compare int64 with utf8":      nested.Contains(expr.Col("prices"), "a"),
		`no field is called "colour"`:         nested.Field(expr.Col("item"), "colour"),
		"is no map":                           nested.Lookup(expr.Col("names"), "a"),
		"at most -1 elements":                 nested.Slice(expr.Col("names"), 0, -1),
		`two fields are named "id"`:           nested.Struct(expr.Col("id"), expr.Col("id")),
		"no column is called \"nowhere\"":     nested.Length(expr.Col("nowhere")),
		"Function(77) is no function of list": nested.Fold(expr.Col("prices"), 77),
	} {
		_, err := expr.Evaluate(t.Context(), table, []expr.Expr{e.IsNull()})
		require.ErrorContains(t, err, want)
	}
	_, err = kernels.EstimateOf(func(o kernels.Options) (*buffer.Buffer, error) {
		return expr.Project(t.Context(), table, []expr.Expr{nested.Length(expr.Col("names"))}, o)
	})
	require.ErrorIs(t, err, device.ErrNotSupported)
}

// TestAllocationsFail fails each allocation of all functions. Nothing stays in use.
func TestAllocationsFail(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
		table, err := buffer.FromRecord(mgr, orders(t))
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		prices, item := expr.Col("prices"), expr.Col("item")
		functions := []expr.Expr{
			nested.Length(prices), nested.Get(prices, 1), nested.Slice(prices, 0, 1), nested.Contains(prices, 3), nested.Sort(prices, nested.SortOptions{}),
			nested.Fold(prices, nested.Max), nested.Field(item, "name"), nested.Struct(prices, item), nested.Lookup(expr.Col("tags"), "b"),
		}
		runs := map[string]func(context.Context) (*buffer.Buffer, error){
			"explode": func(ctx context.Context) (*buffer.Buffer, error) {
				return nested.Explode(ctx, table, []string{"prices"}, nested.ExplodeOptions{Position: "at"})
			},
		}
		for _, e := range functions {
			runs[e.String()] = func(ctx context.Context) (*buffer.Buffer, error) { return expr.Project(ctx, table, []expr.Expr{e}) }
		}
		held := mgr.Stats().InUse
		for name, run := range runs {
			for nth := uint64(1); ; nth++ {
				fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}})
				made, err := run(t.Context())
				fault.Arm(adaptor.FaultOptions{})
				if err == nil {
					require.NoError(t, made.Release())
					break
				}
				require.ErrorIs(t, err, device.ErrOutOfMemory, name)
				require.Equal(t, held, mgr.Stats().InUse, name)
			}
		}
	})
}

func TestBoundColumns(t *testing.T) {
	schema := orders(t).Schema()
	bound, err := expr.Bind(schema, expr.Col("id").Add(nested.Length(expr.Col("names"))), nested.Get(nested.Slice(expr.Col("prices"), 1, 1), 0))
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2}, bound.Columns())
	require.Equal(t, "id + list_length(names)", bound.Schema().Field(0).Name)
	same := nested.Get(expr.Col("prices"), 1)
	require.True(t, same.Same(nested.Get(expr.Col("prices"), 1)))
	require.False(t, same.Same(nested.Get(expr.Col("prices"), 2)))
}
