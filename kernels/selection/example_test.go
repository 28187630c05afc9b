package selection_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

func ExampleTakeColumn() {
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
	texts := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	texts.AppendValues([]string{"zero", "one", "two"}, nil)
	rows := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	rows.AppendValues([]int32{2, 0, 0, 2}, []bool{true, true, false, true})
	columns, err := column.FromArrays(ctx, mgr, [][]arrow.Array{{texts.NewArray()}, {rows.NewArray()}}, column.UploadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer columns[0].Release()
	defer columns[1].Release()

	taken, err := selection.TakeColumn(ctx, columns[0], columns[1])
	if err != nil {
		fmt.Println(err)
		return
	}
	defer taken.Release()
	fmt.Println(taken.Array(ctx))
	// Output:
	// ["two" "zero" (null) "two"] <nil>
}
