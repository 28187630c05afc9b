// Package tutorial has the programs of docs/tutorial/README.md, which run as tests.
package tutorial

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpuframe/gpuframe"
)

type flight struct {
	Day    int64  `gpuframe:"day"`
	Origin string `gpuframe:"origin"`
	Delay  int64  `gpuframe:"delay"`
}

var flights = []flight{{1, "OSL", 5}, {1, "BRN", 30}, {2, "OSL", 20}, {2, "AMS", -2}, {3, "OSL", 25}, {3, "BRN", 0}}

// must ends the program after an error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// 1. Open an engine and print rows.
func Example_step1() {
	gpu := must(gpuframe.Open(gpuframe.Device("host"))) // without Device: the first GPU, or the host
	defer gpu.Close()
	rows := gpuframe.From(gpu, flights)
	first := must(rows.Limit(2).Collect(context.Background()))
	defer first.Release()
	fmt.Println(first)
	// Output:
	// shape: (2, 3)
	// ┌───────┬────────┬───────┐
	// │   day ┆ origin ┆ delay │
	// │ int64 ┆ utf8   ┆ int64 │
	// ╞═══════╪════════╪═══════╡
	// │     1 ┆ OSL    ┆     5 │
	// │     1 ┆ BRN    ┆    30 │
	// └───────┴────────┴───────┘
}

// 2. Filter rows and compute columns.
func Example_step2() {
	gpu := must(gpuframe.Open(gpuframe.Device("host")))
	defer gpu.Close()
	delay := gpuframe.Of[int64]("delay") // the compiler checks that 15 is an int64
	late := gpuframe.From(gpu, flights).
		Filter(delay.Gt(15)).
		With(delay.TrueDiv(60).As("hours")).
		Select("origin", "hours")
	for row, err := range gpuframe.Rows[struct {
		Origin string  `gpuframe:"origin"`
		Hours  float64 `gpuframe:"hours"`
	}](context.Background(), late) {
		fmt.Printf("%s %.2f\n", must(row, err).Origin, row.Hours)
	}
	// Output:
	// BRN 0.50
	// OSL 0.33
	// OSL 0.42
}

// 3. Group rows.
func Example_step3() {
	gpu := must(gpuframe.Open(gpuframe.Device("host")))
	defer gpu.Close()
	delay := gpuframe.Col("delay")
	byOrigin := gpuframe.From(gpu, flights).
		GroupBy("origin").Agg(gpuframe.Count().As("flights"), delay.Mean().As("mean")).
		Sort(gpuframe.Col("flights").Desc(), "origin")
	frame := must(byOrigin.Collect(context.Background()))
	defer frame.Release()
	fmt.Println(must(gpuframe.Column[string](context.Background(), frame, "origin")))
	fmt.Println(must(gpuframe.Column[int64](context.Background(), frame, "flights")))
	// Output:
	// [OSL BRN AMS]
	// [3 2 1]
}

// 4. Join tables.
func Example_step4() {
	gpu := must(gpuframe.Open(gpuframe.Device("host")))
	defer gpu.Close()
	type airport struct {
		Code string `gpuframe:"code"`
		City string `gpuframe:"city"`
	}
	airports := gpuframe.From(gpu, []airport{{"OSL", "Oslo"}, {"BRN", "Bern"}})
	named := gpuframe.From(gpu, flights).
		Join(airports, gpuframe.Left, gpuframe.On("origin", "code")).
		Distinct("origin").
		Select("origin", gpuframe.Col("city").FillNull("unknown").As("city"))
	frame := must(named.Collect(context.Background()))
	defer frame.Release()
	fmt.Println(must(gpuframe.Column[string](context.Background(), frame, "city")))
	// Output:
	// [Oslo Bern unknown]
}

// 5. Compare rows with others: windows.
func Example_step5() {
	gpu := must(gpuframe.Open(gpuframe.Device("host")))
	defer gpu.Close()
	delay := gpuframe.Col("delay")
	days := gpuframe.By("origin").OrderBy("day")
	trend := gpuframe.From(gpu, flights).
		Filter(gpuframe.Col("origin").Eq("OSL")).
		With(delay.Difference(1).Over(days).As("change"), delay.CumSum().Over(days).As("total"))
	frame := must(trend.Collect(context.Background()))
	defer frame.Release()
	fmt.Println(must(gpuframe.Column[int64](context.Background(), frame, "total")))
	// Output:
	// [5 25 50]
}

// 6. Write files, and read them in SQL's and Go's way.
func Example_step6() {
	gpu := must(gpuframe.Open(gpuframe.Device("host")))
	defer gpu.Close()
	folder := must(os.MkdirTemp("", "tutorial"))
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "flights.parquet")
	written := must(gpuframe.From(gpu, flights).WriteFile(context.Background(), path, gpuframe.Parquet()))
	fmt.Println(written, "rows")
	worst := must(gpu.Parquet(path).Top(1, gpuframe.Col("delay").Desc()).Collect(context.Background()))
	defer worst.Release()
	fmt.Println(must(gpuframe.Column[string](context.Background(), worst, "origin")))
	// Output:
	// 6 rows
	// [BRN]
}

// 7. See the plan, the problems and the picture.
func Example_step7() {
	gpu := must(gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(64<<20)))
	defer gpu.Close()
	rows := gpuframe.From(gpu, flights)
	_, err := rows.Filter(gpuframe.Col("dely").Gt(15)).Collect(context.Background())
	var problems *gpuframe.QueryError
	fmt.Println(errors.As(err, &problems), strings.Contains(err.Error(), `no column is called "dely": there are "delay"`))
	byDay := must(rows.GroupBy("day").Agg(gpuframe.Col("delay").Max().As("worst")).Sort("day").Collect(context.Background()))
	defer byDay.Release()
	page := must(byDay.Chart().Line("day", "worst").Title("Delays").HTML(context.Background()))
	fmt.Println(strings.HasPrefix(page, "<!doctype html>"))
	fmt.Println(strings.Contains(must(rows.Select("day").Explain(context.Background())), "day"))
	// Output:
	// true true
	// true
	// true
}
