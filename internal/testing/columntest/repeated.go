package columntest

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// Repeated returns an array of n elements drawn from a few values of a type.
func Repeated(t testing.TB, g *arraytest.Generator, dataType arrow.DataType, few, n int) arrow.Array {
	t.Helper()
	pool := g.Array(dataType, few)
	defer pool.Release()
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(g.IntN(few))
	}
	indices := array.NewInt32Builder(compute.GetAllocator(t.Context()))
	defer indices.Release()
	indices.AppendValues(at, nil)
	positions := indices.NewArray()
	defer positions.Release()
	values, err := compute.TakeArray(t.Context(), pool, positions)
	require.NoError(t, err)
	t.Cleanup(values.Release)
	return values
}

// Null is the text of a null.
const Null = "(null)"

// Texts returns the elements as strings that are equal if the values are.
func Texts(values arrow.Array) []string {
	texts := make([]string, values.Len())
	for i := range texts {
		switch text := values.ValueStr(i); {
		case values.IsNull(i):
			texts[i] = Null
		case text == "-0":
			texts[i] = "0"
		default:
			texts[i] = text
		}
	}
	return texts
}

// Distinct returns the distinct values in the order of their first occurrence, and the
// count of each.
func Distinct(values []string) (order []string, counts map[string]int64) {
	counts = map[string]int64{}
	for _, value := range values {
		if counts[value] == 0 {
			order = append(order, value)
		}
		counts[value]++
	}
	return order, counts
}
