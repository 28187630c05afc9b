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
