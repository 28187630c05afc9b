package join_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// The name of each flight's carrier. A left join keeps flights without one.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// carrier ["AA" "ZZ" "DL"]
	// delay [20 5 31]
	// name ["American" (null) "Delta"]
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
	flights, err := load(mgr, `[{"carrier": "AA", "delay": 20}, {"carrier": "ZZ", "delay": 5}, {"carrier": "DL", "delay": 31}]`,
		arrow.Field{Name: "carrier", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "delay", Type: arrow.PrimitiveTypes.Int64})
	if err != nil {
		return err
	}
	defer flights.Release()
	carriers, err := load(mgr, `[{"carrier": "AA", "name": "American"}, {"carrier": "DL", "name": "Delta"}]`,
		arrow.Field{Name: "carrier", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "name", Type: arrow.BinaryTypes.String})
	if err != nil {
		return err
	}
	defer carriers.Release()

	joined, err := join.Tables(ctx, flights, carriers, join.Using("carrier"), join.Options{Kind: join.Left})
	if err != nil {
		return err
	}
	defer joined.Release()
	record, err := joined.Record(ctx)
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
