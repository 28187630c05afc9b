// Command files groups the rows of Parquet, CSV, JSON or Arrow files, and writes Parquet.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/binarysize"
)

func main() {
	binarysize.PrintResident()
	if len(os.Args) < 3 {
		return
	}
	if err := group(os.Args[1], os.Args[2]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func group(from, to string) error {
	gpu, err := gpuframe.Open()
	if err != nil {
		return err
	}
	defer gpu.Close()
	all := gpu.Parquet(from+".parquet").Union(gpu.CSV(from+".csv"), gpu.JSONLines(from+".jsonl"), gpu.IPC(from+".arrow"))
	rows, err := all.GroupBy("origin").Agg(gpuframe.Count().As("flights")).WriteFile(context.Background(), to, gpuframe.Format{})
	if err == nil {
		fmt.Println(rows, "rows")
	}
	return err
}
