package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// only applies one pass and returns the plan: a line for each node, indented by depth.
func only(t *testing.T, pass string, n plan.Node) []string {
	t.Helper()
	others := slices.DeleteFunc(plan.Passes(), func(name string) bool { return name == pass })
	require.Less(t, len(others), len(plan.Passes()))
	made, err := plan.OptimizeWithout(t.Context(), n, nil, others...)
	require.NoError(t, err)
	return lines(made)
}

// lines describes a plan without sizes.
func lines(n plan.Node) []string {
	list := []string{n.String()}
	for _, input := range n.Inputs() {
		for _, line := range lines(input) {
			list = append(list, " "+line)
		}
	}
	return list
}

// table is a scan of a table: id int32, price float64, qty int64, city string and flag bool,
// of which id cannot be null. Names get a suffix.
func table(t *testing.T, suffix string) plan.Node {
	t.Helper()
	return ofRows(t, suffix, 1000)
}

// ofRows is a scan of such a table with a number of rows.
func ofRows(t *testing.T, suffix string, rows int64) plan.Node {
	t.Helper()
	fields := []arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int32},
		{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "qty", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}
	for i := range fields {
		fields[i].Name += suffix
	}
	of, err := source.Records(arrow.NewSchema(fields, nil))
	require.NoError(t, err)
	scan, err := plan.NewScan(of, arrow.NewSchema(fields, nil), rows, true)
	require.NoError(t, err)
	return scan
}

// builder makes plans; a constructor that fails ends the test.
type builder struct{ *testing.T }

func (b builder) node(n plan.Node, err error) plan.Node {
	b.Helper()
	require.NoError(b, err)
	return n
}

func (b builder) filter(n plan.Node, c expr.Expr) plan.Node {
	b.Helper()
	made, err := plan.NewFilter(n, c)
	return b.node(made, err)
}

func (b builder) project(n plan.Node, list ...expr.Expr) plan.Node {
	b.Helper()
	made, err := plan.NewProject(n, list...)
	return b.node(made, err)
}

func (b builder) sort(n plan.Node, limit int64, keys ...expr.Expr) plan.Node {
	b.Helper()
	list := make([]plan.SortKey, len(keys))
	for i, k := range keys {
		list[i].Value = k
	}
	made, err := plan.NewSort(n, list, limit)
	return b.node(made, err)
}

func (b builder) slice(n plan.Node, offset, length int64) plan.Node {
	b.Helper()
	made, err := plan.NewSlice(n, offset, length)
	return b.node(made, err)
}

func (b builder) union(inputs ...plan.Node) plan.Node {
	b.Helper()
	made, err := plan.NewUnion(inputs...)
	return b.node(made, err)
}

func (b builder) distinct(n plan.Node, columns ...string) plan.Node {
	b.Helper()
	return b.node(plan.NewDistinct(n, columns...))
}

func (b builder) join(left, right plan.Node, options plan.JoinOptions) plan.Node {
	b.Helper()
	made, err := plan.NewJoin(left, right, options)
	return b.node(made, err)
}

// sums are aggregations sum(column), named s_column.
func sums(columns ...string) []plan.Aggregation {
	list := make([]plan.Aggregation, len(columns))
	for i, name := range columns {
		list[i] = plan.Aggregation{Function: "sum", Values: []expr.Expr{expr.Col(name)}, Name: "s_" + name}
	}
	return list
}

func (b builder) aggregate(n plan.Node, keys []expr.Expr, list ...plan.Aggregation) plan.Node {
	b.Helper()
	made, err := plan.NewAggregate(n, keys, list, plan.GroupOptions{})
	return b.node(made, err)
}

func (b builder) window(n plan.Node, keys []expr.Expr, list ...plan.Aggregation) plan.Node {
	b.Helper()
	made, err := plan.NewOver(n, plan.WindowKeys{Partition: keys}, list)
	return b.node(made, err)
}

// over numbers the rows of partitions by id in the order of qty, as n, and adds up price, as
// s_price.
func (b builder) over(n plan.Node, low int64) plan.Node {
	b.Helper()
	return b.overOf(n, expr.Col("id"), low)
}

func (b builder) overOf(n plan.Node, key expr.Expr, low int64) plan.Node {
	b.Helper()
	made, err := plan.NewOver(n, plan.WindowKeys{Partition: []expr.Expr{key}, Order: []plan.SortKey{{Value: expr.Col("qty")}}}, []plan.Aggregation{
		{Function: "row_number", Name: "n"},
		{Function: "sum", Values: []expr.Expr{expr.Col("price")}, Frame: plan.Frame{Kind: plan.RowsFrame, Low: low}, Name: "s_price"},
	})
	return b.node(made, err)
}

func TestUnknownPass(t *testing.T) {
	_, err := plan.OptimizeWithout(t.Context(), table(t, ""), nil, "simplyfy")
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, `"simplify"`)
}

// compare runs one pass and compares the plans.
func compare(t *testing.T, pass string, cases map[string]struct {
	plan plan.Node
	want string
}) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, strings.Join(only(t, pass, c.plan), "\n"))
		})
	}
}
