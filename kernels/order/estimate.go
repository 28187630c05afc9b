package order

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// estimateSort estimates a sort of a table that gathers all columns: the row numbers exist
// together with the memory of the sort, and then with the result.
func (o *ordering) estimateSort(table *buffer.Buffer) error {
	if o.unforeseen() {
		return errNoEstimate
	}
	taken, err := o.estimateTake(table)
	if err != nil {
		return err
	}
	rows := o.result(arrow.PrimitiveTypes.Uint32).Sizes()
	numbers, err := op.Bytes(rows[:]...)
	if err != nil {
		return err
	}
	sort, err := op.Bytes(o.scratch()...)
	if err != nil {
		return err
	}
	scratch := taken.Scratch
	if sort > taken.Peak() {
		scratch = sort - taken.Result
	}
	return o.call.Estimate([]uint64{taken.Result}, []uint64{numbers, scratch})
}

// estimateTake estimates the gather of all rows of a table.
func (o *ordering) estimateTake(table *buffer.Buffer) (kernels.Estimate, error) {
	rows, err := o.standIn(table)
	if err != nil {
		return kernels.Estimate{}, err
	}
	estimate, err := kernels.EstimateOf(func(options kernels.Options) (*buffer.Buffer, error) {
		options.Stream, options.Manager = o.call.Stream, o.call.Manager
		return selection.TakeWith(o.call.Context(), table, rows, selection.TakeOptions{Options: options, Bounds: selection.Trust, Distinct: true})
	})
	_, err = release.OnError(rows, err)
	if err != nil {
		return estimate, err
	}
	return estimate, rows.Release()
}

// standIn returns a column of row numbers for estimates, which do not read it: its memory is
// that of a column of the table. A table without values of four bytes has no estimate.
func (o *ordering) standIn(table *buffer.Buffer) (*column.Column, error) {
	bytes := 4 * o.capacity
	if bytes == 0 {
		return column.New(column.Data{Type: arrow.PrimitiveTypes.Uint32, Rows: o.count, Buffers: make([]column.Bytes, 2), Manager: o.call.Manager})
	}
	for i := range table.NumColumns() {
		c := table.Column(i)
		for j := range c.NumBuffers() {
			if c.Buffer(j).Len() < bytes {
				continue
			}
			part, err := c.Buffer(j).Slice(0, bytes)
			if err != nil {
				return nil, err
			}
			return column.New(column.Data{Type: arrow.PrimitiveTypes.Uint32, Length: o.capacity, Rows: o.count, Buffers: []column.Bytes{{}, part}})
		}
	}
	return nil, errNoEstimate
}

// estimateSearch estimates a search. check are the sizes of the memory that the check of the
// order takes, before that of the search.
func (o *ordering) estimateSearch(sorted, values someRows, check []uint64) error {
	sizes, scratch := [2]uint64{}, []uint64(nil)
	if values.count() > 0 {
		sizes = op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: values.count()}.Sizes()
		if scratch = findScratch(sorted, values); o.call.OnHost() {
			scratch = hostFindScratch(sorted, values)
		}
	}
	before, err := op.Bytes(check...)
	if err != nil {
		return err
	}
	result, err := op.Bytes(sizes[:]...)
	if err != nil {
		return err
	}
	find, err := op.Bytes(scratch...)
	if err != nil {
		return err
	}
	if before > result {
		find = max(find, before-result)
	}
	return o.call.Estimate(sizes[:], []uint64{find})
}
