//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// exampleTable makes a table of one column on the host device, which is available on
// every machine.
func exampleTable() (*memory.Manager, *buffer.Buffer, error) {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		return nil, nil, err
	}
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return nil, nil, err
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "price", Type: arrow.PrimitiveTypes.Int64}}, nil)
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.Int64Builder).AppendValues([]int64{3, 5, 8}, nil)
	record := builder.NewRecord()
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	return mgr, table, err
}

// A table is exported and imported again. Because the array is from this process, the
// import returns the same memory.
func Example() {
	mgr, table, err := exampleTable()
	if err != nil {
		log.Fatal(err)
	}
	defer table.Release()
	exported, err := arrowdev.Export(table)
	if err != nil {
		log.Fatal(err)
	}
	defer exported.Release()

	back, err := arrowdev.Import(mgr, exported.Device(), exported.Schema())
	if err != nil {
		log.Fatal(err)
	}
	defer back.Release()
	record, err := back.Record(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer record.Release()
	fmt.Println(record.Column(0))
	fmt.Println(back.Column(0).Buffer(1).Pointer() == table.Column(0).Buffer(1).Pointer())
	// Output:
	// [3 5 8]
	// true
}

// One column is exported with a name, and imported with it.
func ExampleExportColumn() {
	mgr, table, err := exampleTable()
	if err != nil {
		log.Fatal(err)
	}
	defer table.Release()
	exported, err := arrowdev.ExportColumn(table.Column(0), arrow.Field{Name: "cost"})
	if err != nil {
		log.Fatal(err)
	}
	defer exported.Release()

	c, field, err := arrowdev.ImportColumn(mgr, exported.Device(), exported.Schema())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Release()
	fmt.Println(field.Name, c)
	// Output:
	// cost int64 column of 3, 0 nulls
}

// arrow-go imports host memory without a copy.
func ExampleImportRecord() {
	_, table, err := exampleTable()
	if err != nil {
		log.Fatal(err)
	}
	defer table.Release()
	exported, err := arrowdev.Export(table)
	if err != nil {
		log.Fatal(err)
	}
	defer exported.Release()

	// An ArrowDeviceArray begins with a plain ArrowArray.
	record, err := arrowdev.ImportRecord(exported.Device(), exported.Schema())
	if err != nil {
		log.Fatal(err)
	}
	defer record.Release()
	fmt.Println(record.NumRows(), record.Column(0))
	// Output:
	// 3 [3 5 8]
}
