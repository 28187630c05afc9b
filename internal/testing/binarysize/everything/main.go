// Command everything links what every package of the library exports as functions.
package main

import (
	"fmt"
	"os"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/internal/testing/binarysize"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/kernels/elementwise"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/buckets"
	"github.com/gpuframe/gpuframe/memory/caching"
	"github.com/gpuframe/gpuframe/memory/replay"
	"github.com/gpuframe/gpuframe/memory/resource"
	"github.com/gpuframe/gpuframe/share"
)

// linked is printed if there is an argument, so the linker keeps all of it.
var linked = []any{
	device.Open, memory.NewManager, resource.NewManaged, caching.New, buckets.New, replay.NewPlayer,
	adaptor.NewTracking, adaptor.NewLogging, adaptor.NewGuard, adaptor.NewStatistics,
	column.FromArrays, column.ToArrays, buffer.FromRecord, buffer.FromReader, spill.NewSpiller,
	kernels.Load[string], expr.Evaluate, expr.Project, reduce.Table, reduce.Column, reduce.Scalars, elementwise.Add[int64],
	selection.Filter, selection.Take, selection.Concat, selection.Choose, selection.Reverse,
	dictionary.Encode, dictionary.Decode, group.Unique, group.ValueCounts,
	group.Histogram, group.CountIntegers, order.Sort, order.Rank, order.Merge, order.Search, order.Partition, order.TopKColumn, window.CumulativeSum, window.FillForward,
	dlpack.Export, dlpack.Import, dlpack.ExportMatrix, dlpack.ImportMatrix,
	arrowdev.Export, arrowdev.Import, arrowdev.ExportStream, arrowdev.ImportStream, arrowdev.ExportAsync, arrowdev.ImportAsync,
	share.Listen, share.Dial,
}

func main() {
	binarysize.PrintResident()
	if len(os.Args) > 1 {
		fmt.Println(linked...)
	}
}
