package expr_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestText(t *testing.T) {
	c := expr.Col("two words")
	cases := map[string]expr.Expr{
		"a + b":                              a.Add(b),
		"(a + b) * 2":                        a.Add(b).Mul(expr.Lit(2)),
		"`two words` == \"x\"":               c.Eq(expr.Lit("x")),
		"fill_null(a, null of int8)":         a.FillNull(expr.Null(i8)),
		"if_else(a, clamp(b, 0, 1), <none>)": expr.If(a, b.Clamp(expr.Lit(0), expr.Lit(1)), expr.Expr{}),
		"cast(a as decimal(5, 2))":           a.Cast(decimal(5, 2)),
		"negate(a) and not(b)":               a.Neg().As("x").And(b.Not()),
		"1970-01-01T00:00:01Z":               expr.Lit(time.Unix(1, 0)),
		"3 of int8":                          expr.LitOf(i8, 3),
		`x"ab"`:                              expr.Lit([]byte("ab")),
	}
	for want, e := range cases {
		require.Equal(t, want, e.String())
		require.Equal(t, want, e.Name())
	}
	require.Equal(t, "x", a.As("x").Name())
	require.Equal(t, "two words", c.Name())
}

// TestSharedPartsAreCheap binds an expression that has 2^60 leaves as a tree.
func TestSharedPartsAreCheap(t *testing.T) {
	e := a
	for range 60 {
		e = e.Add(e)
	}
	require.Len(t, exprtest.Program(t, schemaOf(i64), e).Nodes, 61)
	require.True(t, strings.HasSuffix(e.String(), "…"))
	_, err := expr.Bind(schemaOf(text), e)
	require.ErrorIs(t, err, expr.ErrType)
	require.Less(t, len(err.Error()), 10_000)
}
