package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// noRow is the number of the row that does not exist: [selection.Null] makes it null.
const noRow = 1<<32 - 1

// form selects the pairs of the matches of a row of the probe side.
type form uint32

const (
	// everyMatch makes a pair of each match.
	everyMatch form = iota
	// everyMatchOrNone makes a pair with noRow for a row without a match, too.
	everyMatchOrNone
	// anyMatch makes a pair with noRow for a row with a match, noMatch for one without.
	anyMatch
	noMatch
)

// pairs are rows of a result: numbers of rows of both sides, or noRow.
type pairs struct {
	probe, build memory.Slice[uint32]
	rows         int
	block        *memory.Block
}

// Release releases the memory.
func (p *pairs) Release() error {
	if p == nil {
		return nil
	}
	return p.block.Release()
}

// newPairs allocates pairs. The caller releases them.
func (r *run) newPairs(rows int) (*pairs, error) {
	block, slices, err := r.uint32s(rows, rows)
	if err != nil {
		return nil, err
	}
	return &pairs{probe: slices[0], build: slices[1], rows: rows, block: block}, nil
}

// expand makes pairs of matches, and leaves room for extra ones behind them. The caller
// releases them.
func (r *run) expand(m *matches, f form, extra int) (*pairs, error) {
	if m.probe == 0 {
		p, err := r.newPairs(extra)
		if err == nil {
			p.rows = 0
		}
		return p, err
	}
	ends, err := r.ends(m, f)
	if err != nil {
		return nil, err
	}
	p, err := r.expandTo(m, ends, extra)
	if err = errors.Join(err, ends.Release()); err != nil {
		return nil, errors.Join(err, p.Release())
	}
	return p, nil
}

// ends returns the number of pairs of the rows up to each row of the probe side, as int64.
func (r *run) ends(m *matches, f form) (*column.Column, error) {
	call := r.call
	call.Tag = op.ScratchTag
	counts, err := call.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: m.probe}, func(out op.Buffers) error {
		if r.call.OnHost() {
			return r.countOnHost(m, f, out)
		}
		return r.countOnDevice(m, f, out)
	})
	if err != nil {
		return nil, err
	}
	ends, err := window.CumulativeSum(r.call.Context(), counts, window.Options{Options: r.scratch()})
	if err = errors.Join(err, counts.Release()); err != nil {
		return nil, errors.Join(err, ends.Release())
	}
	return ends, nil
}

func (r *run) expandTo(m *matches, ends *column.Column, extra int) (*pairs, error) {
	numbers, err := column.Elements[int64](ends)
	if err != nil {
		return nil, err
	}
	var total [1]int64
	if err := numbers.DownloadRange(r.call.Context(), r.call.Stream, m.probe-1, total[:]); err != nil {
		return nil, err
	}
	if limit := r.options.limit(); total[0] > limit {
		return nil, &TooManyRowsError{total[0], limit}
	}
	n := int(total[0])
	p, err := r.newPairs(n + extra)
	if err != nil || n == 0 {
		if err == nil {
			p.rows = 0
		}
		return p, err
	}
	p.rows = n
	if r.call.OnHost() {
		err = r.expandOnHost(m, numbers, p)
	} else {
		err = r.expandOnDevice(m, numbers, p)
	}
	if err != nil {
		return nil, errors.Join(err, p.Release())
	}
	return p, nil
}

// appendUnmatched appends a pair for each row of the build side that no pair has. The
// pairs have room for build more.
func (r *run) appendUnmatched(p *pairs, build int) error {
	if build == 0 {
		return nil
	}
	block, slices, err := r.call.Scratch(4*uint64(build), uint64(build), op.BitmapBytes(build))
	if err != nil {
		return err
	}
	err = r.appendMissing(p, build, slices[0], slices[1], slices[2])
	return errors.Join(err, block.Release())
}

// appendMissing marks the rows that pairs have, and filters the numbers of all others.
func (r *run) appendMissing(p *pairs, build int, numbers, marks, missing memory.Slice[uint8]) error {
	if err := marks.Fill(r.call.Stream, 0); err != nil {
		return err
	}
	rows, err := memory.Reinterpret[uint32](numbers)
	if err != nil {
		return err
	}
	if r.call.OnHost() {
		err = errors.Join(r.settle(), r.missingOnHost(p, rows, marks, missing))
	} else {
		err = r.missingOnDevice(p, rows, marks, missing)
	}
	if err != nil {
		return err
	}
	all, err := selection.RowNumbers(rows, nil)
	if err != nil {
		return err
	}
	mask, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: build, Buffers: []column.Bytes{{}, missing}, Manager: r.call.Manager})
	if err != nil {
		return errors.Join(err, all.Release())
	}
	left, err := selection.FilterColumn(r.call.Context(), all, mask, r.scratch())
	if err = errors.Join(err, all.Release(), mask.Release()); err != nil {
		return errors.Join(err, left.Release())
	}
	err = r.appendRows(p, left)
	return errors.Join(err, left.Release())
}

// appendRows appends pairs of noRow and the rows of a table of one column of numbers.
func (r *run) appendRows(p *pairs, table *buffer.Buffer) error {
	n64, err := table.NumRows(r.call.Context())
	n := int(n64)
	if err != nil || n == 0 {
		return err
	}
	if total, limit := int64(p.rows)+n64, r.options.limit(); total > limit {
		return &TooManyRowsError{total, limit}
	}
	numbers, err := uint32sOf(table.Column(0))
	if err != nil {
		return err
	}
	from, fromErr := numbers.Slice(0, n)
	build, buildErr := p.build.Slice(p.rows, p.rows+n)
	probe, probeErr := p.probe.Slice(p.rows, p.rows+n)
	if err := errors.Join(fromErr, buildErr, probeErr); err != nil {
		return err
	}
	p.rows += n
	return errors.Join(build.CopyFrom(r.call.Stream, from), probe.Fill(r.call.Stream, noRow))
}

// numbers returns the first rows of a slice of pairs as a column. The caller releases it.
func (p *pairs) numbers(side memory.Slice[uint32]) (*column.Column, error) {
	cut, err := side.Slice(0, p.rows)
	if err != nil {
		return nil, err
	}
	return selection.RowNumbers(cut, nil)
}
