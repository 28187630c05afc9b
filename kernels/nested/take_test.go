package nested_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// TestTake compares the elements at positions with a loop over the lists.
func TestTake(t *testing.T) {
	v := nested.DefaultVariables
	list, id, index := expr.Col("list"), expr.Col("id"), expr.Col(v.Index)
	one, two := expr.Lit(int64(1)), expr.Lit(int64(2))
	reversed := func(_ int, list []any) []any {
		if list == nil {
			return nil
		}
		positions := []any{}
		for i := range list {
			positions = append(positions, -1-i)
		}
		return positions
	}
	cases := []struct {
		positions expr.Expr
		want      func(row int, list []any) []any
	}{
		{nested.Eval(list, index.Neg().Sub(one), v), reversed},
		{nested.Sequence(id), func(row int, _ []any) []any {
			positions := []any{}
			for i := range row {
				positions = append(positions, i)
			}
			return positions
		}},
		{nested.Eval(nested.Sequence(expr.If(id.Mod(two).Eq(one), expr.Null(arrow.PrimitiveTypes.Int64), id)), expr.If(index.Eq(one), expr.Null(arrow.PrimitiveTypes.Int8), index.Sub(two).Cast(arrow.PrimitiveTypes.Int8)), v), func(row int, _ []any) []any {
			if row%2 == 1 {
				return nil
			}
			positions := []any{}
			for i := range row {
				if positions = append(positions, i-2); i == 1 {
					positions[i] = nil
				}
			}
			return positions
		}},
	}
	eachSample(t, append(elementTypes, arrow.ListOf(arrow.PrimitiveTypes.Int8)), func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		for _, each := range cases {
			values := evaluate(t, s.name, table, nested.Take(list, each.positions))
			got := listsOf(values)
			values.Release()
			require.Len(t, got, len(s.lists), s.name)
			for i, list := range s.lists {
				require.Equal(t, texts(elementsAt(list, each.want(i, list))), texts(got[i]), "%s, row %d of %v: %v", s.name, i, each.positions, texts(list))
			}
		}
	})
}

// elementsAt returns the elements at positions, or nil for nil.
func elementsAt(list, positions []any) []any {
	if positions == nil {
		return nil
	}
	elements := make([]any, len(positions))
	for i, position := range positions {
		at, ok := position.(int)
		if at < 0 {
			at += len(list)
		}
		if ok && at >= 0 && at < len(list) {
			elements[i] = list[at]
		}
	}
	return elements
}

// TestZipAndFlatten compares lists of structs, and lists without a level, with loops.
func TestZipAndFlatten(t *testing.T) {
	v := nested.DefaultVariables
	list, id, element, index := expr.Col("list"), expr.Col("id"), expr.Col(v.Element), expr.Col(v.Index)
	zipped := nested.Zip(list.As("first"), nested.Sequence(id).As("second"))
	ofLists := nested.Eval(list, nested.Sequence(expr.If(element.IsNull(), expr.Null(arrow.PrimitiveTypes.Int64), index)), v)
	eachSample(t, elementTypes, func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		columns := [][][]any{}
		for _, e := range []expr.Expr{nested.Eval(zipped, nested.Field(element, "first"), v), nested.Eval(zipped, nested.Field(element, "second"), v), nested.Flatten(ofLists)} {
			values := evaluate(t, s.name, table, e)
			columns = append(columns, listsOf(values))
			values.Release()
		}
		for i, list := range s.lists {
			var first, second, flat []any
			if list != nil {
				first, second, flat = []any{}, []any{}, []any{}
			}
			for at := range max(len(list), i) {
				if list == nil {
					break
				}
				var a, b any
				if at < len(list) {
					a = list[at]
				}
				if at < i {
					b = at
				}
				first, second = append(first, a), append(second, b)
			}
			for at, v := range list {
				for n := range at {
					if v != nil {
						flat = append(flat, n)
					}
				}
			}
			for j, want := range [][]any{first, second, flat} {
				require.Equal(t, texts(want), texts(columns[j][i]), "%s, row %d, result %d: %v", s.name, i, j, texts(list))
			}
		}
	})
}

func TestTakeErrors(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String)}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for want, e := range map[string]expr.Expr{
		"int64 is no list":                          nested.Take(expr.Col("list"), expr.Col("n")),
		"the positions are utf8, expected integers": nested.Take(nested.Sequence(expr.Col("n")), expr.Col("list")),
		"utf8 is no list":                           nested.Flatten(expr.Col("list")),
		"two fields are named":                      nested.Zip(expr.Col("list"), expr.Col("list")),
	} {
		_, _, err := e.Type(schema)
		require.ErrorContains(t, err, want)
	}
}
