package expr

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/op"
)

// estimateOnHost records the sizes that onHost allocates, with a bitmap for each output
// that can have nulls: operations on values such as divisions, and the rows behind a
// row count, decide only later whether it has.
func estimateOnHost(call *op.Call, table *buffer.Buffer, program *exprtree.Program) error {
	rows, known := table.HostRows()
	nullable := program.Nullable(func(place int) bool { return op.Nullable(table.Column(place)) })
	var sizes []uint64
	for i, output := range program.Outputs {
		if output.Kind() == exprtree.String { // its size depends on the data
			_, _, err := call.Allocate(1)
			return err
		}
		result := op.Result{Type: output.Type, Length: int(table.Capacity()), Nullable: nullable[i] || !known || rows < table.Capacity()}
		s := result.Sizes()
		sizes = append(sizes, s[:]...)
	}
	return call.Estimate(sizes, nil)
}

// onHost evaluates the rows of the table and fills the columns up to its capacity with
// nulls.
func onHost(ctx context.Context, call *op.Call, table *buffer.Buffer, program *exprtree.Program, inputs []*column.Column) ([]*column.Column, error) {
	if call.Estimating() {
		return nil, estimateOnHost(call, table, program)
	}
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	arrays, err := hostarray.Views(inputs)
	if err != nil {
		return nil, err
	}
	defer hostarray.Release(arrays)
	results, err := hosteval.EvaluateParts(hosteval.WithLimit(ctx, call.Manager.Budget()), program, arrays, int(rows))
	if err != nil {
		return nil, err
	}
	defer hosteval.ReleaseParts(results)
	if missing := int(table.Capacity() - rows); missing > 0 {
		for _, parts := range results {
			last := &parts[len(parts)-1]
			computed := *last
			*last = hostarray.Extend(computed, missing)
			computed.Release()
		}
	}
	return column.FromArrays(ctx, call.Manager, results, column.UploadOptions{Stream: call.Stream, Tag: call.Tag})
}
