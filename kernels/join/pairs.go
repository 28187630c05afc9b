package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
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
	// everyRow is set if the probe side is all of its rows in order.
	everyRow bool
	// held is the table that the pairs are in, if they are not in the block.
	held release.Stack
}

// Release releases the memory.
func (p *pairs) Release() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.block.Release(), p.held.Release())
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
	if m.single && f == everyMatch && m.probe > 0 {
		if p, err := r.pairSingle(m, extra); p != nil || err != nil {
			return p, err
		}
	}
	if m.single && f == everyMatchOrNone && extra == 0 && m.probe > 0 {
		if err := r.lookUp(m); err != nil {
			return nil, err
		}
		if m.single {
			return r.everyRow(m)
		}
	}
	s, err := r.sequence(m, f)
	if err != nil {
		return nil, err
	}
	p, err := func() (*pairs, error) {
		if err := r.checkLimit(s.total); err != nil {
			return nil, err
		}
		return r.expandPart(s, 0, int(s.total), extra)
	}()
	return release.OnError(p, err, s.Release())
}

func (r *run) checkLimit(rows int64) error {
	if limit := r.options.limit(); rows > limit {
		return &TooManyRowsError{rows, limit}
	}
	return nil
}

// pairSingle makes the pairs of rows that have one match or none, in one pass and in memory
// for all rows. A GPU waits for their number, and with it for whether the matches are
// right. If they are not, there are no pairs. The caller releases them.
func (r *run) pairSingle(m *matches, extra int) (*pairs, error) {
	p, err := r.newPairs(m.probe + extra)
	if err != nil {
		return nil, err
	}
	right, err := r.fillSingle(m, p)
	if err == nil {
		err = r.checkLimit(int64(p.rows))
	}
	if err != nil || !right {
		return nil, errors.Join(err, p.Release())
	}
	p.everyRow = extra == 0 && p.rows == m.probe
	return p, nil
}

// fillSingle writes pairs, and reports whether the matches are right.
func (r *run) fillSingle(m *matches, p *pairs) (right bool, err error) {
	if r.call.OnHost() {
		p.rows, err = r.pairOnHost(m, p)
		return true, err
	}
	p.rows, right, err = r.countSingle(m, p.out())
	return right, err
}

// everyRow makes one pair for each row of the probe side: the matches themselves.
func (r *run) everyRow(m *matches) (*pairs, error) {
	if err := r.checkLimit(int64(m.probe)); err != nil {
		return nil, err
	}
	block, slices, err := r.uint32s(m.probe)
	if err != nil {
		return nil, err
	}
	p := &pairs{probe: slices[0], build: m.first, rows: m.probe, block: block, everyRow: true}
	if err := errors.Join(r.waitIdle(), r.numberRows(p.probe)); err != nil {
		return nil, errors.Join(err, p.Release())
	}
	if err := m.block.Retain(); err != nil {
		return nil, errors.Join(err, p.Release())
	}
	p.held.Add(m.block)
	return p, nil
}

// numberRows writes the numbers of all rows.
func (r *run) numberRows(rows memory.Slice[uint32]) error {
	if r.call.OnHost() {
		return numberOnHost(rows)
	}
	return r.launch("pairs", "number_rows", rows.Len(), rows, uint64(rows.Len()))
}

// sequence is all pairs of matches in order, which are made in parts.
type sequence struct {
	matches *matches
	// ends is on the host the number of pairs of the rows up to each row of the probe side,
	// as int64. A pair list without rows has none.
	ends *column.Column
	// sums is on a GPU that of the rows with pairs, struct Sums of pairing.cuh, and rows their
	// number.
	sums  any
	rows  int
	block *memory.Block
	// total is the number of pairs.
	total int64
}

// Release releases the numbers of pairs, not the matches.
func (s *sequence) Release() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.ends.Release(), s.block.Release())
}

// sequence counts the pairs of matches. It waits for their number. The caller releases it.
func (r *run) sequence(m *matches, f form) (*sequence, error) {
	s := &sequence{matches: m}
	if m.probe == 0 {
		return s, nil
	}
	if !r.call.OnHost() {
		return release.OnError(s, r.sumOnDevice(s, f))
	}
	err := r.lookUp(m)
	if err != nil {
		return nil, err
	}
	if s.ends, err = r.ends(m, f); err != nil {
		return nil, err
	}
	numbers, err := column.Elements[int64](s.ends)
	var total [1]int64
	if err == nil {
		err = numbers.DownloadRange(r.call.Context(), r.call.Stream, m.probe-1, total[:])
	}
	if err != nil {
		return nil, errors.Join(err, s.Release())
	}
	s.total = total[0]
	return s, nil
}

// ends returns on the host the number of pairs of the rows up to each row of the probe side,
// as int64.
func (r *run) ends(m *matches, f form) (*column.Column, error) {
	call := r.call
	call.Tag = op.ScratchTag
	counts, err := call.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: m.probe}, func(out op.Buffers) error {
		return r.countOnHost(m, f, out)
	})
	if err != nil {
		return nil, err
	}
	ends, err := window.CumulativeSum(r.call.Context(), counts, window.Options{Options: r.scratch()})
	return release.OnError(ends, err, counts.Release())
}

// expandPart makes n pairs from a number on, with room for extra ones behind them. The
// caller releases them.
func (r *run) expandPart(s *sequence, from int64, n, extra int) (*pairs, error) {
	p, err := r.newPairs(n + extra)
	if err != nil {
		return nil, err
	}
	if p.rows = n; n == 0 {
		return p, nil
	}
	if !r.call.OnHost() {
		return release.OnError(p, r.expandOnDevice(s, from, n, p.out()))
	}
	ends, err := column.Elements[int64](s.ends)
	if err == nil {
		err = r.expandOnHost(s.matches, ends, from, p)
	}
	return release.OnError(p, err)
}

// out returns struct PairsOut of pairing.cuh.
func (p *pairs) out() any {
	return kernels.Struct(kernels.Output(p.probe), kernels.Output(p.build), uint64(0))
}

// appendUnmatched appends a pair for each row of the build side that no pair has. The
// pairs have room for build more.
func (r *run) appendUnmatched(p *pairs, build int) error {
	if build == 0 {
		return nil
	}
	k, err := r.newMarks(build)
	if err != nil {
		return err
	}
	err = func() error {
		if err := r.mark(k, p); err != nil {
			return err
		}
		left, err := r.unmarked(k)
		if err != nil {
			return err
		}
		return errors.Join(r.appendRows(p, left), left.Release())
	}()
	return errors.Join(err, k.block.Release())
}

// appendRows appends pairs of noRow and numbers of rows.
func (r *run) appendRows(p *pairs, rows *column.Column) error {
	n := rows.Len()
	if err := r.checkLimit(int64(p.rows) + int64(n)); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	numbers, numbersErr := uint32sOf(rows)
	build, buildErr := p.build.Slice(p.rows, p.rows+n)
	probe, probeErr := p.probe.Slice(p.rows, p.rows+n)
	if err := errors.Join(numbersErr, buildErr, probeErr); err != nil {
		return err
	}
	p.rows += n
	return errors.Join(build.CopyFrom(r.call.Stream, numbers), probe.Fill(r.call.Stream, noRow))
}

// numbers returns the first rows of a slice of pairs as a column. The caller releases it.
func (p *pairs) numbers(side memory.Slice[uint32]) (*column.Column, error) {
	cut, err := side.Slice(0, p.rows)
	if err != nil {
		return nil, err
	}
	return selection.RowNumbers(cut, nil)
}
