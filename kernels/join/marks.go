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
func newMarks(c *call, rows int) (*marks, error) {
	block, slices, err := c.Scratch(4*uint64(rows), uint64(rows), op.BitmapBytes(rows))
	if err != nil {
		return nil, err
	}
	k := &marks{marked: slices[1], missing: slices[2], block: block}
	if k.rows, err = memory.Reinterpret[uint32](slices[0]); err == nil {
		err = errors.Join(k.marked.Fill(c.Stream, 0), c.waitIdle())
	}
	if err != nil {
		return nil, errors.Join(err, block.Release())
	}
	return k, nil
}

// mark marks the rows that pairs have.
func (k *marks) mark(c *call, p *pairs) error {
	switch {
	case p.rows == 0:
		return nil
	case c.OnHost():
		return markOnHost(k, p)
	}
	return c.launch("pairs", "mark_rows", p.rows, k.marked, p.build, uint64(p.rows))
}

// unmarked returns the numbers of the rows without a mark. The caller releases it.
func (k *marks) unmarked(c *call) (*column.Column, error) {
	n, err := k.rows.Len(), error(nil)
	if c.OnHost() {
		err = unmarkedOnHost(k)
	} else {
		err = c.launch("pairs", "unmarked_rows", (n+63)/64*64, k.rows, k.missing, k.marked, uint64(n))
	}
	if err != nil {
		return nil, err
	}
	all, err := selection.RowNumbers(k.rows, nil)
	if err != nil {
		return nil, err
	}
	mask, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: k.rows.Len(), Buffers: []column.Bytes{{}, k.missing}, Manager: c.Manager})
	if err != nil {
		return nil, errors.Join(err, all.Release())
	}
	kept, err := selection.FilterColumn(c.Context(), all, mask, c.scratch())
	if kept, err = release.OnError(kept, err, all.Release(), mask.Release()); err != nil {
		return nil, err
	}
	rows, err := kept.Column(0).WithHostRows(c.Context())
	return release.OnError(rows, err, kept.Release())
}

// markOnHost marks the rows that pairs have.
func markOnHost(k *marks, p *pairs) error {
	build, buildErr := p.build.Host()
	marked, err := k.marked.Host()
	if err := errors.Join(buildErr, err); err != nil {
		return err
	}
	for _, row := range build[:p.rows] {
		if row != noRow {
			marked[row] = 1
		}
	}
	return nil
}

// unmarkedOnHost writes all numbers, and a bit for each row without a mark.
func unmarkedOnHost(k *marks) error {
	numbers, numbersErr := k.rows.Host()
	marked, markedErr := k.marked.Host()
	bits, bitsErr := k.missing.Host()
	if err := errors.Join(numbersErr, markedErr, bitsErr); err != nil {
		return err
	}
	clear(bits)
	for i := range numbers {
		numbers[i] = uint32(i)
		if marked[i] == 0 {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return nil
}
