package gpuframe_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
)

// Go structs are rows. Pointers hold nulls.
func ExampleFrom() {
	type person struct {
		Name string `gpuframe:"name"`
		Age  *int32 `gpuframe:"age"`
	}
	age := int32(41)
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, []person{{"Ada", &age}, {"Bo", nil}}).With(gpuframe.Col("age").IsNull().As("unknown")))
	// Output:
	// name,age,unknown
	// Ada,41,false
	// Bo,,true
}

// Types of CSV files are inferred, and no value changes: text with zeros in front stays text.
func ExampleEngine_CSV() {
	gpu := hostEngine()
	defer gpu.Close()
	folder, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "people.csv")
	if err := os.WriteFile(path, []byte("name,phone,born\nAda,+47 22,1815-12-10\nBo,+41 31,\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	people := gpu.CSV(path)
	schema, err := people.Schema(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, field := range schema.Fields() {
		fmt.Println(field.Name, field.Type)
	}
	show(people.Filter(gpuframe.Col("born").IsNull()))
	// Output:
	// name utf8
	// phone utf8
	// born date32
	// name,phone,born
	// Bo,+41 31,
}

// JSON lines have lists and structs.
func ExampleEngine_JSONLines() {
	gpu := hostEngine()
	defer gpu.Close()
	folder, err := os.MkdirTemp("", "gpuframe")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "orders.jsonl")
	text := `{"id": 1, "items": [3, 4], "to": {"city": "Oslo"}}` + "\n" + `{"id": 2, "items": [5], "to": {"city": "Bern"}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	show(gpu.JSONLines(path).Select(gpuframe.Col("id"), gpuframe.Col("items").ListSum().As("items"), gpuframe.Col("to").Field("city")))
	// Output:
	// id,items,city
	// 1,7,Oslo
	// 2,5,Bern
}

// exampleRecord is an Arrow record in host memory.
func exampleRecord() arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[{"delay":5},{"delay":40},{"delay":null}]`))
	if err != nil {
		panic(err)
	}
	return record
}

// Arrow records move to the device when the query runs.
func ExampleEngine_Records() {
	gpu := hostEngine()
	defer gpu.Close()
	record := exampleRecord()
	defer record.Release()
	show(gpu.Records(nil, record, record).Select(gpuframe.Col("delay").Mean().As("mean"), gpuframe.Count().As("rows")))
	// Output:
	// mean,rows
	// 22.5,6
}

// Any reader of Arrow records, which is read once.
func ExampleEngine_Reader() {
	gpu := hostEngine()
	defer gpu.Close()
	record := exampleRecord()
	defer record.Release()
	reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Release()
	show(gpu.Reader(reader).DropNulls().Sort(gpuframe.Col("delay").Desc()))
	// Output:
	// delay
	// 40
	// 5
}

// A frame is a table in device memory, and a source of further queries.
func ExampleFrame_Query() {
	gpu := hostEngine()
	defer gpu.Close()
	sales, err := gpuframe.From(gpu, exampleSales()).Collect(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sales.Release()
	show(sales.Query().Select(gpuframe.Col("price").Max().As("max")))
	// Output:
	// max
	// 90
}
