package gpubeam_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/gpuframe/gpuframe"
	gpubeam "github.com/gpuframe/gpuframe/beam"
)

// Parquet files in, groups across all batches, Parquet files out.
func ExampleGroupBy() {
	type flight struct {
		Origin string `gpuframe:"origin"`
		Delay  int64  `gpuframe:"delay"`
	}
	const byOrigin = `{"version": 1, "steps": [{"verb": "given", "number": 0}, {"verb": "group", "inputs": [0],
		"keys": [{"function": "column", "name": "origin"}],
		"aggregates": [{"function": "mean", "arguments": [{"function": "column", "name": "delay"}]}]}]}`
	ctx := context.Background()
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	folder, err := os.MkdirTemp("", "gpubeam")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	flights := gpuframe.From(gpu, []flight{{"OSL", 5}, {"BRN", 30}, {"OSL", 25}})
	if _, err := flights.WriteFile(ctx, filepath.Join(folder, "flights.parquet"), gpuframe.Parquet()); err != nil {
		fmt.Println(err)
		return
	}

	p := beam.NewPipeline()
	s := p.Root()
	batches, err := gpubeam.ReadParquet(s, filepath.Join(folder, "flights.parquet"))
	if err != nil {
		fmt.Println(err)
		return
	}
	groups, err := gpubeam.GroupBy(s, gpubeam.Options{Device: "host", Budget: 64 << 20}, byOrigin, batches)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := gpubeam.WriteParquet(s, filepath.Join(folder, "result"), 1, groups); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := beam.Run(ctx, "prism", p); err != nil {
		fmt.Println(err)
		return
	}
	if err := gpubeam.Close(); err != nil {
		fmt.Println(err)
		return
	}
	result := gpu.Parquet(filepath.Join(folder, "result-*.parquet")).Sort(gpuframe.Col("origin"))
	if _, err := result.Write(ctx, os.Stdout, gpuframe.CSV()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// origin,delay
	// BRN,30
	// OSL,15
}
