package buffer_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func Example() {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "carrier", Type: arrow.BinaryTypes.String},
		{Name: "delay", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.StringBuilder).AppendValues([]string{"AA", "DL", "UA"}, nil)
	builder.Field(1).(*array.Int32Builder).AppendValues([]int32{-3, 0, 41}, []bool{true, false, true})
	record := builder.NewRecord()
	defer record.Release()

	if err := thereAndBack(record); err != nil {
		log.Fatal(err)
	}
	// Output:
	// buffer of 3 rows × 2 columns
	//   carrier  utf8
	//   delay    int32  nullable
	// 1 allocation
	// 3 rows, int32 column of 3, 1 nulls
	// shape: (3, 2)
	// ┌─────────┬───────┐
	// │ carrier ┆ delay │
	// │ utf8    ┆ int32 │
	// ╞═════════╪═══════╡
	// │ AA      ┆    -3 │
	// │ DL      ┆  null │
	// │ …       ┆     … │
	// └─────────┴───────┘
	// [(null) 41]
}

func thereAndBack(record arrow.Record) (err error) {
	ctx := context.Background()
	dev, err := device.Open("host") // "" for the first GPU
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()

	table, err := buffer.FromRecord(mgr, record)
	if err != nil {
		return err
	}
	defer table.Release()
	fmt.Println(table)
	fmt.Println(mgr.Stats().Allocations, "allocation")
	rows, err := table.NumRows(ctx)
	if err != nil {
		return err
	}
	fmt.Println(rows, "rows,", table.Column(1)) // borrowed from the table
	preview, err := table.Preview(ctx, 2)       // waits; Println does not
	if err != nil {
		return err
	}
	fmt.Println(preview)

	last, err := table.Slice(1, 2) // shares the memory of table
	if err != nil {
		return err
	}
	defer last.Release()
	back, err := last.Record(ctx)
	if err != nil {
		return err
	}
	defer back.Release()
	fmt.Println(back.Column(1))
	return nil
}
