package expr_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// doubled returns an expression that has 2^60 parts if shared parts are counted each time.
func doubled(join func(x, y expr.Expr) expr.Expr, e expr.Expr) expr.Expr {
	for range 60 {
		e = join(e, e)
	}
	return e
}

func TestColumns(t *testing.T) {
	c := expr.Col("c")
	for e, want := range map[expr.Expr][]string{
		a:                                  {"a"},
		expr.Lit(1):                        nil,
		{}:                                 nil,
		b.Add(a).Gt(b).As("a name"):        {"b", "a"},
		a.Add(expr.Expr{}):                 {"a"},
		expr.If(c.IsNull(), a, b.Cast(i8)): {"c", "a", "b"},
		doubled(expr.Expr.Add, a):          {"a"},
	} {
		assert.Equal(t, want, e.Columns(), "%v", e)
	}
}

func TestWalk(t *testing.T) {
	sum := a.Add(expr.Lit(1))
	e := sum.Gt(b).And(sum.Lt(expr.Lit(9))).As("near")
	var all, above []string
	e.Walk(func(part expr.Expr) bool {
		all = append(all, part.Operation())
		return true
	})
	assert.Equal(t, []string{"as", "and", "greater", "add", "column", "literal", "column", "less", "literal"}, all, "the shared sum is visited once")
	e.Walk(func(part expr.Expr) bool {
		above = append(above, part.Operation())
		return part.Operation() != "greater"
	})
	assert.Equal(t, []string{"as", "and", "greater", "less", "add", "column", "literal", "literal"}, above)
	expr.Expr{}.Walk(func(expr.Expr) bool {
		t.Error("the zero Expr is visited")
		return true
	})
}

func TestParts(t *testing.T) {
	assert.True(t, expr.Expr{}.IsZero())
	assert.Empty(t, expr.Expr{}.Operation())
	assert.Nil(t, expr.Expr{}.Operands())
	assert.False(t, a.IsZero())
	sum := a.Add(expr.Lit(1))
	assert.Equal(t, a, sum.Operands()[0])
	name, ok := a.Column()
	assert.True(t, ok && name == "a")
	_, ok = a.As("x").Column()
	assert.False(t, ok, "a renamed column is not a column")
	value, ok := sum.Operands()[1].Literal()
	assert.True(t, ok)
	assert.Equal(t, 1, value)
	value, ok = expr.Null(i8).Literal()
	assert.True(t, ok && value == nil)
	_, ok = a.Literal()
	assert.False(t, ok)
}

func TestSubstitute(t *testing.T) {
	replaceColumn := func(name string, by expr.Expr) func(expr.Expr) (expr.Expr, bool) {
		return func(part expr.Expr) (expr.Expr, bool) {
			found, ok := part.Column()
			return by, ok && found == name
		}
	}
	e := a.Add(b).Gt(expr.Lit(3)).As("large")
	got := e.Substitute(replaceColumn("a", b.Mul(expr.Lit(2))))
	assert.Equal(t, "((b * 2) + b) > 3", got.String())
	assert.Equal(t, "large", got.Name(), "names stay")
	assert.Equal(t, "(a + b) > 3", e.String(), "the expression does not change")
	assert.Equal(t, e, e.Substitute(replaceColumn("c", b)), "nothing is replaced")
	assert.Equal(t, b, a.Substitute(replaceColumn("a", b)))
	assert.Equal(t, "cast(b as int8)", a.Cast(i8).Substitute(replaceColumn("a", b)).String(), "types stay")
	assert.True(t, expr.Expr{}.Substitute(replaceColumn("a", b)).IsZero())
	assert.Equal(t, "b + <none>", a.Add(expr.Expr{}).Substitute(replaceColumn("a", b)).String())

	// A replacement is not searched for more to replace.
	assert.Equal(t, "(a + 1) + b", a.Add(b).Substitute(replaceColumn("a", a.Add(expr.Lit(1)))).String())
	// A subtree.
	sum := a.Add(b)
	whole := sum.Mul(sum).Substitute(func(part expr.Expr) (expr.Expr, bool) { return expr.Col("s"), part == sum })
	assert.Equal(t, "s * s", whole.String())
	// Shared parts stay shared.
	calls := 0
	shared := doubled(expr.Expr.Add, a).Substitute(func(part expr.Expr) (expr.Expr, bool) {
		calls++
		name, _ := part.Column()
		return b, name == "a"
	})
	assert.Equal(t, 61, calls)
	assert.Len(t, exprtest.Program(t, schemaOf(i64, i64), shared).Nodes, 61)
}

func TestConjuncts(t *testing.T) {
	x, y, z := a.Gt(b), b.IsNull(), a.Eq(expr.Lit(1))
	for _, c := range []struct {
		e    expr.Expr
		want []expr.Expr
	}{
		{x, []expr.Expr{x}},
		{x.And(y).And(z), []expr.Expr{x, y, z}},
		{x.And(y.And(z)), []expr.Expr{x, y, z}},
		{x.And(y).As("named").And(z.As("too")).As("all"), []expr.Expr{x, y, z}},
		{x.And(y).And(x), []expr.Expr{x, y}},
		{x.AndStrict(y), []expr.Expr{x.AndStrict(y)}},
		{x.Or(y), []expr.Expr{x.Or(y)}},
		{doubled(expr.Expr.And, x), []expr.Expr{x}},
		{expr.Expr{}, nil},
	} {
		var want, got []string
		for _, e := range c.want {
			want = append(want, e.String())
		}
		for _, e := range c.e.Conjuncts() {
			got = append(got, e.String())
		}
		assert.Equal(t, want, got, "%v", c.e)
	}
}

// TestConjunctsJoined compares conditions with their conjuncts joined again, for all
// combinations of true, false and null.
func TestConjunctsJoined(t *testing.T) {
	var columns [3][]string
	for row := range 27 {
		for i := range columns {
			columns[i] = append(columns[i], []string{"true", "false", "null"}[row/[]int{1, 3, 9}[i]%3])
		}
	}
	var arrays []arrow.Array
	for _, values := range columns {
		arrays = append(arrays, fromJSON(t, boolean, "["+strings.Join(values, ", ")+"]"))
	}
	c := expr.Col("c")
	for _, e := range []expr.Expr{
		a.And(b).And(c), c.And(b.And(a)), a.And(b.Or(c)), a.And(b).AndStrict(c), a.And(c).And(a.And(b)), a.And(b.AndStrict(c)).As("x").And(a.Not()),
	} {
		joined := e.Conjuncts()[0]
		for _, conjunct := range e.Conjuncts()[1:] {
			joined = joined.And(conjunct)
		}
		want, got := onArrays(t, e, arrays...), onArrays(t, joined, arrays...)
		require.True(t, array.Equal(want, got), "%v: %v, %v", e, want, got)
	}
}

func TestType(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: i32}, {Name: "b", Type: i32, Nullable: true}, {Name: "f", Type: f64}, {Name: "d", Type: decimal(9, 2)},
		{Name: "s", Type: &arrow.DictionaryType{IndexType: i8, ValueType: text}}, {Name: "t", Type: arrow.FixedWidthTypes.Time32s}, {Name: "x", Type: text},
	}, nil)
	d, f, s, x := expr.Col("d"), expr.Col("f"), expr.Col("s"), expr.Col("x")
	for _, c := range []struct {
		e        expr.Expr
		of       arrow.DataType
		nullable bool
	}{
		{a, i32, false}, {b, i32, true}, {a.Add(a), i32, false}, {a.Add(b), i32, true},
		{a.Div(expr.Lit(2)), i32, false}, {a.Div(a), i32, true}, {a.Div(expr.Lit(0)), i32, true}, {f.Div(f), f64, false},
		{a.ShiftLeft(expr.Lit(3)), i32, false}, {a.ShiftLeft(a), i32, true},
		{b.IsNull(), boolean, false}, {expr.Hash(b), u64, false}, {b.FillNull(expr.Lit(0)), i32, false}, {b.FillNull(b), i32, true},
		{expr.Coalesce(b, a), i32, false}, {expr.Min(b, a), i32, false}, {expr.Max(b, b), i32, true},
		{expr.If(a.Gt(expr.Lit(0)), a, a.Neg()), i32, false}, {expr.If(b.Gt(expr.Lit(0)), a, a), i32, false}, {expr.If(a.Gt(expr.Lit(0)), a, b), i32, true},
		{a.Gt(b).And(expr.Lit(true)), boolean, true}, {a.Gt(a).And(f.IsNaN()), boolean, false},
		{a.Cast(i64), i64, false}, {a.Cast(i16), i16, true}, {a.CastWrap(i16), i16, false}, {a.Cast(u64), u64, true}, {a.Cast(f32), f32, false}, {f.Cast(i64), i64, true},
		{d.Add(d), decimal(10, 2), true}, {d.Lt(d), boolean, false}, {d.Cast(f64), f64, false},
		{x.Eq(expr.Lit("v")), boolean, false}, {s.Eq(expr.Lit("v")), boolean, true}, {s.IsNull(), boolean, false},
		{expr.Null(i8), i8, true}, {expr.Lit(1), i64, false},
	} {
		of, nullable, err := c.e.Type(schema)
		require.NoError(t, err, "%v", c.e)
		assert.Equal(t, c.of.String(), of.String(), "%v", c.e)
		assert.Equal(t, c.nullable, nullable, "%v", c.e)
	}
	_, _, err := expr.Col("foo").Add(a).Type(schema)
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorContains(t, err, `no column is called "foo": there are "`)
	_, bindErr := expr.Bind(schema, expr.Col("foo").Add(a))
	require.EqualError(t, err, bindErr.Error())
	_, _, err = a.Type(nil)
	require.ErrorIs(t, err, expr.ErrMissing)
}

// TestNotNullableHasNoNulls evaluates random expressions on columns with and without
// nulls: an expression that is not nullable gives no null.
func TestNotNullableHasNoNulls(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		c := exprtest.Draw(t, exprtest.Options{Strings: true})
		defer c.Release()
		fields := c.Schema.Fields()
		for i, in := range c.Arrays {
			fields[i].Nullable = in.NullN() > 0
		}
		schema := arrow.NewSchema(fields, nil)
		results, err := hosteval.Evaluate(context.Background(), c.Program, c.Inputs(), c.Rows)
		require.NoError(t, err)
		for i, e := range c.Expressions {
			_, nullable, err := e.Type(schema)
			require.NoError(t, err)
			if !nullable {
				require.Zero(t, results[i].NullN(), "%v of %v", e, schema)
			}
			results[i].Release()
		}
	})
}

func TestBound(t *testing.T) {
	schema := schemaOf(i32, i64, f32)
	bound, err := expr.Bind(schema, expr.Col("c").Add(a).As("sum"), a)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 2}, bound.Columns())
	assert.Equal(t, []string{"sum", "a"}, []string{bound.Schema().Field(0).Name, bound.Schema().Field(1).Name})
	assert.Equal(t, f32, bound.Schema().Field(0).Type)
	bound.Columns()[0] = 7
	assert.Equal(t, []int{0, 2}, bound.Columns(), "the result is a copy")
}

// TestOptimizeConcurrently uses one expression from several goroutines.
func TestOptimizeConcurrently(t *testing.T) {
	e := a.Gt(b).And(b.IsValid()).And(a.Lt(expr.Lit(7)))
	schema := schemaOf(i32, i64)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				assert.Len(t, e.Conjuncts(), 3)
				assert.Equal(t, []string{"a", "b"}, e.Columns())
				swapped := e.Substitute(func(part expr.Expr) (expr.Expr, bool) {
					name, _ := part.Column()
					return b, name == "a"
				})
				for _, each := range []expr.Expr{e, swapped} {
					_, _, err := each.Type(schema)
					assert.NoError(t, err)
				}
			}
		})
	}
	all.Wait()
}

func ExampleExpr_Conjuncts() {
	condition := expr.Col("delay").Gt(expr.Lit(15)).And(expr.Col("carrier").Eq(expr.Lit("AA"))).And(expr.Col("delay").Lt(expr.Col("limit")))
	for _, conjunct := range condition.Conjuncts() {
		fmt.Println(conjunct, conjunct.Columns())
	}
	// Output:
	// delay > 15 [delay]
	// carrier == "AA" [carrier]
	// delay < limit [delay limit]
}

// A filter above a projection becomes a filter below it.
func ExampleExpr_Substitute() {
	projected := map[string]expr.Expr{"hours": expr.Col("delay").Div(expr.Lit(60.0))}
	condition := expr.Col("hours").Gt(expr.Lit(2)).And(expr.Col("hours").IsValid())
	fmt.Println(condition.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		name, _ := part.Column()
		definition, ok := projected[name]
		return definition, ok
	}))
	// Output: ((delay / 60) > 2) and is_valid(delay / 60)
}

func ExampleExpr_Type() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int32}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	fmt.Println(expr.Col("delay").Div(expr.Lit(60.0)).Type(schema))
	fmt.Println(expr.Col("note").Eq(expr.Lit("x")).Type(schema))
	_, _, err := expr.Col("dely").Type(schema)
	fmt.Println(err)
	// Output:
	// float64 false <nil>
	// bool true <nil>
	// expr: dely: no column is called "dely": there are "delay", "note": schema mismatch
}
