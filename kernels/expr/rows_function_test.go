package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// total is a function of several rows with a parameter that its text lacks.
type total struct{ parameter int }

func (total) Text(operands []expr.Expr) string {
	texts := make([]string, len(operands))
	for i, o := range operands {
		texts[i] = o.String()
	}
	return "total(" + strings.Join(texts, ", ") + ")"
}

// TestRowsFunctions reads, rewrites and refuses functions of several rows.
func TestRowsFunctions(t *testing.T) {
	a, b := expr.Col("a"), expr.Col("b")
	inner := expr.OfRows(total{1}, a)
	outer := expr.OfRows(total{2}, b.Add(inner), a)
	ratio := a.Div(outer).As("ratio")
	require.Equal(t, "a / `total(b + `total(a)`, a)`", ratio.String())
	require.Equal(t, "total(a)", inner.Name())
	require.Equal(t, []string{"a", "b"}, ratio.Columns())
	for e, reads := range map[expr.Expr]bool{{}: false, a: false, a.Add(b): false, inner: true, ratio: true, inner.IsNull().As("x"): true} {
		require.Equal(t, reads, e.ReadsRows(), "%v", e)
	}
	f, ok := outer.RowsFunction()
	require.True(t, ok)
	require.Equal(t, total{2}, f)
	_, ok = ratio.RowsFunction()
	require.False(t, ok)

	renamed := ratio.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		name, _ := part.Column()
		return expr.Col("c"), name == "a"
	})
	require.Equal(t, "c / `total(b + `total(c)`, c)`", renamed.String(), "the text is that of the new operands")

	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for _, e := range []expr.Expr{inner, ratio} {
		_, err := expr.Bind(schema, e)
		require.ErrorIs(t, err, expr.ErrType)
		require.ErrorContains(t, err, "is a function of several rows, which only a query computes")
		_, _, err = e.Type(schema)
		require.ErrorIs(t, err, expr.ErrType)
	}
}

// TestSubstitutionOfSeveral replaces parts that expressions share once, also from within its function.
func TestSubstitutionOfSeveral(t *testing.T) {
	shared := expr.OfRows(total{1}, expr.Col("a"))
	calls := map[string]int{}
	var s *expr.Substitution
	s = expr.NewSubstitution(func(part expr.Expr) (expr.Expr, bool) {
		calls[part.String()]++
		if _, ok := part.RowsFunction(); !ok {
			return part, false
		}
		operands := part.Operands()
		for i, o := range operands {
			operands[i] = s.Apply(o)
		}
		return expr.Col(fmt.Sprint("computed ", operands)), true
	})
	sum, function := s.Apply(shared.Add(expr.Lit(1))), s.Apply(expr.OfRows(total{2}, shared))
	require.Equal(t, "`computed [a]` + 1", sum.String())
	require.Equal(t, "`computed [`computed [a]`]`", function.String())
	require.Equal(t, 1, calls["`total(a)`"])
	require.True(t, s.Apply(expr.Expr{}).IsZero())
}
