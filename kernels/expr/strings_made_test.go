package expr_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// cellOf is nil for "null", as the arrays of textArray have it.
func cellOf(s string) any {
	if s == "null" {
		return nil
	}
	return s
}

// strict returns a function of strings that gives null for a null.
func strict(f func(x string) string) func(x, y string) any {
	return func(x, _ string) any {
		if x == "null" {
			return nil
		}
		return f(x)
	}
}

// TestMadeStringsAreGos compares strings that are made with package strings.
func TestMadeStringsAreGos(t *testing.T) {
	lit := func(s string) expr.Expr { return expr.Lit(s) }
	both := func(f func(x, y string) any) func(x, y string) any {
		return func(x, y string) any {
			if x == "null" || y == "null" {
				return nil
			}
			return f(x, y)
		}
	}
	extreme := func(least bool) func(x, y string) any {
		return func(x, y string) any {
			switch {
			case x == "null":
				return cellOf(y)
			case y == "null" || (x < y) == least:
				return x
			}
			return y
		}
	}
	cases := []struct {
		e    expr.Expr
		want func(x, y string) any
	}{
		{a.Substring(1, 2), strict(func(x string) string { return substring(x, 1, 2) })},
		{a.Substring(-3, 2), strict(func(x string) string { return substring(x, -3, 2) })},
		{a.Trim(), strict(strings.TrimSpace)},
		{a.Trim().Upper().Substring(2, 3), strict(func(x string) string { return substring(strings.ToUpper(strings.TrimSpace(x)), 2, 3) })},
		{a.Upper(), strict(strings.ToUpper)},
		{a.Lower(), strict(strings.ToLower)},
		{a.Reverse(), strict(func(x string) string {
			result := ""
			for _, r := range x {
				result = string(r) + result
			}
			return result
		})},
		{a.Replace(lit("ab"), lit("longer than it was")), strict(func(x string) string { return strings.ReplaceAll(x, "ab", "longer than it was") })},
		{a.Replace(lit("a"), lit("")), strict(func(x string) string { return strings.ReplaceAll(x, "a", "") })},
		{a.Replace(lit(""), lit("x")), strict(func(x string) string { return x })},
		{a.Capitalize(), strict(func(x string) string {
			_, width := utf8.DecodeRuneInString(x)
			return strings.ToUpper(x[:width]) + strings.ToLower(x[width:])
		})},
		{a.PadStart(7, '€'), strict(func(x string) string { return strings.Repeat("€", max(0, 7-utf8.RuneCountInString(x))) + x })},
		{a.PadEnd(5, '.'), strict(func(x string) string { return x + strings.Repeat(".", max(0, 5-utf8.RuneCountInString(x))) })},
		{a.TrimPrefix(lit("a")), strict(func(x string) string { return strings.TrimPrefix(x, "a") })},
		{b.TrimSuffix(lit("ab")), func(_, y string) any {
			return strict(func(x string) string { return strings.TrimSuffix(x, "ab") })(y, "")
		}},
		{a.SplitPart(lit("b"), 1), strict(func(x string) string { return strings.Split(x, "b")[0] })},
		{a.SplitPart(lit("a"), 3), func(x, _ string) any {
			if parts := strings.Split(x, "a"); x != "null" && len(parts) > 2 {
				return parts[2]
			}
			return nil
		}},
		{b.Count(lit("ab")), func(_, y string) any {
			if y == "null" {
				return nil
			}
			return int64(strings.Count(y, "ab"))
		}},
		{a.LengthBytes().Mul(expr.Lit(int64(-1234567890123))).Cast(text), strict(func(x string) string { return fmt.Sprint(int64(-1234567890123) * int64(len(x))) })},
		{a.Contains(lit("a")).Cast(text), strict(func(x string) string { return fmt.Sprint(strings.Contains(x, "a")) })},
		{a.Repeat(3), strict(func(x string) string { return strings.Repeat(x, 3) })},
		{a.Repeat(1), strict(func(x string) string { return x })},
		{a.Repeat(16), strict(func(x string) string { return strings.Repeat(x, 16) })},
		{a.Repeat(273).Upper().Repeat(2), strict(func(x string) string { return strings.Repeat(strings.ToUpper(x), 546) })},
		{a.Repeat(0), strict(func(string) string { return "" })},
		{expr.Concat(a, lit(", "), b), both(func(x, y string) any { return x + ", " + y })},
		{expr.Concat(a.Upper(), expr.Concat(b, lit("!")), a), both(func(x, y string) any { return strings.ToUpper(x) + y + "!" + x })},
		{expr.If(a.Contains(lit("a")), lit("has an a, and this is long"), b), func(x, y string) any {
			if x != "null" && strings.Contains(x, "a") {
				return "has an a, and this is long"
			}
			return cellOf(y)
		}},
		{expr.Coalesce(a, b, lit("none")), func(x, y string) any {
			switch {
			case x != "null":
				return x
			case y != "null":
				return y
			}
			return "none"
		}},
		{expr.Coalesce(a.Trim(), b).Lower(), func(x, y string) any {
			switch {
			case x != "null":
				return strings.ToLower(strings.TrimSpace(x))
			case y != "null":
				return strings.ToLower(y)
			}
			return nil
		}},
		{expr.Min(a, b), extreme(true)},
		{expr.Max(a, b), extreme(false)},
		{expr.Min(a, lit("b")), func(x, _ string) any { return extreme(true)(x, "b") }},
		{expr.Max(lit("a"), b, lit("b")), func(_, y string) any { return extreme(false)(y, "b") }},
		{lit("always"), func(x, y string) any { return "always" }},
		{expr.Null(text), func(x, y string) any { return nil }},
		// Strings that are made are operands.
		{a.Upper().Eq(lit("AB")), func(x, _ string) any {
			if x == "null" {
				return nil
			}
			return strings.ToUpper(x) == "AB"
		}},
		{expr.Concat(a, b).LengthBytes(), both(func(x, y string) any { return int64(len(x) + len(y)) })},
		{expr.If(a.IsNull(), lit("ab"), a).Contains(lit("ab")), func(x, _ string) any { return x == "null" || strings.Contains(x, "ab") }},
		{a.Lower().In("ab", "b"), func(x, _ string) any {
			if x == "null" {
				return nil
			}
			return strings.ToLower(x) == "ab" || strings.ToLower(x) == "b"
		}},
	}
	expressions := make([]expr.Expr, len(cases))
	for i, c := range cases {
		expressions[i] = c.e
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for round, rows := range []int{150, 1, 0, 1100} {
			if testing.Short() && rows > 1000 {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(round), 9))
			x, y := make([]string, rows), make([]string, rows)
			for i := range rows {
				x[i], y[i] = randomText(r, []int{3, 12}[i%2], false)+[]string{"", "ß", "İ", "ǅ", "K", "Ⱥ"}[r.IntN(6)], randomText(r, 20, false)
				if r.IntN(7) == 0 {
					x[i] = "null"
				}
				if r.IntN(5) == 0 {
					y[i] = "null"
				}
			}
			table := tableOf(t, mgr, textArray(t, textTypes[round%len(textTypes)], x), textArray(t, textTypes[(round+1)%len(textTypes)], y))
			got, err := expr.Evaluate(ctx, table, expressions)
			require.NoError(t, err)
			for i, c := range cases {
				cells := arrayOf(t, got[i])
				require.Equal(t, rows, cells.Len())
				for row := range rows {
					require.Equal(t, c.want(x[row], y[row]), exprtest.Cell(cells, row), "%v of %q and %q in row %d", c.e, x[row], y[row], row)
				}
				require.NoError(t, got[i].Release())
			}
		}
	})
}

// TestCasesOfAllCharacters changes the case of every character.
func TestCasesOfAllCharacters(t *testing.T) {
	var all []string
	for r := rune(0x80); r < 0x1e950; r += 7 {
		var some strings.Builder
		for c := r; c < r+7; c++ {
			if c < 0xd800 || c > 0xdfff {
				some.WriteRune(c)
			}
		}
		all = append(all, some.String())
	}
	if testing.Short() {
		all = all[:1200]
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, textArray(t, text, all))
		got, err := expr.Evaluate(ctx, table, []expr.Expr{a.Upper(), a.Lower()})
		require.NoError(t, err)
		upper, lower := arrayOf(t, got[0]), arrayOf(t, got[1])
		for i, s := range all {
			require.Equal(t, strings.ToUpper(s), exprtest.Cell(upper, i))
			require.Equal(t, strings.ToLower(s), exprtest.Cell(lower, i))
		}
		require.NoError(t, got[0].Release())
		require.NoError(t, got[1].Release())
	})
}

// TestInvalidTextIsMadeAlike compares the devices on bytes that are no UTF-8.
func TestInvalidTextIsMadeAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]string, 300)
	for i := range values {
		values[i] = randomText(r, 12, true)
	}
	array := textArray(t, arrow.BinaryTypes.Binary, values)
	expressions := []expr.Expr{a.Upper(), a.Lower(), a.Reverse(), a.Substring(2, 3), a.Substring(-2, 9), a.Trim(), a.Replace(expr.Lit("\x80"), expr.Lit("?"))}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, array)
		got, err := expr.Evaluate(ctx, table, expressions)
		require.NoError(t, err)
		program := exprtest.Program(t, table.Schema(), expressions...)
		for i, want := range exprtest.Model(program, []arrow.Array{array}, len(values)) {
			exprtest.CompareModel(t, want, arrayOf(t, got[i]), 0)
			require.NoError(t, got[i].Release())
		}
	})
}

// TestMadeStringsAreNotEstimated: their size depends on the data.
func TestMadeStringsAreNotEstimated(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, textArray(t, text, []string{"a", "b"}))
		_, err := kernels.EstimateOf(func(o kernels.Options) (*buffer.Buffer, error) {
			return expr.Project(ctx, table, []expr.Expr{a.Upper()}, o)
		})
		require.ErrorIs(t, err, device.ErrNotSupported)
	})
}

// TestMadeStringsOfCountedRows makes strings of a table whose number of rows only the
// device knows.
func TestMadeStringsOfCountedRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := tableOf(t, mgr, textArray(t, text, []string{"a", "null", "ab", "abc", "x"}))
		count, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, count.Upload(ctx, nil, []int64{3}))
		table, err := buffer.New(whole.Schema(), []*column.Column{whole.Column(0)}, buffer.Rows{Device: count})
		require.NoError(t, err)
		evaluated, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Concat(a, expr.Lit("!")), a.Upper().Eq(expr.Lit("AB")), a.Upper()})
		require.NoError(t, err)
		for i, want := range []string{`["a!" (null) "ab!"]`, "[false (null) true]", `["A" (null) "AB"]`} {
			require.Equal(t, want, arrayOf(t, evaluated[i]).String())
			require.NoError(t, evaluated[i].Release())
		}
		require.NoError(t, table.Release())
		require.NoError(t, count.Release())
	})
}

// TestOperatorsTakeMadeStrings filters and aggregates by strings that are made.
func TestOperatorsTakeMadeStrings(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, textArray(t, text, []string{"a", "null", "Ab", "aB", "x"}), fromJSON(t, i64, "[1, 2, 3, 4, 5]"))
		is := a.Upper().Eq(expr.Lit("AB"))
		kept, err := selection.Filter(ctx, table, is)
		require.NoError(t, err)
		record, err := kept.Record(ctx)
		require.NoError(t, err)
		require.Equal(t, "[3 4]", record.Column(1).String())
		require.NoError(t, kept.Release())
		sums, err := reduce.Scalars(ctx, table, []reduce.Aggregate{reduce.Sum(b).Where(is), reduce.Sum(expr.Concat(a, a).LengthBytes()), reduce.CountAll()})
		require.NoError(t, err)
		require.Equal(t, "[7 12 5]", fmt.Sprint(sums))
	})
}
