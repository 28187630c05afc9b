package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// randomLogic returns some of the bools that random operations on the inputs give.
// Several operations have the same operands, because ptxas compiles these incorrectly;
// see combine.
func randomLogic(r *rand.Rand, inputs int) []*exprtree.Node {
	boolean := arrow.FixedWidthTypes.Boolean
	var nodes []*exprtree.Node
	for i := range inputs {
		nodes = append(nodes, input(i, boolean), node(exprtree.IsValid, boolean, input(i, boolean)))
	}
	operations := []exprtree.Op{exprtree.And, exprtree.Or, exprtree.AndStrict, exprtree.OrStrict, exprtree.Xor, exprtree.Not, exprtree.Coalesce, exprtree.Less}
	var x, y *exprtree.Node
	for range 4 + r.IntN(10) {
		if x == nil || r.IntN(3) > 0 {
			x, y = nodes[r.IntN(len(nodes))], nodes[r.IntN(len(nodes))]
		} else if r.IntN(2) == 0 {
			x, y = y, x
		}
		operation := operations[r.IntN(len(operations))]
		if operation == exprtree.Not {
			nodes = append(nodes, node(operation, boolean, x))
			continue
		}
		nodes = append(nodes, node(operation, boolean, x, y))
	}
	return nodes[len(nodes)-3:]
}

// TestRandomLogic compares combinations of bools with the host. With and.pred, or.pred
// and xor.pred about one kernel in sixty is wrong on a GPU.
func TestRandomLogic(t *testing.T) {
	const inputs, rows = 4, 700
	types := make([]arrow.DataType, inputs)
	for i := range types {
		types[i] = arrow.FixedWidthTypes.Boolean
	}
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		kernels := 400
		if devicetest.Emulated(dev) {
			kernels = 30
		}
		arrays := make([]arrow.Array, inputs)
		for i := range arrays {
			arrays[i] = newValues(uint64(i)).array(t, types[i], rows, 3)
		}
		for seed := range kernels {
			p := program(types, randomLogic(rand.New(rand.NewPCG(uint64(seed), 1)), inputs)...)
			t.Run(fmt.Sprint(seed), func(t *testing.T) { check(t, mgr, p, arrays, 0) })
			require.False(t, t.Failed(), "%v", p.Outputs)
		}
	})
}
