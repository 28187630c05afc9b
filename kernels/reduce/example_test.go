package reduce_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	if err := delays(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// flights: 4
	// mean(delay) where distance > 1000: 17.5
	// max(delay): 60
}

func delays(ctx context.Context) error {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "delay", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "distance", Type: arrow.PrimitiveTypes.Int32},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[
		{"delay": 5, "distance": 1200}, {"delay": 60, "distance": 300},
		{"delay": 30, "distance": 2400}, {"delay": null, "distance": 1800}]`))
	if err != nil {
		return err
	}
	defer record.Release()
	flights, err := buffer.FromRecord(mgr, record)
	if err != nil {
		return err
	}
	defer flights.Release()

	delay := expr.Col("delay")
	aggregates := []reduce.Aggregate{
		reduce.CountAll().As("flights"),
		reduce.Mean(delay).Where(expr.Col("distance").Gt(expr.Lit(1000))),
		reduce.Max(delay),
	}
	results, err := reduce.Scalars(ctx, flights, aggregates)
	if err != nil {
		return err
	}
	for i, result := range results {
		fmt.Printf("%s: %v\n", aggregates[i].Name(), result)
	}
	return nil
}
