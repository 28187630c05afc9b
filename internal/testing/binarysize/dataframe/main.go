// Command dataframe groups the rows of Go values with the root package.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/binarysize"
)

type flight struct {
	Origin string `gpuframe:"origin"`
	Delay  int64  `gpuframe:"delay"`
}

func main() {
	binarysize.PrintResident()
	if len(os.Args) == 1 {
		return
	}
	if err := printDelays(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func printDelays() error {
	gpu, err := gpuframe.Open()
	if err != nil {
		return err
	}
	defer gpu.Close()
	origin, delay := gpuframe.Of[string]("origin"), gpuframe.Of[int64]("delay")
	late, err := gpuframe.From(gpu, []flight{{"OSL", 5}, {"OSL", 20}}).Filter(delay.Gt(15)).
		GroupBy(origin).Agg(delay.Mean().As("mean")).Collect(context.Background())
	if err != nil {
		return err
	}
	defer late.Release()
	fmt.Println(late)
	return nil
}
