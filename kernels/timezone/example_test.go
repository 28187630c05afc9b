package timezone_test

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
	"github.com/gpuframe/gpuframe/kernels/timezone"
	"github.com/gpuframe/gpuframe/memory"
)

// The hour of two instants in Oslo, before and after the change to summer time.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [1 3]
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
	trips, err := load(mgr, `[{"time": "2026-03-29 00:30:00"}, {"time": "2026-03-29 01:30:00"}]`,
		arrow.Field{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}})
	if err != nil {
		return err
	}
	defer trips.Release()

	hours, err := expr.Evaluate(ctx, trips, []expr.Expr{timezone.Local(expr.Col("time"), "Europe/Oslo").Hour()})
	if err != nil {
		return err
	}
	defer hours[0].Release()
	array, err := hours[0].Array(ctx)
	if err != nil {
		return err
	}
	defer array.Release()
	fmt.Println(array)
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
