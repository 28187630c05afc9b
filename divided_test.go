package gpuframe_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestManyLiterals has more literals in one verb than the arguments of a kernel: in many outputs, and in nested choices.
func TestManyLiterals(t *testing.T) {
	values := []float64{0, 3, 250, 399}
	record := floatsByKey(t, values, []bool{true, true, true, false}, []int64{0, 3, 250, 999})
	k, x := gpuframe.Col("k"), gpuframe.Col("x")
	var wide []gpuframe.Key
	for i := range 100 {
		choice := gpuframe.Case().When(k.Eq(i), 3*i+1000).When(x.Gt(float64(i)+0.5), 7*i+5000)
		wide = append(wide, choice.Else(11*i+9000).As("c"+strconv.Itoa(i)))
	}
	const depth = 400
	number, text := gpuframe.Lit(-1), gpuframe.Lit("none")
	for i := depth - 1; i >= 0; i-- {
		number = gpuframe.If(k.Eq(i), 2*i+1000, number)
		text = gpuframe.If(k.Eq(i), "n"+strconv.Itoa(i), text)
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for row, got := range cells(t, e.Records(nil, record).Select(wide...)) {
			key := []int{0, 3, 250, 999}[row]
			for i, cell := range got {
				want := 11*i + 9000
				switch {
				case key == i:
					want = 3*i + 1000
				case row < 3 && values[row] > float64(i)+0.5:
					want = 7*i + 5000
				}
				require.EqualValues(t, want, cell, "row %d, column %d", row, i)
			}
		}
		nested := e.Records(nil, record).Select(number.As("number"), text.As("text"))
		require.Equal(t, [][]any{{int64(1000), "n0"}, {int64(1006), "n3"}, {int64(1500), "n250"}, {int64(-1), "none"}}, cells(t, nested))
	})
}
