package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// pick returns, for each group, the value of the row that a state has found.
func (r *aggregation) pick(o *output, values *column.Column) (*column.Column, error) {
	rows := *o
	rows.dataType, rows.finish, rows.nullable = arrow.PrimitiveTypes.Uint32, finishRow, true
	numbers, err := r.finish(&rows)
	if err != nil {
		return nil, err
	}
	taken, err := r.take(values, numbers, r.resultOptions().Tag, selection.Trust)
	return release.OnError(taken, errors.Join(err, numbers.Release()))
}

// take returns rows of a column.
func (r *queryRows) take(values, rows *column.Column, tag string, bounds selection.Bounds) (*column.Column, error) {
	options := r.scratch()
	options.Tag = tag
	return selection.TakeColumnWith(r.call.Context(), values, rows, selection.TakeOptions{Options: options, Bounds: bounds})
}

// newScratch returns a column for intermediate results.
func (r *queryRows) newScratch(result op.Result, write func(out op.Buffers) error) (*column.Column, error) {
	call := r.call
	call.Tag = op.ScratchTag
	return newColumn(&call, result, write)
}
