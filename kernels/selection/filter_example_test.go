package selection_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

func ExampleFilter() {
	ctx := context.Background()
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "carrier", Type: arrow.BinaryTypes.String},
		{Name: "delay", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	rows := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer rows.Release()
	rows.Field(0).(*array.StringBuilder).AppendValues([]string{"AA", "DL", "UA", "WN"}, nil)
	rows.Field(1).(*array.Int64Builder).AppendValues([]int64{20, 5, 0, 31}, []bool{true, true, false, true})
	record := rows.NewRecord()
	defer record.Release()
	flights, err := buffer.FromRecord(mgr, record)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer flights.Release()

	late, err := selection.Filter(ctx, flights, expr.Col("delay").Gt(expr.Lit(15)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer late.Release()
	back, err := late.Record(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer back.Release()
	fmt.Println(back.Column(0), back.Column(1))
	// Output:
	// ["AA" "WN"] [20 31]
}
