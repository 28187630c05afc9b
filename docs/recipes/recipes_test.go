// Package recipes has the programs of docs/recipes.md, which run as tests.
package recipes

import (
	"context"
	"log"
	"os"
	"testing"
	"time"

	"github.com/gpuframe/gpuframe"
)

var (
	ctx = context.Background()
	gpu = must(gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<30)))
	col = gpuframe.Col
)

// TestMain fails if a recipe keeps memory.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := gpu.Close(); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// must ends the program after an error. Deferred calls are skipped.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// show prints the rows of a query as CSV.
func show(q gpuframe.Query) { must(q.Write(ctx, os.Stdout, gpuframe.CSV())) }

type sale struct {
	Day     int64   `gpuframe:"day"`
	City    string  `gpuframe:"city"`
	Product string  `gpuframe:"product"`
	Price   float64 `gpuframe:"price"`
}

func sales() gpuframe.Query {
	return gpuframe.From(gpu, []sale{
		{1, "Oslo", "tea", 60}, {1, "Bern", "tea", 55}, {2, "Oslo", "jam", 80}, {2, "Rome", "jam", 20}, {3, "Bern", "ink", 90}, {4, "Oslo", "ink", 20},
	})
}

// minute is a time of a day.
func minute(n int) time.Time { return time.Date(2026, 6, 1, 12, n, 0, 0, time.UTC) }
