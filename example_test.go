package gpuframe_test

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
)

func ExampleOpen() {
	if err := load(); err != nil {
		fmt.Println(err)
	}
	// Output: 3 rows of delay: type=int64 on host
}

func load() error {
	engine, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<30)) // without Device: the first GPU
	if err != nil {
		return err
	}
	defer engine.Close()

	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int64}}, nil)
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.Int64Builder).AppendValues([]int64{5, 40, 7}, nil)
	record := builder.NewRecord()
	defer record.Release()
	table, err := buffer.FromRecord(engine.Manager(), record)
	if err != nil {
		return err
	}
	defer table.Release()
	fmt.Println(table.Capacity(), "rows of", table.Schema().Field(0), "on", engine.Device())
	return nil
}
