package gpuframe_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
)

// TestCaseOfManyBranches compares choices by up to 1,000 conditions with a loop.
func TestCaseOfManyBranches(t *testing.T) {
	const rows = 3000
	record := counting(t, rows)
	id := gpuframe.Col("id")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, n := range []int64{1, 2, 63, 200, 1000} {
			numbers, texts, bools := gpuframe.Case(), gpuframe.Case(), gpuframe.Case()
			for i := range n {
				isChosen := id.Mod(n + 1).Eq(i)
				if i%7 == 3 {
					isChosen = gpuframe.If(id.Mod(n+1).Eq(i), true, nil) // null counts as false
				}
				value := any(i * i)
				if i%5 == 4 {
					value = nil
				}
				numbers, texts, bools = numbers.When(isChosen, value), texts.When(isChosen, fmt.Sprint("number ", i)), bools.When(isChosen, id.Mod(2).Eq(0))
			}
			got := cells(t, e.Records(nil, record).Select(id, numbers.Else(int64(-1)).As("n"), texts.Else(nil).As("t"), bools.Else(nil).As("b")))
			for row := range int64(rows) {
				branch := row % (n + 1)
				number, text, truth := any(branch*branch), any(fmt.Sprint("number ", branch)), any(row%2 == 0)
				switch {
				case branch == n:
					number, text, truth = int64(-1), nil, nil
				case branch%5 == 4:
					number = nil
				}
				require.Equal(t, []any{row, number, text, truth}, got[row], "row %d of %d branches", row, n)
			}
		}
	})
}

// TestCaseNulls tests the types of values without one and lists of operands that are no choice.
func TestCaseNulls(t *testing.T) {
	id := gpuframe.Col("id")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, counting(t, 3))
		small := id.Cast(arrow.PrimitiveTypes.Int16)
		chosen := q.Select(gpuframe.Case().When(id.Eq(0), nil).When(id.Eq(1), 7).Else(small).As("x"))
		schema, err := chosen.Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, arrow.INT16, schema.Field(0).Type.ID())
		require.Equal(t, [][]any{{nil}, {int64(7)}, {int64(2)}}, cells(t, chosen))
		require.Equal(t, [][]any{{int64(5)}, {int64(5)}, {int64(5)}}, cells(t, q.Select(gpuframe.Case().Else(int64(5)).As("x"))))
		for name, c := range map[string]struct {
			e       gpuframe.Expr
			message string
		}{
			"only nil":    {gpuframe.Case().When(id.Eq(0), nil).Else(nil), "nil has no type"},
			"even number": {gpuframe.CaseOf(id.Eq(0), 1, id.Eq(1), 2), "pairs of a condition and a value"},
			"one":         {gpuframe.CaseOf(id), "pairs of a condition and a value"},
			"condition":   {gpuframe.CaseOf(id.Eq(0), 1, id, 2, 3), "the condition is int64, it has to be a bool"},
			"types":       {gpuframe.CaseOf(id.Eq(0), 1, id.Eq(1), "a", 3), "if_else"},
		} {
			_, err := q.Select(c.e.As("x")).Schema(t.Context())
			require.ErrorContains(t, err, c.message, name)
			require.NotErrorIs(t, err, device.ErrNotSupported, name)
		}
	})
}

// BenchmarkCase plans and runs choices by many conditions.
func BenchmarkCase(b *testing.B) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(b, err)
	defer func() { require.NoError(b, e.Close()) }()
	const rows = 100_000
	frame, err := e.Records(nil, counting(b, rows)).Collect(b.Context())
	require.NoError(b, err)
	defer func() { require.NoError(b, frame.Release()) }()
	id := gpuframe.Col("id")
	for _, n := range []int{10, 100, 1000} {
		numbers, texts, equal, rest := gpuframe.Case(), gpuframe.Case(), gpuframe.Case(), id.Mod(int64(n))
		for i := range n {
			isBelow := id.Lt(int64(rows / n * i))
			numbers, texts, equal = numbers.When(isBelow, int64(i)), texts.When(isBelow, fmt.Sprint("value ", i)), equal.When(rest.Eq(int64(i)), int64(i))
		}
		for name, cases := range map[string]gpuframe.Cases{"number": numbers, "string": texts, "equal": equal} {
			q := frame.Query().Select(cases.Else(nil).As("x"))
			b.Run(fmt.Sprintf("plan/%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					_, err := q.Explain(b.Context())
					require.NoError(b, err)
				}
			})
			b.Run(fmt.Sprintf("run/%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					f, err := q.Collect(b.Context())
					require.NoError(b, err)
					require.NoError(b, f.Release())
				}
			})
		}
	}
}
