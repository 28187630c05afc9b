// First is the program of README.md: a query on Go values, and a column of its result as a
// DLPack tensor.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/dlpack"
)

type flight struct {
	Origin string `gpuframe:"origin"`
	Delay  int64  `gpuframe:"delay"`
}

func main() {
	gpu, err := gpuframe.Open(gpuframe.Budget(1 << 30)) // the first GPU, or the host
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.Close()

	flights := []flight{{"OSL", 5}, {"OSL", 20}, {"BRN", 30}, {"OSL", 25}}
	origin, delay := gpuframe.Of[string]("origin"), gpuframe.Of[int64]("delay")
	// gpu.Parquet("flights/*.parquet") reads files instead.
	late, err := gpuframe.From(gpu, flights).
		Filter(delay.Gt(15)).
		GroupBy(origin).Agg(delay.Mean().As("mean"), gpuframe.Count().As("flights")).
		Top(10, gpuframe.Col("flights").Desc()).
		Collect(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer late.Release()
	fmt.Println(late) // a frame prints itself

	tensor, err := dlpack.Export(late.Column("mean")) // the same memory as a DLPack tensor
	if err != nil {
		log.Fatal(err)
	}
	defer tensor.Release()
}
