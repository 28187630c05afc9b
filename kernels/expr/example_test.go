package expr_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	if err := lateFlights(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// hours: [1.5 (null) -0.25]
	// late: [true (null) false]
}

func lateFlights() (err error) {
	ctx := context.Background()
	dev, err := device.Open("host") // "cuda:0" for a GPU
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer mgr.Close()

	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	minutes, _, err := array.FromJSON(arrowmemory.DefaultAllocator, schema.Field(0).Type, strings.NewReader("[90, null, -15]"))
	if err != nil {
		return err
	}
	table, err := buffer.FromRecord(mgr, array.NewRecord(schema, []arrow.Array{minutes}, 3))
	if err != nil {
		return err
	}
	defer table.Release()

	delay := expr.Col("delay")
	results, err := expr.Project(ctx, table, []expr.Expr{
		delay.Div(expr.Lit(60.0)).As("hours"),
		delay.Gt(expr.Lit(15)).As("late"),
	})
	if err != nil {
		return err
	}
	defer results.Release()
	record, err := results.Record(ctx)
	if err != nil {
		return err
	}
	for i, c := range record.Columns() {
		fmt.Printf("%s: %v\n", record.ColumnName(i), c)
	}
	return nil
}

func ExampleBind() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int64}}, nil)
	_, err := expr.Bind(schema, expr.Col("delay").Gt(expr.Lit("x")))
	fmt.Println(err)
	// Output: expr: delay > "x": cannot compare int64 with utf8: operation not defined for these types
}
