package gpuframe_test

import "github.com/gpuframe/gpuframe"

// Rows that both queries have, and rows that one has more often.
func ExampleQuery_IntersectAll() {
	gpu := hostEngine()
	defer gpu.Close()
	cities := gpuframe.From(gpu, exampleSales()).Select("city")
	first, last := cities.Head(3), cities.Tail(3) // Oslo, Bern, Oslo and Rome, Bern, Oslo
	show(first.Intersect(last))
	show(cities.IntersectAll(first).Select(gpuframe.Count().As("common")))
	show(cities.ExceptAll(first))
	// Output:
	// city
	// Oslo
	// Bern
	// common
	// 3
	// city
	// Rome
	// Bern
	// Oslo
}

// The rows of today that yesterday did not have, and the reverse. Two equal rows less one are one row.
func ExampleQuery_ExceptAll() {
	type stock struct {
		Product string `gpuframe:"product"`
		Pieces  int64  `gpuframe:"pieces"`
	}
	gpu := hostEngine()
	defer gpu.Close()
	yesterday := gpuframe.From(gpu, []stock{{"tea", 5}, {"jam", 3}, {"jam", 3}})
	today := gpuframe.From(gpu, []stock{{"tea", 4}, {"jam", 3}, {"ink", 9}})
	show(today.ExceptAll(yesterday))
	show(yesterday.ExceptAll(today))
	// Output:
	// product,pieces
	// tea,4
	// ink,9
	// product,pieces
	// tea,5
	// jam,3
}

// Rows in a random order, the same in each run, for training and for a test.
func ExampleQuery_Shuffle() {
	gpu := hostEngine()
	defer gpu.Close()
	rows := gpuframe.From(gpu, exampleSales()).Select("product", "qty").WithRowNumber("row").Shuffle(7)
	training, test := rows.Head(4), rows.Slice(4, 2)
	show(training.Intersect(test).Select(gpuframe.Count().As("common")))
	show(training.Union(test).Sort("row").Top(2, gpuframe.Col("row").Desc()))
	// Output:
	// common
	// 0
	// product,qty,row
	// ink,1,5
	// ink,1,4
}

// Random numbers that depend on the seed and on the row alone: about half of the rows.
func ExampleQuery_WithRandom() {
	gpu := hostEngine()
	defer gpu.Close()
	marked := gpuframe.From(gpu, exampleSales()).WithRandom("random", 3).WithColumns(gpuframe.Col("random").Lt(0.5).As("chosen"))
	show(marked.GroupBy("chosen").Agg(gpuframe.Count().As("n")).Sort("chosen"))
	// Output:
	// chosen,n
	// false,3
	// true,3
}
