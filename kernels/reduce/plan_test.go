package reduce

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
)

// TestManyRowsAreAddedInMoreBits checks the plan only, because no test can have more
// than 2³¹ rows: the sum of more 32-bit integers may overflow 64 bits.
func TestManyRowsAreAddedInMoreBits(t *testing.T) {
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32} {
		column := &exprtree.Node{Op: exprtree.Column, Type: kind}
		program := exprtree.NewProgram([]int{0}, []arrow.DataType{kind}, []*exprtree.Node{column})
		for _, function := range []function{sum, mean} {
			for rows, want := range map[int64]aggregate.Kind{1 << 31: aggregate.SumInteger, 1<<31 + 1: aggregate.SumWide} {
				p, err := newPlan(program, []wanted{{function: function, value: 0, where: -1}}, rows)
				require.NoError(t, err)
				require.Equal(t, want, p.states[p.results[0].first].kind)
				require.Equal(t, function == sum && want == aggregate.SumWide, p.results[0].finish == finishSum)
			}
		}
	}
}
