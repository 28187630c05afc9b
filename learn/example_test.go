package learn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/learn"
)

// Encodings are fitted on one query, saved as JSON, and applied to another one.
func Example() {
	ctx := context.Background()
	gpu, err := gpuframe.Open(gpuframe.Device("host")) // without Device: the first GPU, or the host
	if err != nil {
		panic(err)
	}
	defer gpu.Close()
	type sale struct {
		City  string
		Price float64
	}
	train := gpuframe.From(gpu, []sale{{"Oslo", 10}, {"Bern", 20}, {"Oslo", 30}})
	labels, err := learn.FitLabels(ctx, train, learn.CategoryOptions{Unknown: learn.UnknownNull}, "City")
	if err != nil {
		panic(err)
	}
	scaling, err := learn.FitMinMax(ctx, train, "Price")
	if err != nil {
		panic(err)
	}
	saved, err := json.Marshal(scaling)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", saved)
	test := gpuframe.From(gpu, []sale{{"Oslo", 25}, {"Rome", 40}})
	if _, err := scaling.Apply(labels.Apply(test)).Write(ctx, os.Stdout, gpuframe.CSV()); err != nil {
		panic(err)
	}
	// Output:
	// {"columns":[{"column":"Price","shift":10,"scale":20}]}
	// City,Price
	// 1,0.75
	// ,1.5
}
