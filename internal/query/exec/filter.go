package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// keptShare is the part of the budget, as a divisor, that the result of a filter may have room
// for. On a GPU the result of a filter has the capacity of its input, and the next operation may
// copy the rows.
const keptShare = 4

// filtering keeps the rows that meet a condition. If the budget does not permit room for all rows of a table, those to
// keep are counted before they are copied. If they are too many for the budget, the table is cut first.
type filtering struct {
	mapping
	plan     *plan.Filter
	rowBytes float64
	// mask is nil if the filter copies the rows that it keeps.
	mask *mask
	// matches are the rows to keep of the table matched, or nil.
	matches *selection.Matches
	matched *buffer.Buffer
}

func newFiltering(s *stage, n *plan.Filter) *filtering {
	f := &filtering{plan: n, rowBytes: float64(plan.RowBytesOf(n.Schema()))}
	f.mapping = mapping{stage: s, apply: f.filter, grown: f.kept, share: keptShare}
	return f
}

// room is the memory of a result with the capacity of its input.
func (f *filtering) room(table *buffer.Buffer) uint64 {
	return uint64(f.rowBytes * float64(table.Capacity()))
}

// kept is the memory of the rows that are kept, if they were counted, or that of all rows.
func (f *filtering) kept(ctx context.Context, table *buffer.Buffer) (uint64, error) {
	room := f.room(table)
	if f.fits(room) {
		return room, nil
	}
	matches, err := f.find(ctx, table, f.plan.Condition(), f.rowBytes)
	if matches == nil {
		return room, err
	}
	f.matches, f.matched = matches, table
	return 0, nil
}

// fits reports whether a result may have room for some bytes.
func (s *stage) fits(bytes uint64) bool {
	return bytes/max(s.settings.Manager.Budget()/keptShare, 1) < 2
}

// find finds the rows of a table that meet a condition. It returns nil if memory does not suffice to find them, or the
// budget not for a copy of them.
func (s *stage) find(ctx context.Context, table *buffer.Buffer, condition expr.Expr, rowBytes float64) (*selection.Matches, error) {
	matches, err := selection.FindMatches(ctx, table, condition, s.options())
	if isShort(err) {
		return nil, nil
	}
	if err != nil || s.fits(uint64(rowBytes*float64(matches.Rows()))) {
		return matches, err
	}
	return nil, matches.Release()
}

func (f *filtering) filter(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	if matches := f.matches; matches != nil {
		f.matches = nil
		if f.matched == table {
			kept, err := matches.Copy(ctx, f.plan.Columns(), f.options())
			return release.OnError(kept, err, matches.Release())
		}
		if err := matches.Release(); err != nil {
			return nil, err
		}
	}
	if f.masks(ctx, table) {
		return f.mask.filter(f, ctx, table)
	}
	if columns := f.plan.Columns(); columns != nil {
		return selection.FilterSelect(ctx, table, f.plan.Condition(), columns, f.options())
	}
	return selection.Filter(ctx, table, f.plan.Condition(), f.options())
}

// Close implements buffer.Reader.
func (f *filtering) Close() error {
	var err error
	if f.matches != nil {
		err = f.matches.Release()
		f.matches = nil
	}
	return errors.Join(err, f.mapping.Close())
}
