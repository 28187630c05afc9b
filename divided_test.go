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

// TestLongExpressions has more literals in one expression than the arguments of a kernel: of numbers, of a condition and of
// an aggregate.
func TestLongExpressions(t *testing.T) {
	values := []float64{0, 3, 250, 699}
	record := floatsByKey(t, values, []bool{true, true, true, false}, []int64{0, 3, 250, 999})
	k, x := gpuframe.Col("k"), gpuframe.Col("x")
	const terms = 700
	sum, condition := k.Mul(2), k.Eq(-1)
	for i := range terms {
		sum = sum.Add(k.Add(1000 + i).BitXor(3000 + i))
		condition = condition.Or(x.Gt(float64(i) - 0.25).And(x.Lt(float64(i) + 0.125).And(k.Ne(2*i + 5))))
	}
	var odd []any
	for i := range 1500 {
		odd = append(odd, 2*i+1)
	}
	total := func(key int64) (total int64) {
		total = 2 * key
		for i := range int64(terms) {
			total += (key + 1000 + i) ^ (3000 + i)
		}
		return total
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := e.Records(nil, record)
		require.Equal(t, [][]any{{total(0), true}, {total(3), true}, {total(250), true}, {total(999), nil}}, cells(t, rows.Select(sum.As("sum"), condition.As("c"))))
		require.Equal(t, [][]any{{int64(0)}, {int64(3)}, {int64(250)}}, cells(t, rows.Filter(condition).Select(k)))
		require.Equal(t, [][]any{{int64(3)}, {int64(999)}}, cells(t, rows.Filter(k.In(odd...)).Select(k)))
		require.Equal(t, [][]any{{total(0) + total(3) + total(250) + total(999)}}, cells(t, rows.GroupBy().Agg(sum.Sum().As("s"))))
		require.Equal(t, [][]any{{total(250), int64(1)}}, cells(t, rows.GroupBy(sum.As("key")).Agg(gpuframe.Count().As("n")).Filter(gpuframe.Col("key").Eq(total(250)))))
	})
}
