package gpuframe_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe"
)

// Sale is a row of the examples.
type Sale struct {
	City    string    `gpuframe:"city"`
	Product string    `gpuframe:"product"`
	Time    time.Time `gpuframe:"ts"`
	Price   float64   `gpuframe:"price"`
	Qty     int32     `gpuframe:"qty"`
}

func exampleSales() []Sale {
	day := func(d int) time.Time { return time.Date(2026, 6, d, 12, 0, 0, 0, time.UTC) }
	return []Sale{
		{"Oslo", "tea", day(1), 60, 2}, {"Bern", "tea", day(1), 55, 1}, {"Oslo", "jam", day(2), 80, 3},
		{"Rome", "jam", day(2), 20, 9}, {"Bern", "ink", day(3), 90, 1}, {"Oslo", "ink", day(3), 51, 1},
	}
}

// Filter, group and sort.
func ExampleQuery() {
	ctx := context.Background()
	var (
		city    = gpuframe.Of[string]("city")
		price   = gpuframe.Of[float64]("price")
		revenue = price.Mul(gpuframe.Col("qty")).As("revenue")
	)
	gpu, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<30)) // without Device: the first GPU, or the host
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	byCity, err := gpuframe.From(gpu, exampleSales()).
		Filter(price.Gt(50)).
		GroupBy(city).Agg(revenue.Sum(), price.Mean().As("mean"), gpuframe.Count().As("n")).
		Sort(gpuframe.Col("revenue").Desc()).
		Collect(ctx, gpuframe.Tag("by-city"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer byCity.Release()
	fmt.Println(byCity)
	// Output:
	// shape: (2, 4)
	// ┌──────┬─────────┬─────────┬───────┐
	// │ city ┆ revenue ┆    mean ┆     n │
	// │ utf8 ┆ float64 ┆ float64 ┆ int64 │
	// ╞══════╪═════════╪═════════╪═══════╡
	// │ Oslo ┆   411.0 ┆ 63.6667 ┆     3 │
	// │ Bern ┆   145.0 ┆    72.5 ┆     2 │
	// └──────┴─────────┴─────────┴───────┘
}

// The best products, as Go structs.
func ExampleRows() {
	type Best struct {
		Product string
		Revenue float64
	}
	ctx := context.Background()
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	revenue := gpuframe.Col("price").Mul(gpuframe.Col("qty")).As("revenue")
	top := gpuframe.From(gpu, exampleSales()).
		Filter(gpuframe.Of[time.Time]("ts").Ge(time.Date(2026, 6, 2, 0, 0, 0, 0, time.UTC))).
		GroupBy(gpuframe.Col("product")).Agg(revenue.Sum()).
		Top(2, gpuframe.Col("revenue").Desc())
	for best, err := range gpuframe.Rows[Best](ctx, top) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(best.Product, best.Revenue)
	}
	// Output:
	// jam 420
	// ink 141
}

// A misspelt query lists all that is wrong with it before anything is read.
func ExampleQueryError() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	_, err = gpuframe.From(gpu, exampleSales()).
		Filter(gpuframe.Col("pric").Gt(50)).
		Sort(gpuframe.Col("city").Add(1)).
		Collect(context.Background())
	if problems, ok := err.(*gpuframe.QueryError); ok {
		for _, p := range problems.Problems {
			fmt.Println(p.Verb+":", p.Err)
		}
	}
	// Output:
	// Filter: expr: in pric > 50: pric: no column is called "pric": there are "price", "city", "product", "ts", "qty": schema mismatch
	// Sort: expr: city + 1: cannot add utf8 and int64: operation not defined for these types
}

// Each sale's share in the revenue of its day.
func ExampleExpr_Over() {
	ctx := context.Background()
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	revenue := gpuframe.Col("price").Mul(gpuframe.Col("qty"))
	day := gpuframe.Col("ts").Day()
	shares, err := gpuframe.From(gpu, exampleSales()).
		Select(gpuframe.Col("city"), revenue.Div(revenue.Sum().Over(gpuframe.By(day))).As("share")).
		Head(2).
		Collect(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shares.Release()
	values, err := gpuframe.Column[float64](ctx, shares, "share")
	fmt.Printf("%.3f %v\n", values, err)
	// Output: [0.686 0.314] <nil>
}
