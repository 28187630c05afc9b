package gpuframe_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe"
)

// A column for each city.
func ExampleGrouped_Pivot() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).
		GroupBy(gpuframe.Col("product")).
		Pivot(gpuframe.Col("city"), []any{"Oslo", "Bern"}, gpuframe.Col("qty").Sum()).
		Sort(gpuframe.Col("product")))
	// Output:
	// product,Oslo,Bern
	// ink,1,1
	// jam,3,
	// tea,2,1
}

// A column for each city that occurs. The first run of the query finds them.
func ExampleGrouped_PivotAll() {
	gpu := hostEngine()
	defer gpu.Close()
	var byProduct gpuframe.Grouped = gpuframe.From(gpu, exampleSales()).GroupBy("product")
	wide, err := byProduct.PivotAll(context.Background(), "city", gpuframe.Col("qty").Sum())
	if err != nil {
		fmt.Println(err)
		return
	}
	show(wide.Sort("product"))
	// Output:
	// product,Bern,Oslo,Rome
	// ink,1,1,
	// jam,,3,9
	// tea,1,2,
}

// The number of sales for each product and city.
func ExampleQuery_CrossTab() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).CrossTab(gpuframe.Col("product"), gpuframe.Col("city"), []any{"Oslo", "Bern", "Rome"}))
	// Output:
	// product,Oslo,Bern,Rome
	// ink,1,1,0
	// jam,1,0,1
	// tea,1,1,0
}

// A row for each value of two columns, with the name of its column.
func ExampleQuery_Unpivot() {
	type half struct {
		City          string
		First, Second int64
	}
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, []half{{"Oslo", 1, 2}, {"Bern", 3, 4}}).Unpivot([]string{"First", "Second"}, "City"))
	// Output:
	// City,variable,value
	// Oslo,First,1
	// Bern,First,3
	// Oslo,Second,2
	// Bern,Second,4
}

// A row for each element of a list, with its position.
func ExampleQuery_ExplodeWith() {
	type order struct {
		ID    int64    `gpuframe:"id"`
		Items []string `gpuframe:"items"`
	}
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, []order{{1, []string{"tea", "jam"}}, {2, nil}, {3, []string{"ink"}}}).
		ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true, Position: "line"}, "items"))
	// Output:
	// id,items,line
	// 1,tea,0
	// 1,jam,1
	// 3,ink,0
}

// Text becomes a list, and the list rows.
func ExampleQuery_Explode() {
	type line struct{ Text string }
	gpu := hostEngine()
	defer gpu.Close()
	word := gpuframe.Col("Text").Split(" ").As("word")
	show(gpuframe.From(gpu, []line{{"a rose is"}, {"a rose"}}).
		Select(word).Explode("word").
		GroupBy(gpuframe.Col("word")).Agg(gpuframe.Count().As("n")).
		Sort(gpuframe.Col("n").Desc(), gpuframe.Col("word")))
	// Output:
	// word,n
	// a,2
	// rose,2
	// is,1
}

// Expressions on the elements of lists can have other columns of the row.
func ExampleExpr_ListEval() {
	type order struct {
		Rate   float64   `gpuframe:"rate"`
		Prices []float64 `gpuframe:"prices"`
	}
	gpu := hostEngine()
	defer gpu.Close()
	prices, element := gpuframe.Col("prices"), gpuframe.Element()
	show(gpuframe.From(gpu, []order{{2, []float64{1, 2.5, 10}}, {0.5, []float64{8}}}).
		Select(prices.ListFilter(element.Lt(10)).ListEval(element.Mul(gpuframe.Col("rate"))).ListSum().As("paid")))
	// Output:
	// paid
	// 7
	// 4
}

// A row for each day, days without sales included.
func ExampleQuery_Resample() {
	type reading struct {
		At    time.Time `gpuframe:"at"`
		Value float64   `gpuframe:"value"`
	}
	hour := func(h int) time.Time { return time.Date(2026, 6, 1, h, 0, 0, 0, time.UTC) }
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, []reading{{hour(1), 2}, {hour(5), 4}, {hour(50), 9}}).
		Resample(gpuframe.Col("at"), 24*time.Hour).
		Agg(gpuframe.Col("value").Mean().As("mean"), gpuframe.Count().As("n")).
		Select(gpuframe.Col("at").Day().As("day"), gpuframe.Col("mean"), gpuframe.Col("n")))
	// Output:
	// day,mean,n
	// 1,3,2
	// 2,,0
	// 3,9,1
}

// Values between the measured ones, on a line by their times.
func ExampleExpr_InterpolateBy() {
	type level struct {
		At    int64    `gpuframe:"at"`
		Level *float64 `gpuframe:"level"`
	}
	low, high := 1.0, 2.0
	gpu := hostEngine()
	defer gpu.Close()
	at, value := gpuframe.Col("at"), gpuframe.Col("level")
	byTime := gpuframe.By().OrderBy(at)
	show(gpuframe.From(gpu, []level{{0, &low}, {1, nil}, {10, &high}}).
		Select(at, value.InterpolateBy(at).Over(byTime).As("by_time"), value.Interpolate().Over(byTime).As("by_row")))
	// Output:
	// at,by_time,by_row
	// 0,1,1
	// 1,1.1,1.5
	// 10,2,2
}

// The last quote at or before each trade.
func ExampleQuery_AsOf() {
	type trade struct {
		Symbol string `gpuframe:"symbol"`
		Time   int64  `gpuframe:"time"`
	}
	type quote struct {
		Symbol string  `gpuframe:"symbol"`
		Time   int64   `gpuframe:"time"`
		Bid    float64 `gpuframe:"bid"`
	}
	gpu := hostEngine()
	defer gpu.Close()
	trades := gpuframe.From(gpu, []trade{{"A", 5}, {"B", 6}, {"A", 9}})
	quotes := gpuframe.From(gpu, []quote{{"A", 4, 10}, {"A", 8, 11}, {"B", 7, 20}})
	show(trades.AsOf(quotes, gpuframe.Col("time"), gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{gpuframe.Col("symbol")}}))
	// Output:
	// symbol,time,time_right,bid
	// A,5,4,10
	// B,6,,
	// A,9,8,11
}

// The same three rows in each run and on each device.
func ExampleQuery_SampleRows() {
	gpu := hostEngine()
	defer gpu.Close()
	sample, err := gpuframe.From(gpu, exampleSales()).SampleRows(3, gpuframe.SampleOptions{Seed: 1}).Collect(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sample.Release()
	fmt.Println(sample.NumRows(), "of", len(exampleSales()))
	// Output: 3 of 6
}

// Half of the rows of each city.
func ExampleQuery_Sample() {
	gpu := hostEngine()
	defer gpu.Close()
	city := gpuframe.Col("city")
	show(gpuframe.From(gpu, exampleSales()).
		Filter(city.Eq("Bern")).
		Sample(0.5, gpuframe.SampleOptions{Seed: 1, By: []gpuframe.Expression{city}}).
		GroupBy(city).Agg(gpuframe.Count().As("n")))
	// Output:
	// city,n
	// Bern,1
}

// Statistics of each column.
func ExampleQuery_Describe() {
	gpu := hostEngine()
	defer gpu.Close()
	summary, err := gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("price"), gpuframe.Col("qty")).Describe(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer summary.Release()
	show(summary.Query().Filter(gpuframe.Col("statistic").In("min", "50%", "max")))
	// Output:
	// statistic,price,qty
	// min,20,1
	// 50%,57.5,1.5
	// max,90,9
}

// Subtotals of each city, and a total. The level is 0 for products, 1 for cities and 3 for all rows.
func ExampleQuery_Rollup() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).
		Rollup("city", "product").
		Agg(gpuframe.Col("qty").Sum(), gpuframe.GroupingID().As("level")).
		Filter(gpuframe.Col("city").Eq("Bern").Or(gpuframe.Col("level").Eq(3))).
		Sort("level", "product"))
	// Output:
	// city,product,qty,level
	// Bern,ink,1,0
	// Bern,tea,1,0
	// Bern,,2,1
	// ,,17,3
}

// The totals of each city and of each product.
func ExampleQuery_GroupingSets() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).
		GroupingSets([]string{"city"}, []string{"product"}).
		Agg(gpuframe.Col("qty").Sum()).
		Sort("city", "product"))
	// Output:
	// city,product,qty
	// Bern,,2
	// Oslo,,6
	// Rome,,9
	// ,ink,2
	// ,jam,12
	// ,tea,3
}

// The totals of each city and product, of each city, of each product, and of all.
func ExampleQuery_Cube() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).
		Cube("city", "product").
		Agg(gpuframe.Count().As("sales"), gpuframe.GroupingID(gpuframe.Col("city"), gpuframe.Col("product")).As("level")).
		GroupBy("level").Agg(gpuframe.Count().As("rows")).Sort("level"))
	// Output:
	// level,rows
	// 0,6
	// 1,3
	// 2,3
	// 3,1
}
