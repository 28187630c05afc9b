package nested_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// sample is a random column of lists, and its lists as Go values: nil for a null.
type sample struct {
	name  string
	lists [][]any
}

// eachSample runs a test on columns of lists of all kinds.
func eachSample(t *testing.T, elements []arrow.DataType, f func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(7)
		for _, of := range elements {
			for _, list := range []arrow.DataType{arrow.ListOf(of), arrow.LargeListOf(of), arrow.FixedSizeListOf(3, of), arrow.ListViewOf(of)} {
				first := of == elements[0] && list.ID() == arrow.LIST
				for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull} {
					for _, rows := range []int{0, 1, 70, 1500} {
						if rows > 70 && testing.Short() || !first && (rows > 70 || rows <= 1 && testing.Short() || nulls == arraytest.NoneNull) {
							continue
						}
						g.Nulls = nulls
						whole := g.Array(list, rows)
						c, in := columntest.UploadRows(t, mgr, whole, rows/5, rows-rows/7)
						s := sample{fmt.Sprintf("%v, %d rows, nulls %v", list, in.Len(), nulls), listsOf(in)}
						f(t, mgr, s, c)
						if in.Len() > 1 {
							kept := in.Len() / 2
							s.name, s.lists = s.name+", counted", s.lists[:kept]
							counted := columntest.WithRows(t, mgr, c, int64(kept))
							f(t, mgr, s, counted)
						}
						whole.Release()
					}
				}
			}
		}
	})
}

// listsOf returns the lists of an array as Go values.
func listsOf(a arrow.Array) [][]any {
	lists := make([][]any, a.Len())
	of := a.(array.ListLike)
	for i := range lists {
		if a.IsNull(i) {
			continue
		}
		lists[i] = []any{}
		start, end := of.ValueOffsets(i)
		for j := start; j < end; j++ {
			lists[i] = append(lists[i], cell(of.ListValues(), int(j)))
		}
	}
	return lists
}

// cell returns a value, or the text of one of a type without operations.
func cell(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	if _, isList := a.(array.ListLike); isList {
		return a.ValueStr(i)
	}
	return exprtest.Cell(a, i)
}

// tableOf makes a table of a column of lists and the numbers of the rows.
func tableOf(t *testing.T, mgr *memory.Manager, c *column.Column) *buffer.Buffer {
	t.Helper()
	ids := make([]int64, c.Len())
	for i := range ids {
		ids[i] = int64(i)
	}
	numbers := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int64, ids)
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "list", Type: c.Type(), Nullable: true}}
	made, err := buffer.New(arrow.NewSchema(fields, nil), []*column.Column{numbers, c}, buffer.Rows{Count: int64(c.Len()), Shared: c.RowCount()})
	require.NoError(t, err)
	return made
}

// evaluate returns the values of an expression of the column "list".
func evaluate(t *testing.T, name string, table *buffer.Buffer, e expr.Expr) arrow.Array {
	t.Helper()
	columns, err := expr.Evaluate(t.Context(), table, []expr.Expr{e})
	require.NoErrorf(t, err, "%s: %v", name, e)
	defer func() { require.NoError(t, columns[0].Release()) }()
	values, err := columns[0].Array(t.Context())
	require.NoError(t, err)
	return values
}

func text(v any) string {
	if f, ok := v.(float64); ok && math.IsNaN(f) {
		return "NaN"
	}
	return fmt.Sprint(v)
}

func texts(list []any) string {
	if list == nil {
		return "null"
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = text(v)
	}
	return "[" + strings.Join(parts, " ") + "]"
}

var elementTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
}

func TestExplode(t *testing.T) {
	eachSample(t, append(elementTypes, arrow.ListOf(arrow.PrimitiveTypes.Int8)), func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		for _, drop := range []bool{false, true} {
			var want []string
			for row, list := range s.lists {
				for i, v := range list {
					want = append(want, fmt.Sprint(row, " ", text(v), " ", i))
				}
				if len(list) == 0 && !drop {
					want = append(want, fmt.Sprint(row, " <nil> <nil>"))
				}
			}
			made, err := nested.Explode(t.Context(), table, []string{"list"}, nested.ExplodeOptions{DropEmpty: drop, Position: "position"})
			require.NoError(t, err, s.name)
			record := columntest.Fetch(t, made)
			var got []string
			for i := range int(record.NumRows()) {
				got = append(got, fmt.Sprint(cell(record.Column(0), i), " ", text(cell(record.Column(1), i)), " ", cell(record.Column(2), i)))
			}
			require.Equal(t, want, got, "%s, drop %v", s.name, drop)
		}
	})
}

func TestListsOfLists(t *testing.T) {
	eachSample(t, elementTypes, func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		list := expr.Col("list")
		for _, part := range [][2]int{{0, 2}, {1, 1000}, {-2, 1}, {-5, 4}, {math.MaxInt, math.MaxInt}, {0, 0}} {
			values := evaluate(t, s.name, table, nested.Slice(list, part[0], part[1]))
			got := listsOf(values)
			values.Release()
			for i, list := range s.lists {
				var want []any
				if list != nil {
					low := part[0]
					if low < 0 {
						low += len(list)
					}
					want = []any{}
					for j, v := range list {
						if j >= low && (part[1] > math.MaxInt-max(low, 0) || j < low+part[1]) {
							want = append(want, v)
						}
					}
				}
				if texts(want) != texts(got[i]) {
					t.Fatalf("%s, row %d, slice %v of %v: %v, want %v", s.name, i, part, texts(list), texts(got[i]), texts(want))
				}
			}
		}
		for _, options := range []nested.SortOptions{{}, {Descending: true, NullsFirst: true}} {
			values := evaluate(t, s.name, table, nested.Sort(list, options))
			got := listsOf(values)
			values.Release()
			for i, list := range s.lists {
				want := slices.Clone(list)
				sort.SliceStable(want, func(a, b int) bool {
					x, y := want[a], want[b]
					if x == nil || y == nil {
						return (x == nil) != (y == nil) && (x == nil) == options.NullsFirst
					}
					if options.Descending {
						return less(y, x)
					}
					return less(x, y)
				})
				if texts(want) != texts(got[i]) {
					t.Fatalf("%s, row %d, sort %v of %v: %v, want %v", s.name, i, options, texts(list), texts(got[i]), texts(want))
				}
			}
		}
	})
}

// less is the order of kernels/order.
func less(a, b any) bool {
	switch a := a.(type) {
	case int64:
		return a < b.(int64)
	case uint64:
		return a < b.(uint64)
	case float64:
		return a < b.(float64) || !math.IsNaN(a) && math.IsNaN(b.(float64))
	case bool:
		return !a && b.(bool)
	}
	return a.(string) < b.(string)
}

func TestValuesOfLists(t *testing.T) {
	eachSample(t, elementTypes, func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		list := expr.Col("list")
		check := func(e expr.Expr, model func(list []any) any) {
			values := evaluate(t, s.name, table, e)
			defer values.Release()
			require.Equal(t, len(s.lists), values.Len())
			for i, list := range s.lists {
				var want any
				if list != nil {
					want = model(list)
				}
				if got := cell(values, i); text(want) != text(got) {
					t.Fatalf("%s, row %d: %v of %v: %v, want %v", s.name, i, e, texts(list), got, want)
				}
			}
		}
		check(nested.Length(list), func(list []any) any { return len(list) })
		check(nested.Length(list).Add(nested.Length(list)).Mul(expr.Lit(2)), func(list []any) any { return 4 * len(list) })
		for _, index := range []int{0, 2, -1, -3} {
			check(nested.Get(list, index), func(list []any) any {
				at := index
				if at < 0 {
					at += len(list)
				}
				if at < 0 || at >= len(list) {
					return nil
				}
				return list[at]
			})
		}
		check(nested.Fold(list, nested.Count), func(list []any) any { return len(values(list)) })
		// A value that occurs, if there is one.
		for _, list := range s.lists {
			if v := values(list); len(v) > 0 && text(v[0]) != "NaN" {
				check(nested.Contains(expr.Col("list"), literal(v[0])), func(list []any) any { return slices.Contains(values(list), v[0]) })
				break
			}
		}
	})
}

// literal returns a value as a literal that fits a column of any width.
func literal(v any) any {
	if n, ok := v.(int64); ok {
		return int(n)
	}
	return v
}

// values returns the elements that are not null.
func values(list []any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == nil })
}

func TestFolds(t *testing.T) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean,
	}
	eachSample(t, types, func(t *testing.T, mgr *memory.Manager, s sample, c *column.Column) {
		table := tableOf(t, mgr, c)
		defer func() { require.NoError(t, table.Release()) }()
		list := expr.Col("list")
		functions := []nested.Function{nested.Sum, nested.Min, nested.Max, nested.Mean}
		element := c.Type().(arrow.ListLikeType).Elem()
		if element.ID() == arrow.BOOL {
			functions = []nested.Function{nested.Sum, nested.Min, nested.Max, nested.Any, nested.All}
		}
		for _, f := range functions {
			got := evaluate(t, s.name, table, nested.Fold(list, f))
			for i, list := range s.lists {
				if want, got := folded(f, values(list), element), cell(got, i); text(want) != text(got) {
					t.Fatalf("%s, row %d: %v of %v: %v, want %v", s.name, i, f, texts(list), got, want)
				}
			}
			got.Release()
		}
	})
}

// folded is a model of folds.
func folded(f nested.Function, list []any, of arrow.DataType) any {
	if len(list) == 0 {
		return nil
	}
	switch f {
	case nested.Any:
		return slices.Contains(list, any(true))
	case nested.All:
		return !slices.Contains(list, any(false))
	case nested.Min, nested.Max:
		numbers := slices.DeleteFunc(slices.Clone(list), func(v any) bool { return text(v) == "NaN" })
		if len(numbers) == 0 {
			return math.NaN()
		}
		best := numbers[0]
		for _, v := range numbers[1:] {
			if f == nested.Min && less(v, best) || f == nested.Max && less(best, v) {
				best = v
			}
		}
		return best
	}
	exact, real := new(big.Int), 0.0
	for _, v := range list {
		switch v := v.(type) {
		case int64:
			exact.Add(exact, big.NewInt(v))
		case uint64:
			exact.Add(exact, new(big.Int).SetUint64(v))
		case bool:
			if v {
				exact.Add(exact, big.NewInt(1))
			}
		case float64:
			real += v
		}
	}
	if !arrow.IsFloating(of.ID()) && f == nested.Mean {
		real, _ = new(big.Float).SetInt(exact).Float64()
	}
	if f == nested.Mean {
		return real / float64(len(list))
	}
	switch {
	case arrow.IsFloating(of.ID()):
		return real
	case arrow.IsSignedInteger(of.ID()) && !exact.IsInt64(), !arrow.IsSignedInteger(of.ID()) && !exact.IsUint64():
		return nil
	}
	return exact
}
