package nested_test

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
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/memory"
)

// Sums of lists, and a row for each element.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// sums [7 (null) 5]
	// order [1 1 3]
	// prices [3 4 5]
	// line [0 1 0]
}

func example(ctx context.Context) error {
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
	orders, err := load(mgr, `[{"order": 1, "prices": [3, 4]}, {"order": 2, "prices": []}, {"order": 3, "prices": [5]}]`,
		arrow.Field{Name: "order", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "prices", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)})
	if err != nil {
		return err
	}
	defer orders.Release()

	sums, err := expr.Evaluate(ctx, orders, []expr.Expr{nested.Fold(expr.Col("prices"), nested.Sum)})
	if err != nil {
		return err
	}
	defer sums[0].Release()
	totals, err := sums[0].Array(ctx)
	if err != nil {
		return err
	}
	defer totals.Release()
	fmt.Println("sums", totals)

	lines, err := nested.Explode(ctx, orders, []string{"prices"}, nested.ExplodeOptions{DropEmpty: true, Position: "line"})
	if err != nil {
		return err
	}
	defer lines.Release()
	record, err := lines.Record(ctx)
	if err != nil {
		return err
	}
	defer record.Release()
	for i, column := range record.Columns() {
		fmt.Println(record.ColumnName(i), column)
	}
	return nil
}

// load makes a table of rows in JSON.
func load(mgr *memory.Manager, rows string, fields ...arrow.Field) (*buffer.Buffer, error) {
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		return nil, err
	}
	defer record.Release()
	return buffer.FromRecord(mgr, record)
}
