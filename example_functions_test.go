package gpuframe_test

import (
	"context"
	"fmt"
	"strings"

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

// Bins by breaks and by quantiles, and values between 0 and 1 of each city.
func ExampleExpr_QCut() {
	gpu := hostEngine()
	defer gpu.Close()
	qty, city := gpuframe.Col("qty"), gpuframe.Col("city")
	show(gpuframe.From(gpu, exampleSales()).Select(city, qty, qty.Cut(1, 3).As("bin"), qty.QCut(2).As("half"), qty.Rescale(0, 1).Over(gpuframe.By(city)).As("share")))
	// Output:
	// city,qty,bin,half,share
	// Oslo,2,1,1,0.5
	// Bern,1,0,0,0
	// Oslo,3,1,1,1
	// Rome,9,2,1,0
	// Bern,1,0,0,0
	// Oslo,1,0,0,0
}

// Sketches of days are merged: about how many users came in all of them, without their names.
func ExampleExpr_HLLSketch() {
	gpu := hostEngine()
	defer gpu.Close()
	qty, city, users := gpuframe.Col("qty"), gpuframe.Col("city"), gpuframe.Col("users")
	days := gpuframe.From(gpu, exampleSales()).GroupBy(city).Agg(qty.HLLSketch(12).As("users")).Sort(city)
	show(days.Select(city, users.HLLEstimate().Round().As("n")))
	show(days.Select(users.HLLMerge().HLLEstimate().Round().As("n")))
	// Output:
	// city,n
	// Bern,1
	// Oslo,3
	// Rome,1
	// n
	// 4
}

// Many conditions are one step.
func ExampleCase() {
	gpu := hostEngine()
	defer gpu.Close()
	qty := gpuframe.Col("qty")
	size := gpuframe.Case().When(qty.Lt(2), "few").When(qty.Lt(4), "some").Else("many")
	show(gpuframe.From(gpu, exampleSales()).Select(qty, size.As("size")))
	// Output:
	// qty,size
	// 2,some
	// 1,few
	// 3,some
	// 9,many
	// 1,few
	// 1,few
}
