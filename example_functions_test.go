package gpuframe_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// A Go function computes a column. Rows with a null argument are left out of the slices, and their results are null.
func ExampleGoFunc1() {
	gpu := hostEngine()
	defer gpu.Close()
	vowels := gpuframe.GoFunc1("vowels", func(_ context.Context, words []string, counts []int64) error {
		for i, word := range words {
			for _, letter := range strings.ToLower(word) {
				if strings.ContainsRune("aeiou", letter) {
					counts[i]++
				}
			}
		}
		return nil
	}, gpuframe.Pure())
	q := gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("city"), vowels.Of(gpuframe.Col("city"))).Distinct()
	show(q)
	plan, err := q.Explain(context.Background())
	if err != nil {
		panic(err)
	}
	_, call, _ := strings.Cut(plan, "call Go")
	fmt.Println("call Go" + call[:strings.Index(call, "  ")])
	// Output:
	// city,vowels
	// Oslo,2
	// Bern,1
	// Rome,2
	// call Go function vowels(city), pure
}

// Bins by breaks and by quantiles, and values between 0 and 1 of each city.
func ExampleExpr_QCut() {
	gpu := hostEngine()
	defer gpu.Close()
	qty, city := gpuframe.Col("qty"), gpuframe.Col("city")
	show(gpuframe.From(gpu, exampleSales()).Select(city, qty, qty.Cut(1, 3).As("bin"), qty.QCut(2).As("half"), qty.Rescale(0, 1).Over(gpuframe.By(city)).As("share")))
	// Output:
	// city,qty,bin,half,share
	// Oslo,2,1,1,0.5
	// Bern,1,0,0,0
	// Oslo,3,1,1,1
	// Rome,9,2,1,0
	// Bern,1,0,0,0
	// Oslo,1,0,0,0
}

// Sketches of days are merged: about how many users came in all of them, without their names.
func ExampleExpr_HLLSketch() {
	gpu := hostEngine()
	defer gpu.Close()
	qty, city, users := gpuframe.Col("qty"), gpuframe.Col("city"), gpuframe.Col("users")
	days := gpuframe.From(gpu, exampleSales()).GroupBy(city).Agg(qty.HLLSketch(12).As("users")).Sort(city)
	show(days.Select(city, users.HLLEstimate().Round().As("n")))
	show(days.Select(users.HLLMerge().HLLEstimate().Round().As("n")))
	// Output:
	// city,n
	// Bern,1
	// Oslo,3
	// Rome,1
	// n
	// 4
}

// Sketches of cities are merged: quantiles of all prices, and the fraction of prices up to 55.
func ExampleExpr_KLLSketch() {
	gpu := hostEngine()
	defer gpu.Close()
	price, city, prices := gpuframe.Col("price"), gpuframe.Col("city"), gpuframe.Col("prices")
	cities := gpuframe.From(gpu, exampleSales()).GroupBy(city).Agg(price.KLLSketch(200).As("prices")).Sort(city)
	show(cities.Select(city, prices.KLLQuantile(0.5).As("median"), prices.KLLCount().As("n")))
	all := cities.Select(prices.KLLMerge().As("prices"))
	show(all.Select(prices.KLLQuantile(0.5).As("median"), prices.KLLQuantile(1).As("most"), prices.KLLRank(55).As("rank")))
	show(gpuframe.From(gpu, exampleSales()).Select(price.ApproxQuantile(0.9).As("in one step")))
	// Output:
	// city,median,n
	// Bern,55,2
	// Oslo,60,3
	// Rome,20,1
	// median,most,rank
	// 55,90,0.5
	// in one step
	// 90
}

// Sketches of times and of strings, which others have as KllLongsSketch and KllItemsSketch, have other functions.
func ExampleExpr_KLLItemsQuantile() {
	gpu := hostEngine()
	defer gpu.Close()
	ts, product, city, days, products := gpuframe.Col("ts"), gpuframe.Col("product"), gpuframe.Col("city"), gpuframe.Col("days"), gpuframe.Col("products")
	cities := gpuframe.From(gpu, exampleSales()).GroupBy(city).Agg(ts.Cast(arrow.FixedWidthTypes.Date32).KLLSketch(200).As("days"), product.KLLSketch(200).As("products"))
	all := cities.Select(days.KLLLongsMerge().As("days"), products.KLLItemsMerge().As("products"))
	day := days.KLLLongsQuantile(0.5).Cast(arrow.PrimitiveTypes.Int32).Cast(arrow.FixedWidthTypes.Date32)
	show(all.Select(day.As("day"), days.KLLLongsRank(20605).As("up to 1 June"), products.KLLItemsQuantile(0.5).As("product"), products.KLLItemsRank("ink").As("up to ink")))
	// Output:
	// day,up to 1 June,product,up to ink
	// 2026-06-02,0.3333333333333333,jam,0.3333333333333333
}

// Sketches of cities are merged: the most frequent items of all, with bounds of their numbers. Those of integers have other functions.
func ExampleExpr_FrequentItemsSketch() {
	gpu := hostEngine()
	defer gpu.Close()
	product, qty, city := gpuframe.Col("product"), gpuframe.Col("qty"), gpuframe.Col("city")
	items, numbers := gpuframe.Col("items"), gpuframe.Col("numbers")
	sales := gpuframe.From(gpu, exampleSales())
	cities := sales.GroupBy(city).Agg(product.FrequentItemsSketch(1024).As("items"), qty.FrequentItemsSketch(1024).As("numbers"))
	all := cities.Select(items.FrequentItemsMerge().As("items"), numbers.FrequentLongsMerge().As("numbers"))
	row := gpuframe.Col("row")
	show(all.Select(items.FrequentItems().As("row")).Explode("row").Select(row.Field("item"), row.Field("estimate"), row.Field("lower"), row.Field("upper")))
	show(all.Select(numbers.FrequentLongs().ListGet(0).Field("item").As("quantity")))
	show(sales.Select(product.ApproxTopK(2).As("in one step")).Explode("in one step"))
	// Output:
	// item,estimate,lower,upper
	// ink,2,2,2
	// jam,2,2,2
	// tea,2,2,2
	// quantity
	// 1
	// in one step
	// tea
	// jam
}

// Many conditions are one step.
func ExampleCase() {
	gpu := hostEngine()
	defer gpu.Close()
	qty := gpuframe.Col("qty")
	size := gpuframe.Case().When(qty.Lt(2), "few").When(qty.Lt(4), "some").Else("many")
	show(gpuframe.From(gpu, exampleSales()).Select(qty, size.As("size")))
	// Output:
	// qty,size
	// 2,some
	// 1,few
	// 3,some
	// 9,many
	// 1,few
	// 1,few
}

// Any aggregate can be of a frame: the products of the row and the one before, in the order of the prices.
func ExampleWindow_Rows() {
	gpu := hostEngine()
	defer gpu.Close()
	product, window := gpuframe.Col("product"), gpuframe.By("city").OrderBy("price").Rows(-1, 0)
	show(gpuframe.From(gpu, exampleSales()).
		Select("city", "price", product.JoinStrings(" ").Over(window).As("both"), product.List().Over(window).ListLength().As("rows")))
	// Output:
	// city,price,both,rows
	// Oslo,60,ink tea,2
	// Bern,55,tea,1
	// Oslo,80,tea jam,2
	// Rome,20,jam,1
	// Bern,90,tea ink,2
	// Oslo,51,ink,1
}
