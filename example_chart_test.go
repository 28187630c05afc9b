package gpuframe_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/gpuframe/gpuframe"
)

func ExampleFrame_Chart() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.Close()
	flights := []struct {
		Origin string `gpuframe:"origin"`
		Delay  int64  `gpuframe:"delay"`
	}{{"OSL", 5}, {"OSL", 20}, {"BRN", 30}}
	byOrigin, err := gpuframe.From(gpu, flights).GroupBy("origin").Agg(gpuframe.Col("delay").Mean().Alias("mean")).OrderBy("origin").Collect(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer byOrigin.Release()
	svg, err := byOrigin.Chart().Bar("origin", "mean").Title("Delays").SVG(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Count(svg, "<rect "), "bars")
	// Output: 2 bars
}

func ExamplePaced() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.Close()
	numbers := make([]struct {
		N int64 `gpuframe:"n"`
	}, 1000)
	var last gpuframe.Pace
	sum, err := gpuframe.From(gpu, numbers).Select(gpuframe.Col("n").Sum()).Collect(context.Background(), gpuframe.Paced(func(p gpuframe.Pace) { last = p }))
	if err != nil {
		log.Fatal(err)
	}
	defer sum.Release()
	fmt.Println(last.Rows, "of", last.OfRows)
	// Output: 1000 of 1000
}

func ExampleQuery_Histograms() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.Close()
	flights := []struct {
		Delay int64 `gpuframe:"delay"`
	}{{5}, {20}, {22}, {30}, {90}}
	list, err := gpuframe.From(gpu, flights).Histograms(context.Background(), 5)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range list {
		fmt.Println(h.Column, h.Begin, h.Step, h.Rows)
	}
	// Output: delay 0 20 [1 3 0 0 1]
}

// The same rows as a drawing, a page and a specification of Vega-Lite: Read reads them once.
func ExampleChart() {
	gpu := hostEngine()
	defer gpu.Close()
	sales, err := gpuframe.From(gpu, exampleSales()).Collect(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer sales.Release()
	points, err := sales.Chart().Points("price", "qty").Colour("city").Size(320, 200).Read(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	svg, err := points.SVG(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	specification, err := points.VegaLite(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(svg, `width="320"`), strings.Contains(string(specification), "vega-lite/v5"))
	// Output: true true
}

// The number of rows in ranges of a column, as a picture and as text.
func ExampleHistogram() {
	gpu := hostEngine()
	defer gpu.Close()
	prices := gpuframe.From(gpu, exampleSales()).Select("price")
	frame, err := prices.Collect(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer frame.Release()
	svg, err := frame.Chart().Histogram("price").SVG(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	list, err := prices.Histograms(context.Background(), 8)
	if err != nil {
		log.Fatal(err)
	}
	var h gpuframe.Histogram = list[0]
	fmt.Println(strings.HasPrefix(svg, "<svg"), h, "from", h.Begin, "in steps of", h.Step)
	// Output:
	// true ▅  █▅ ▅▅ from 20 in steps of 10
}
