package arraybits_test

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arrays/arraybits"
)

func Example() {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.Append(0)
	zero := b.NewArray()
	b.Append(math.Copysign(0, -1))
	negative := b.NewArray()
	fmt.Println(array.Equal(zero, negative), arraybits.Equal(zero, negative))
	// Output: true false
}
