package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/text/textrows"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// TestLargeColumns compares functions that rewrite the bytes of large columns with
// package strings, with characters beyond 127 and without.
func TestLargeColumns(t *testing.T) {
	in, number := expr.Col("text"), property.Turn(t)
	for _, other := range []string{"", "é"} {
		rows := 0
		draw := func(r *rand.Rand) string {
			rows++
			text := strings.Repeat("gpuframe, Text ", r.IntN(160))
			if rows%500 == 0 {
				text += other
			}
			return text[r.IntN(len(text)+1):]
		}
		// Columns of an odd length have nulls.
		eachSample(t, []int{3000 + len(other)/2}, draw, func(t *testing.T, mgr *memory.Manager, s sample) {
			if testing.Short() && devicetest.Emulated(mgr.Device()) {
				t.Skip("the emulator takes 20 s for this text: at full sizes; package textrows has small sizes")
			}
			if number++; devicetest.Emulated(mgr.Device()) && number%3 != 0 {
				t.Skip("the emulator takes 6 s for each column: a third of them, others with the next seed")
			}
			require.Greater(t, s.column.Buffer(2).Len(), textrows.FewestBytes)
			for name, f := range map[string]struct {
				e     expr.Expr
				model func(string) string
			}{
				"upper": {in.Upper(), strings.ToUpper},
				"lower": {expr.Concat(in, expr.Lit("")).Lower(), strings.ToLower},
				"slice": {in.Substring(3, 32), func(text string) string {
					return string([]rune(text)[min(2, len([]rune(text))):min(34, len([]rune(text)))])
				}},
				"replace": {in.Replace(expr.Lit("frame,"), expr.Lit("table")), func(text string) string { return strings.ReplaceAll(text, "frame,", "table") }},
			} {
				got := evaluate(t, s.column, f.e)
				for i := range s.rows {
					require.Equal(t, s.null[i], got.IsNull(i))
					if !s.null[i] {
						require.Equal(t, f.model(s.texts[i]), bytesOf(got, i), "%s", name)
					}
				}
				got.Release()
			}
			for _, literal := range []string{"Text gpu", "g", "frame, Text gpuframe, Text gpu", "no such text"} {
				// The answer to the search is the result, and an operand.
				found := evaluate(t, s.column, in.Contains(expr.Lit(literal))).(*array.Boolean)
				longer := evaluate(t, s.column, in.Contains(expr.Lit(literal)).And(in.LengthBytes().Gt(expr.Lit(int64(900))))).(*array.Boolean)
				for i := range s.rows {
					require.Equal(t, s.null[i], found.IsNull(i))
					if !s.null[i] {
						require.Equal(t, strings.Contains(s.texts[i], literal), found.Value(i), literal)
						require.Equal(t, strings.Contains(s.texts[i], literal) && len(s.texts[i]) > 900, longer.Value(i), literal)
					}
				}
				found.Release()
				longer.Release()
			}
			got := evaluate(t, s.column, nested.Split(in, ", ")).(*array.List)
			for i := range s.rows {
				require.Equal(t, s.null[i], got.IsNull(i))
				if s.null[i] {
					continue
				}
				begin, end := got.ValueOffsets(i)
				for k, part := range strings.Split(s.texts[i], ", ") {
					require.Less(t, begin+int64(k), end)
					require.Equal(t, part, bytesOf(got.ListValues(), int(begin)+k))
				}
			}
			got.Release()
		})
	}
}
