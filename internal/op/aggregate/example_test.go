package aggregate_test

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/op/aggregate"
)

// Three rows on the host, the second of them excluded, merged with another partial.
func ExampleHost() {
	sum := aggregate.NewHost(aggregate.SumFloat, aggregate.Float64)
	rows := []uint64{math.Float64bits(1.5), math.Float64bits(100), math.Float64bits(2)}
	sum.Add(rows, nil, []bool{true, false, true}, 0)
	partial := sum.Partial()
	aggregate.MergeHost(aggregate.SumFloat, partial, []uint64{math.Float64bits(10)})
	fmt.Println(math.Float64frombits(partial[0]))
	// Output: 13.5
}
