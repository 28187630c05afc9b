package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// marks has a byte for each row of the build side, which is not zero if a pair has the row.
type marks struct {
	marked memory.Slice[uint8]
	// rows and missing are for the numbers of the rows without a mark.
	rows    memory.Slice[uint32]
	missing memory.Slice[uint8]
	block   *memory.Block
}

// newMarks returns marks of rows, at least one, without any set. The caller releases the
// block.
func (r *run) newMarks(rows int) (*marks, error) {
	block, slices, err := r.call.Scratch(4*uint64(rows), uint64(rows), op.BitmapBytes(rows))
	if err != nil {
		return nil, err
	}
	k := &marks{marked: slices[1], missing: slices[2], block: block}
	if k.rows, err = memory.Reinterpret[uint32](slices[0]); err == nil {
		err = errors.Join(k.marked.Fill(r.call.Stream, 0), r.waitIdle())
	}
	if err != nil {
		return nil, errors.Join(err, block.Release())
	}
	return k, nil
}

// mark marks the rows that pairs have.
func (r *run) mark(k *marks, p *pairs) error {
	switch {
	case p.rows == 0:
		return nil
	case r.call.OnHost():
		return markOnHost(k, p)
	}
	return r.markOnDevice(k, p)
}

// unmarked returns the numbers of the rows without a mark. The caller releases it.
func (r *run) unmarked(k *marks) (*column.Column, error) {
	var err error
	if r.call.OnHost() {
		err = unmarkedOnHost(k)
	} else {
		err = r.unmarkedOnDevice(k)
	}
	if err != nil {
		return nil, err
	}
	all, err := selection.RowNumbers(k.rows, nil)
	if err != nil {
		return nil, err
	}
	mask, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: k.rows.Len(), Buffers: []column.Bytes{{}, k.missing}, Manager: r.call.Manager})
	if err != nil {
		return nil, errors.Join(err, all.Release())
	}
	kept, err := selection.FilterColumn(r.call.Context(), all, mask, r.scratch())
	if kept, err = release.OnError(kept, err, all.Release(), mask.Release()); err != nil {
		return nil, err
	}
	rows, err := kept.Column(0).WithHostRows(r.call.Context())
	return release.OnError(rows, err, kept.Release())
}
