package nested_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// TestElements compares expressions on elements with loops over the lists.
func TestElements(t *testing.T) {
	v := nested.DefaultVariables
	list, id, element, index := expr.Col("list"), expr.Col("id"), expr.Col(v.Element), expr.Col(v.Index)
	keep := func(list []any, f func(i int, v any) bool) []any {
		if list == nil {
			return nil
		}
		kept := []any{}
		for i, v := range list {
			if f(i, v) {
				kept = append(kept, v)
			}
		}
		return kept
	}
	change := func(list []any, f func(i int, v any) any) []any {
		if list == nil {
			return nil
		}
		changed := []any{}
		for i, v := range list {
			changed = append(changed, f(i, v))
		}
		return changed
	}
	cases := []struct {
		e    expr.Expr
		want func(row int, list []any) []any
	}{
		{nested.Eval(list, element, v), func(_ int, list []any) []any { return list }},
		{nested.Eval(list, expr.Lit(int64(7)), v), func(_ int, list []any) []any { return change(list, func(int, any) any { return 7 }) }},
		{nested.Eval(list, index.Mul(expr.Lit(int64(10))).Add(id), v), func(row int, list []any) []any {
			return change(list, func(i int, _ any) any { return 10*i + row })
		}},
		{nested.Eval(list, expr.If(element.IsNull(), id.Mul(id).Neg(), id), v), func(row int, list []any) []any {
			return change(list, func(_ int, v any) any {
				if v == nil {
					return -row * row
				}
				return row
			})
		}},
		{nested.Filter(list, element.IsValid(), v), func(_ int, list []any) []any {
			return keep(list, func(_ int, v any) bool { return v != nil })
		}},
		{nested.Filter(list, index.Mod(expr.Lit(int64(3))).Eq(id.Mod(expr.Lit(int64(3)))), v), func(row int, list []any) []any {
			return keep(list, func(i int, _ any) bool { return i%3 == row%3 })
		}},
		{nested.Filter(list, id.Gt(expr.Lit(int64(4))), v), func(row int, list []any) []any {
			return keep(list, func(int, any) bool { return row > 4 })
		}},
		{nested.Filter(list, expr.Null(arrow.FixedWidthTypes.Boolean), v), func(_ int, list []any) []any {
			return keep(list, func(int, any) bool { return false })
		}},
		{nested.Eval(nested.Filter(list, element.IsNull(), v), index, v), func(_ int, list []any) []any {
			nulls := 0
			return change(keep(list, func(_ int, v any) bool { return v == nil }), func(int, any) any { nulls++; return nulls - 1 })
		}},
	}
	eachSample(t, append(elementTypes, arrow.ListOf(arrow.PrimitiveTypes.Int8)), func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		for _, each := range cases {
			values := evaluate(t, s.name, table, each.e)
			got := listsOf(values)
			values.Release()
			require.Len(t, got, len(s.lists), s.name)
			for i, list := range s.lists {
				require.Equal(t, texts(each.want(i, list)), texts(got[i]), "%s, row %d of %v: %v", s.name, i, each.e, texts(list))
			}
		}
	})
}

// TestElementsOfElements has expressions on elements within each other.
func TestElementsOfElements(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c := uploadJSON(t, mgr, arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int64)), `[[[1, 2], [], null], null, [], [[3, null]]]`)
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		outer, inner := nested.Variables{Element: "x", Index: "i"}, nested.Variables{Element: "y", Index: "j"}
		for _, each := range []struct {
			e    expr.Expr
			want string
		}{
			{nested.Eval(expr.Col("x"), expr.Col("y").Mul(expr.Lit(int64(10))).Add(expr.Col("i")).Add(expr.Col("id")), inner), "[[[10,20],[],null],null,[],[[33,null]]]"},
			{nested.Filter(expr.Col("x"), expr.Col("y").Gt(expr.Col("j").Add(expr.Lit(int64(1)))), inner), "[[[],[],null],null,[],[[3]]]"},
			{nested.Eval(expr.Col("x"), nested.Fold(expr.Col("x"), nested.Sum).Sub(expr.Col("y")), inner), "[[[2,1],[],null],null,[],[[0,null]]]"},
			{nested.Length(expr.Col("x")), "[[2,0,null],null,[],[2]]"},
		} {
			values := evaluate(t, "", table, nested.Eval(expr.Col("list"), each.e, outer))
			text, err := values.MarshalJSON()
			compact := strings.ReplaceAll(string(text), "\n", "")
			values.Release()
			require.NoError(t, err)
			require.Equal(t, each.want, compact, each.e)
		}
	})
}

func TestElementsErrors(t *testing.T) {
	v := nested.DefaultVariables
	list, element := expr.Col("list"), expr.Col(v.Element)
	schema := arrow.NewSchema([]arrow.Field{{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{nested.Eval(expr.Col("n"), element, v), "int64 is no list"},
		{nested.Filter(list, element, v), "the condition on elements is int64, expected a bool"},
		{nested.Eval(list, element.Upper(), v), "element()"},
		{nested.Eval(list, element.Add(expr.Col("missing")), v), "missing"},
		{element.Add(expr.Lit(int64(1))), "element()"},
	} {
		_, _, err := c.e.Type(schema)
		require.ErrorContains(t, err, c.want, fmt.Sprint(c.e))
	}
	a, b := nested.Eval(list, element.Add(expr.Lit(int64(1))), v), nested.Eval(list, element.Add(expr.Lit(int64(1))), v)
	require.True(t, a.Same(b))
	require.Equal(t, a.Fingerprint(), b.Fingerprint())
	require.False(t, a.Same(nested.Eval(list, element.Add(expr.Lit(int64(2))), v)))
	require.False(t, a.Same(nested.Filter(list, element.Add(expr.Lit(int64(1))), v)))
	require.Equal(t, []string{"list", "n"}, nested.Eval(list, element.Add(expr.Col("n")), v).Columns())
}

// uploadJSON returns a column of values in JSON.
func uploadJSON(t *testing.T, mgr *memory.Manager, of arrow.DataType, text string) *column.Column {
	t.Helper()
	values, _, err := array.FromJSON(arrowmemory.DefaultAllocator, of, strings.NewReader(text))
	require.NoError(t, err)
	defer values.Release()
	c, _ := columntest.UploadRows(t, mgr, values, 0, values.Len())
	return c
}
