package gpuframe_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// A Go function computes a column. Rows with a null argument are left out of the slices, and their results are null.
func ExampleGoFunc1() {
	gpu := hostEngine()
	defer gpu.Close()
	vowels := gpuframe.GoFunc1("vowels", func(_ context.Context, words []string, counts []int64) error {
		for i, word := range words {
			for _, letter := range strings.ToLower(word) {
				if strings.ContainsRune("aeiou", letter) {
					counts[i]++
				}
			}
		}
		return nil
	}, gpuframe.Pure())
	q := gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("city"), vowels.Of(gpuframe.Col("city"))).Distinct()
	show(q)
	plan, err := q.Explain(context.Background())
	if err != nil {
		panic(err)
	}
	_, call, _ := strings.Cut(plan, "call Go")
	fmt.Println("call Go" + call[:strings.Index(call, "  ")])
	// Output:
	// city,vowels
	// Oslo,2
	// Bern,1
	// Rome,2
	// call Go function vowels(city), pure
}

// A CUDA kernel computes a column on the engine's stream. Its parameters are the results, the arguments and the number of
// rows. On a host engine the function in Host does. A test runs the kernel without a GPU on a device of package
// kernels/kerneltest, as gpuframe.Open(gpuframe.Device(kerneltest.Open(t).Name())).
func ExampleKernelFunc() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("city"), negate.Of(gpuframe.Col("qty").Cast(arrow.PrimitiveTypes.Int64))).Head(2))
	// Output:
	// city,negate
	// Oslo,-2
	// Bern,-1
}
