package buffer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func ExampleNewReader() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.Int32Builder).AppendValues([]int32{1, 2, 3}, nil)
	record := builder.NewRecord()
	defer record.Release()
	records, err := array.NewRecordReader(schema, []arrow.Record{record, record})
	if err != nil {
		log.Fatal(err)
	}
	defer records.Release()

	if err := readAll(records); err != nil {
		log.Fatal(err)
	}
	// Output:
	// buffer of 3 rows × 1 columns
	//   n  int32
	// buffer of 3 rows × 1 columns
	//   n  int32
}

// readAll copies the batches to the device one by one.
func readAll(records array.RecordReader) (err error) {
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

	var reader buffer.Reader = buffer.NewReader(mgr, records, buffer.LoadOptions{})
	defer reader.Close()
	for {
		table, err := reader.Next(context.Background())
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println(table)
		if err := table.Release(); err != nil {
			return err
		}
	}
}
