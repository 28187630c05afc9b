package gpuframe_test

import (
	"context"
	"os"

	"github.com/gpuframe/gpuframe"
)

// hostEngine is the engine of the shorter examples.
func hostEngine() *gpuframe.Engine {
	gpu, err := gpuframe.Open(gpuframe.Device("host")) // without Device: the first GPU, or the host
	if err != nil {
		panic(err)
	}
	return gpu
}

// show runs a query and prints its rows.
func show(q gpuframe.Query) {
	if _, err := q.Write(context.Background(), os.Stdout, gpuframe.CSV()); err != nil {
		panic(err)
	}
}

// Conditions keep the rows for which all of them are true.
func ExampleQuery_Filter() {
	gpu := hostEngine()
	defer gpu.Close()
	price := gpuframe.Of[float64]("price") // the compiler checks its literals
	show(gpuframe.From(gpu, exampleSales()).
		Filter(price.Gt(50), gpuframe.Col("product").In("jam", "ink")).
		Select(gpuframe.Col("city"), price))
	// Output:
	// city,price
	// Oslo,80
	// Bern,90
	// Oslo,51
}

// Select keeps the values of expressions. Aggregates alone make one row.
func ExampleQuery_Select() {
	gpu := hostEngine()
	defer gpu.Close()
	sales := gpuframe.From(gpu, exampleSales())
	revenue := gpuframe.Col("price").Mul(gpuframe.Col("qty"))
	show(sales.Select(gpuframe.Col("city").Upper(), revenue.As("revenue")).Head(2))
	show(sales.Select(revenue.Sum().As("revenue"), gpuframe.Col("city").CountDistinct().As("cities")))
	// Output:
	// city,revenue
	// OSLO,120
	// BERN,55
	// revenue,cities
	// 736,3
}

// With adds columns, here the share of a city's revenue.
func ExampleQuery_With() {
	gpu := hostEngine()
	defer gpu.Close()
	city, price := gpuframe.Col("city"), gpuframe.Col("price")
	show(gpuframe.From(gpu, exampleSales()).
		Drop("product", "ts", "qty").
		With(price.Sub(price.Mean().Over(gpuframe.By(city))).As("above_mean")).
		Filter(city.Eq("Bern")))
	// Output:
	// city,price,above_mean
	// Bern,55,-17.5
	// Bern,90,17.5
}

// Aggregates by key, combined and with a condition.
func ExampleQuery_GroupBy() {
	gpu := hostEngine()
	defer gpu.Close()
	price, qty := gpuframe.Col("price"), gpuframe.Col("qty")
	show(gpuframe.From(gpu, exampleSales()).
		GroupBy(gpuframe.Col("product")).
		Agg(price.Mul(qty).Sum().Div(qty.Sum()).As("mean_price"), gpuframe.Count().Where(qty.Gt(1)).As("large")).
		Sort(gpuframe.Col("product")))
	// Output:
	// product,mean_price,large
	// ink,70.5,0
	// jam,35,2
	// tea,58.333333333333336,1
}

// Sort by several keys.
func ExampleQuery_Sort() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).
		Select(gpuframe.Col("city"), gpuframe.Col("price")).
		Sort(gpuframe.Col("city"), gpuframe.Col("price").Desc()))
	// Output:
	// city,price
	// Bern,90
	// Bern,55
	// Oslo,80
	// Oslo,60
	// Oslo,51
	// Rome,20
}

// The two largest sales. Top keeps no more rows than it returns.
func ExampleQuery_Top() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).
		Select(gpuframe.Col("city"), gpuframe.Col("qty")).
		Top(2, gpuframe.Col("qty").Desc()))
	// Output:
	// city,qty
	// Rome,9
	// Oslo,3
}

// The first row of each city.
func ExampleQuery_Distinct() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("city"), gpuframe.Col("product")).Distinct("city"))
	// Output:
	// city,product
	// Oslo,tea
	// Bern,tea
	// Rome,jam
}

// Rows that another query does not have.
func ExampleQuery_Except() {
	gpu := hostEngine()
	defer gpu.Close()
	cities := gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("city"))
	show(cities.Except(cities.Filter(gpuframe.Col("city").Eq("Oslo"))))
	// Output:
	// city
	// Bern
	// Rome
}

// The rows of two queries.
func ExampleQuery_Union() {
	gpu := hostEngine()
	defer gpu.Close()
	sales := gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("city"), gpuframe.Col("price"))
	show(sales.Head(1).Union(sales.Tail(1)))
	// Output:
	// city,price
	// Oslo,60
	// Oslo,51
}

// Nulls of a left join become a value.
func ExampleQuery_FillNull() {
	type group struct{ Product, Group string }
	gpu := hostEngine()
	defer gpu.Close()
	groups := gpuframe.From(gpu, []group{{"tea", "food"}, {"jam", "food"}}).Rename("Product", "product").Rename("Group", "group")
	show(gpuframe.From(gpu, exampleSales()).
		Join(groups, gpuframe.Left, gpuframe.Col("product")).
		FillNull("other", "group").
		GroupBy(gpuframe.Col("group")).Agg(gpuframe.Col("qty").Sum()).
		Sort(gpuframe.Col("group")))
	// Output:
	// group,qty
	// food,15
	// other,2
}
