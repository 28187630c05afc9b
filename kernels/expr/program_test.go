package expr_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// TestKeyIsTheShape checks that programs differ in their keys where their code has to
// differ, and only there.
func TestKeyIsTheShape(t *testing.T) {
	key := func(schema *arrow.Schema, expressions ...expr.Expr) string {
		return exprtest.Program(t, schema, expressions...).Key
	}
	numbers := schemaOf(i32, i32, f32, text)
	plus := key(numbers, a.Add(expr.Lit(1)))
	require.Equal(t, plus, key(numbers, b.Add(expr.Lit(2))))
	require.Equal(t, plus, key(numbers, b.Add(expr.Lit(2)).As("sum")))
	require.Equal(t, key(numbers, a.Gt(expr.Lit(1)).And(b.Lt(expr.Lit(1)))), key(numbers, a.Gt(expr.Lit(1)).And(b.Lt(expr.Lit(7)))))
	require.Equal(t, key(schemaOf(stamp(second, "UTC")), a.Year()), key(schemaOf(stamp(second, "")), a.Year()))
	c, d := expr.Col("c"), expr.Col("d")
	require.Equal(t, key(numbers, d.Eq(expr.Lit("x"))), key(numbers, d.Eq(expr.Lit("longer"))))
	differ := []string{
		plus,
		key(numbers, a.Add(b)),
		key(numbers, a.Add(a)),
		key(numbers, a.Sub(expr.Lit(1))),
		key(numbers, c.Add(expr.Lit(1))),
		key(numbers, a.Add(expr.Lit(int64(1)))),
		key(numbers, a.Add(expr.Null(i32))),
		key(numbers, a.Add(expr.Lit(1)), b),
		key(numbers, a.Add(b).Mul(b)),
		key(numbers, a.Add(b.Mul(b))),
		key(numbers, d.Eq(expr.Lit("x"))),
		key(schemaOf(arrow.BinaryTypes.LargeString), a.Eq(expr.Lit("x"))),
		key(schemaOf(stamp(second, "")), a.Year()),
		key(schemaOf(stamp(millisecond, "")), a.Year()),
		key(schemaOf(decimal(9, 2)), a.Cast(i32)),
		key(schemaOf(decimal(9, 3)), a.Cast(i32)),
	}
	for i := range differ {
		for j := range i {
			require.NotEqual(t, differ[i], differ[j])
		}
	}
}

func TestCommonPartsAreOneNode(t *testing.T) {
	schema := schemaOf(i32, i64)
	program := exprtest.Program(t, schema, a.Mul(b).Add(a.Mul(b)), a.Mul(b), b.Neg())
	require.Same(t, program.Outputs[0].Arguments[0], program.Outputs[0].Arguments[1])
	require.Same(t, program.Outputs[0].Arguments[0], program.Outputs[1])
	require.Equal(t, []int{0, 1}, program.Inputs)
	require.Len(t, program.Nodes, 6, "two columns, cast, product, sum, negation")
	for i, n := range program.Nodes {
		for _, argument := range n.Arguments {
			require.Contains(t, program.Nodes[:i], argument)
		}
	}

	shared := a.Add(expr.Lit(1))
	require.Len(t, exprtest.Program(t, schema, shared.Mul(shared)).Literals, 1)
}

func TestBindIsKept(t *testing.T) {
	schema, other := schemaOf(i32, i64), schemaOf(i64, i64)
	e := a.Add(b)
	first, err := expr.Bind(schema, e, b)
	require.NoError(t, err)
	second, err := expr.Bind(schema, e, b)
	require.NoError(t, err)
	require.Same(t, first, second)
	for _, differs := range []func() (*expr.Bound, error){
		func() (*expr.Bound, error) { return expr.Bind(other, e, b) },
		func() (*expr.Bound, error) { return expr.Bind(schema, e) },
		func() (*expr.Bound, error) { return expr.Bind(schema, e, a) },
	} {
		third, err := differs()
		require.NoError(t, err)
		require.NotSame(t, first, third)
	}
	require.Zero(t, allocations.PerRun(func() { _, _ = expr.Bind(schema, e, b) }))
}

func BenchmarkBindAgain(bench *testing.B) {
	schema := schemaOf(i32, i64)
	e := a.Add(b).Gt(expr.Lit(3))
	for bench.Loop() {
		if _, err := expr.Bind(schema, e); err != nil {
			bench.Fatal(err)
		}
	}
}

func BenchmarkBindAnew(bench *testing.B) {
	schema := schemaOf(i32, i64)
	for bench.Loop() {
		if _, err := expr.Bind(schema, a.Add(b).Gt(expr.Lit(3))); err != nil {
			bench.Fatal(err)
		}
	}
}
