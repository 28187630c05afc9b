package gpuframe_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe"
)

// advice is what a program tells its user about an error of a query.
func advice(err error) string {
	switch {
	case errors.Is(err, gpuframe.ErrClosed):
		return "the engine is closed: open another one"
	case errors.Is(err, gpuframe.ErrUsed):
		return "the reader has been read: make another one"
	case errors.Is(err, gpuframe.ErrContents), errors.Is(err, gpuframe.ErrRead):
		return "write the file again"
	case errors.Is(err, gpuframe.ErrUnsupported):
		return "leave the column out"
	case errors.Is(err, gpuframe.ErrFunctionResult), errors.Is(err, gpuframe.ErrKernelEntry):
		return "correct the function"
	}
	return err.Error()
}

// Conditions of errors have names.
func Example_conditions() {
	gpu := hostEngine()
	sales := gpuframe.From(gpu, exampleSales())
	if err := gpu.Close(); err != nil {
		panic(err)
	}
	_, err := sales.Collect(context.Background())
	fmt.Println(advice(err))
	fmt.Println(gpuframe.Version[:1]) // that of the module, such as v0.1.0
	// Output:
	// the engine is closed: open another one
	// v
}

// The other kinds of joins: all rows of the right side, of both sides, and each row with each.
func ExampleJoinKind_others() {
	gpu := hostEngine()
	defer gpu.Close()
	left := gpuframe.From(gpu, []struct{ City, Sales int64 }{{1, 10}, {2, 20}})
	right := gpuframe.From(gpu, []struct{ City, Shops int64 }{{2, 7}, {3, 8}})
	for _, kind := range []gpuframe.JoinKind{gpuframe.Right, gpuframe.Full} {
		fmt.Println(kind)
		show(left.Join(right, kind, "City").Sort("City"))
	}
	fmt.Println(gpuframe.Cross)
	show(left.Join(right, gpuframe.Cross).Select(gpuframe.Count()))
	// Output:
	// right
	// City,Sales,Shops
	// 2,20,7
	// 3,,8
	// full
	// City,Sales,Shops
	// 1,10,
	// 2,20,7
	// 3,,8
	// cross
	// count
	// 4
}

// Sums of the rows up to each row, and from each row on.
func ExampleWindow_Rows_bounds() {
	gpu := hostEngine()
	defer gpu.Close()
	qty, days := gpuframe.Col("qty"), gpuframe.By().OrderBy("ts")
	show(gpuframe.From(gpu, exampleSales()).Select("qty",
		qty.Sum().Over(days.Rows(gpuframe.FirstRow, 0)).As("before"),
		qty.Sum().Over(days.Rows(0, gpuframe.LastRow)).As("after")))
	// Output:
	// qty,before,after
	// 2,2,17
	// 1,3,15
	// 3,6,14
	// 9,15,11
	// 1,16,2
	// 1,17,1
}
