package gpuframe_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// The source is read once for both queries.
func ExampleQuery_Cache() {
	gpu := hostEngine()
	defer gpu.Close()
	large := gpuframe.From(gpu, exampleSales()).Filter(gpuframe.Col("price").Gt(50)).Cache()
	show(large.Select(gpuframe.Count().As("n")))
	show(large.GroupBy(gpuframe.Col("city")).Agg(gpuframe.Col("price").Max()).Sort(gpuframe.Col("city")))
	if err := large.Evict(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// n
	// 5
	// city,price
	// Bern,90
	// Oslo,80
}

// A result that may be larger than memory, part by part.
func ExampleQuery_Batches() {
	gpu := hostEngine()
	defer gpu.Close()
	rows := int64(0)
	for frame, err := range gpuframe.From(gpu, exampleSales()).Sort(gpuframe.Col("price")).Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		rows += frame.NumRows()
		if err := frame.Release(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(rows, "rows")
	// Output: 6 rows
}

// The plan, as written and as run.
func ExampleQuery_Explain() {
	gpu := hostEngine()
	defer gpu.Close()
	plan, err := gpuframe.From(gpu, exampleSales()).
		With(gpuframe.Col("price").Mul(gpuframe.Col("qty")).As("revenue")).
		Filter(gpuframe.Col("city").Eq("Oslo")).
		Select(gpuframe.Col("revenue")).
		Explain(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	written, _, _ := strings.Cut(plan, "as run on") // the optimized plan and the needs follow
	fmt.Println(strings.TrimSpace(written))
	// Output:
	// as written:
	//   select revenue  [about 1 rows, 8 B]
	//     filter city == "Oslo"  [about 1 rows, 76 B]
	//       select city, product, ts, price, qty, revenue = price * qty  [6 rows, 456 B]
	//         scan 6 values of gpuframe_test.Sale  [6 rows, 408 B]
}

// A picture of the plan, for notebooks and documents.
func ExampleQuery_Diagram() {
	gpu := hostEngine()
	defer gpu.Close()
	sales := gpuframe.From(gpu, exampleSales())
	cities := sales.GroupBy(gpuframe.Col("city")).Agg(gpuframe.Col("price").Mean().As("usual"))
	chart, err := sales.Join(cities, gpuframe.Inner, gpuframe.Col("city")).Filter(gpuframe.Col("price").Gt(gpuframe.Col("usual"))).Diagram(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(chart)
	// Output:
	// flowchart BT
	//     n0["filter price #gt; usual<br/>[about 2 rows, 152 B]"]
	//     n1["inner join on city<br/>[about 6 rows, 456 B]"]
	//     n2["scan 6 values of gpuframe_test.Sale, may skip rows unless city is within the bounds of city<br/>[6 rows, 408 B]"]
	//     n3["select city, usual = #96;mean(price)#96;<br/>[about 1 rows, 32 B]"]
	//     n4["group by city: mean(price)<br/>[about 1 rows, 32 B]"]
	//     n5["scan 6 values of gpuframe_test.Sale, 2 of 5 columns<br/>[6 rows, 192 B]"]
	//     n1 --> n0
	//     n2 --> n1
	//     n3 --> n1
	//     n4 --> n3
	//     n5 --> n4
}

// The same picture as SVG, which needs no other program.
func ExampleQuery_DiagramSVG() {
	gpu := hostEngine()
	defer gpu.Close()
	svg, err := gpuframe.From(gpu, exampleSales()).Filter(gpuframe.Col("price").Gt(50)).Sort("price").DiagramSVG(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(svg, "<rect "), "boxes")
	// Output:
	// 3 boxes
}

// The work of each operation of a run, as a list and as a trace for ui.perfetto.dev.
func ExampleProfile_Operations() {
	gpu := hostEngine()
	defer gpu.Close()
	var profile gpuframe.Profile
	frame, err := gpuframe.From(gpu, exampleSales()).GroupBy("city").Agg(gpuframe.Count().As("n")).Collect(context.Background(), gpuframe.Profiled(&profile))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer frame.Release()
	largest := slices.MaxFunc(profile.Operations(), func(a, b gpuframe.OperationProfile) int { return cmp.Compare(a.Bytes, b.Bytes) })
	fmt.Println("most bytes:", largest.Name)
	for _, operation := range profile.Operations() {
		fmt.Println(operation.Rows, "rows of", operation.Name)
	}
	var trace strings.Builder
	fmt.Println(profile.WriteTrace(&trace), json.Valid([]byte(trace.String())))
	// Output:
	// most bytes: select city, n = `count()`
	// 3 rows of select city, n = `count()`
	// 3 rows of group by city: count()
	// 6 rows of scan 6 values of gpuframe_test.Sale, 1 of 5 columns
	// <nil> true
}

// The expected needs of a query, before it runs.
func ExampleQuery_Needs() {
	gpu := hostEngine()
	defer gpu.Close()
	needs, err := gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("price")).Needs(context.Background())
	fmt.Println(needs.Rows, "rows,", needs.Bytes, "bytes,", err)
	// Output: 6 rows, 48 bytes, <nil>
}

// Write streams the rows of a query in a format.
func ExampleQuery_Write() {
	gpu := hostEngine()
	defer gpu.Close()
	rows, err := gpuframe.From(gpu, exampleSales()).
		Select(gpuframe.Col("city"), gpuframe.Col("ts").Day().As("day")).
		Head(2).
		Write(context.Background(), os.Stdout, gpuframe.JSONLines())
	fmt.Println(rows, err)
	// Output:
	// {"city":"Oslo","day":1}
	// {"city":"Bern","day":1}
	// 2 <nil>
}
