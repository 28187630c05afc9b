package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/memory"
)

// A program that makes queries of texts shows problems at their places in the text.
func ExampleQuery_At() {
	gpu := hostEngine()
	defer gpu.Close()
	place := gpuframe.Place{Verb: "where", File: "report.sql", Line: 3}
	_, err := gpuframe.From(gpu, exampleSales()).Filter(gpuframe.Col("sum").Gt(1)).At(place).Collect(context.Background())
	var failure *gpuframe.QueryError
	if !errors.As(err, &failure) {
		panic(err)
	}
	report := func(p gpuframe.Problem) { fmt.Printf("%s:%d: %s: %v\n", p.File, p.Line, p.Verb, p.Err) }
	for _, problem := range failure.Problems {
		report(problem)
	}
	fmt.Println(len(failure.Unwrap()), "cause") // errors.Is looks at all of them
	// Output:
	// report.sql:3: where: expr: in sum > 1: sum: no column is called "sum": there are "ts", "qty", "city", "price", "product": schema mismatch
	// 1 cause
}

// A query is refused before it reads anything if the budget cannot suffice.
func ExampleNeedsError() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20))
	if err != nil {
		panic(err)
	}
	defer gpu.Close()
	_, err = gpuframe.From(gpu, make([]Sale, 100_000)).Collect(context.Background())
	var failure *gpuframe.NeedsError
	if errors.As(err, &failure) {
		fmt.Println(failure.Rows, "rows,", failure.Needed/failure.Budget, "times the budget")
		fmt.Println(failure.Unwrap() == memory.ErrBudget)
	}
	// Output:
	// 100000 rows, 2 times the budget
	// true
}

var errPrice = errors.New("a price is negative")

// Require ends a query at the first row that breaks a rule, with the error of the program.
func ExampleQuery_Require() {
	gpu := hostEngine()
	defer gpu.Close()
	prices := gpuframe.From(gpu, []struct{ City, Price int64 }{{1, 5}, {2, -1}})
	checked := prices.Require(gpuframe.Col("Price").Ge(0), errPrice)
	_, err := checked.GroupBy("City").Agg(gpuframe.Col("Price").Sum()).Collect(context.Background())
	fmt.Println(errors.Is(err, errPrice))
	// Output:
	// true
}

// An error of a file names it.
func ExampleSourceError() {
	gpu := hostEngine()
	defer gpu.Close()
	folder, err := exampleFolder(gpu)
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	_, err = gpu.Parquet(filepath.Join(folder, "products.csv")).Collect(context.Background())
	var failure *gpuframe.SourceError
	if errors.As(err, &failure) {
		fmt.Println(filepath.Base(failure.Path), errors.Is(err, gpuframe.ErrContents), errors.Is(err, fs.ErrNotExist))
	}
	// Output:
	// products.csv true false
}

// A query that holds more rows than the device and the host have room for keeps them in a file, which is gone when it ends.
func ExampleSpillDirectory() {
	folder, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	gpu, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20), gpuframe.SpillBudget(1<<16), gpuframe.SpillDirectory(folder))
	if err != nil {
		panic(err)
	}
	defer gpu.Close()
	rows := int64(0)
	for frame, err := range gpuframe.From(gpu, make([]struct{ A, B, C float64 }, 50_000)).WithRowNumber("row").Sort(gpuframe.Col("row").Desc()).Batches(context.Background()) {
		if err != nil {
			var failure *gpuframe.SpillError // no room on the disk, or no permission
			fmt.Println(errors.As(err, &failure), err)
			return
		}
		rows += frame.NumRows()
		if err := frame.Release(); err != nil {
			panic(err)
		}
	}
	files, err := os.ReadDir(folder)
	fmt.Println(rows, "rows,", len(files), "files,", err)
	// Output:
	// 50000 rows, 0 files, <nil>
}
