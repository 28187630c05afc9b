package gpuframe_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe"
)

// stay is a number of nights in a city, tax what a night costs there by the number of nights.
type stay struct {
	City   *string `gpuframe:"city"`
	Nights int64   `gpuframe:"nights"`
}

type tax struct {
	City  *string `gpuframe:"city"`
	From  int64   `gpuframe:"from"`
	Until int64   `gpuframe:"until"`
	Rate  float64 `gpuframe:"rate"`
}

func exampleStays(gpu *gpuframe.Engine) (stays, taxes gpuframe.Query) {
	oslo, bern := "Oslo", "Bern"
	return gpuframe.From(gpu, []stay{{&oslo, 2}, {&oslo, 9}, {&bern, 4}, {nil, 3}}),
		gpuframe.From(gpu, []tax{{&oslo, 1, 7, 2.5}, {&oslo, 7, 30, 2}, {&bern, 1, 3, 4}, {nil, 1, 30, 1}})
}

// The rate for the number of nights. The join keeps a stay without a rate: the condition does not filter rows. NullsMatch
// lets rows without a city match each other.
func ExampleMatching() {
	gpu := hostEngine()
	defer gpu.Close()
	stays, taxes := exampleStays(gpu)
	nights := gpuframe.Col("nights")
	inRange := gpuframe.Matching(nights.Ge(gpuframe.Col("from")).And(nights.Lt(gpuframe.Col("until"))))
	show(stays.Join(taxes, gpuframe.Left, "city", gpuframe.NullsMatch(), inRange).
		Select("city", "nights", nights.Mul(gpuframe.Col("rate")).As("tax")))
	// Output:
	// city,nights,tax
	// Oslo,2,5
	// Oslo,9,18
	// Bern,4,
	// ,3,3
}

// Four kinds of joins, of each the two rows with the first cities in the alphabet. A right column with the name of a left one gets a suffix.
func ExampleJoinKind() {
	gpu := hostEngine()
	defer gpu.Close()
	sales := gpuframe.From(gpu, exampleSales()).Select("city", "qty")
	large := sales.Filter(gpuframe.Col("qty").Gt(2))
	for _, kind := range []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Semi, gpuframe.Anti} {
		fmt.Println(kind)
		show(sales.Join(large, kind, "city", gpuframe.Suffix("_large")).Top(2, "city"))
	}
	// Output:
	// inner
	// city,qty,qty_large
	// Oslo,2,3
	// Oslo,3,3
	// left
	// city,qty,qty_large
	// Bern,1,
	// Bern,1,
	// semi
	// city,qty
	// Oslo,2
	// Oslo,3
	// anti
	// city,qty
	// Bern,1
	// Bern,1
}

// Joins that may return rows in any order may change places: the smaller one comes first.
func ExampleAnyOrder() {
	gpu := hostEngine()
	defer gpu.Close()
	stays, taxes := exampleStays(gpu)
	sales := gpuframe.From(gpu, exampleSales()).Select("city", "price")
	show(sales.
		Join(stays, gpuframe.Inner, "city", gpuframe.AnyOrder()).
		Join(taxes.Filter(gpuframe.Col("from").Eq(1)), gpuframe.Inner, "city", gpuframe.AnyOrder()).
		GroupBy("city").Agg(gpuframe.Count().As("n"), gpuframe.Col("price").Max().As("dearest")).Sort("city"))
	// Output:
	// city,n,dearest
	// Bern,2,90
	// Oslo,6,80
}

// The nearest reading before, after, or around each event.
func ExampleDirection() {
	type event struct {
		At int64 `gpuframe:"at"`
	}
	type level struct {
		At    int64   `gpuframe:"at"`
		Level float64 `gpuframe:"level"`
	}
	gpu := hostEngine()
	defer gpu.Close()
	events := gpuframe.From(gpu, []event{{5}, {20}})
	levels := gpuframe.From(gpu, []level{{1, 0.1}, {7, 0.7}, {18, 1.8}})
	for _, direction := range []gpuframe.Direction{gpuframe.Backward, gpuframe.Forward, gpuframe.Nearest} {
		show(events.AsOf(levels, "at", gpuframe.AsOfOptions{Direction: direction, Tolerance: 3}).Select("at", "level"))
	}
	// Output:
	// at,level
	// 5,
	// 20,1.8
	// at,level
	// 5,0.7
	// 20,
	// at,level
	// 5,0.7
	// 20,1.8
}

// shares returns the share of each value in the sum of its group.
func shares(value gpuframe.Typed[float64], keys ...gpuframe.Key) gpuframe.Expr {
	var group gpuframe.Window = gpuframe.By(keys...)
	return value.Div(value.Sum().Over(group))
}

// A function of the program makes parts of queries: it takes typed columns and keys.
func ExampleWindow() {
	gpu := hostEngine()
	defer gpu.Close()
	price := gpuframe.Of[float64]("price")
	show(gpuframe.From(gpu, exampleSales()).
		Select("city", "product", shares(price, "product").RoundDigits(2).As("of_product"), shares(price, "city", gpuframe.Col("qty").Gt(1)).RoundDigits(2).As("of_city")))
	// Output:
	// city,product,of_product,of_city
	// Oslo,tea,0.52,0.43
	// Bern,tea,0.48,0.38
	// Oslo,jam,0.8,0.57
	// Rome,jam,0.2,1
	// Bern,ink,0.64,0.62
	// Oslo,ink,0.36,1
}
