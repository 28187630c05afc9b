package expr

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/hostarray"
	"github.com/gpuframe/gpuframe/internal/hosteval"
	"github.com/gpuframe/gpuframe/internal/op"
)

// onHost evaluates the rows of the table and fills the columns up to its capacity with
// nulls.
func onHost(ctx context.Context, call *op.Call, table *buffer.Buffer, program *exprtree.Program, inputs []*column.Column) ([]*column.Column, error) {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	arrays, err := hostarray.Views(inputs)
	if err != nil {
		return nil, err
	}
	defer hostarray.Release(arrays)
	results, err := hosteval.Evaluate(ctx, program, arrays, int(rows))
	if err != nil {
		return nil, err
	}
	defer hostarray.Release(results)
	chunks := make([][]arrow.Array, len(results))
	for i := range results {
		if missing := int(table.Capacity() - rows); missing > 0 {
			computed := results[i]
			results[i] = hostarray.Extend(computed, missing)
			computed.Release()
		}
		chunks[i] = results[i : i+1]
	}
	return column.FromArrays(ctx, call.Manager, chunks, column.UploadOptions{Stream: call.Stream, Tag: call.Tag})
}
