package arrow18_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/arrow18"
)

// A query reads a record of arrow-go v18 and returns one, without a copy on the way.
func Example() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "delay", Type: arrow.PrimitiveTypes.Int64}}, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"delay":5},{"delay":40},{"delay":20}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer record.Release()
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()

	imported, err := arrow18.Import(record)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer imported.Release()
	ctx := context.Background()
	late, err := gpu.Records(nil, imported).Filter(gpuframe.Col("delay").Gt(15)).Collect(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer late.Release()
	result, err := arrow18.Record(ctx, late)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer result.Release()
	fmt.Println(result.Column(0))
	// Output: [40 20]
}
