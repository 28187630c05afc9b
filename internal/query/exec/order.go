package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// sorting orders all rows. If memory does not suffice, it divides them by ranges of the
// keys, and orders and returns one part after the other.
type sorting struct {
	*stage
	keys    []order.Key
	started bool
	// parts are the rows to come, the first ones last.
	parts []*held
}

// newWholeSort opens a sort without a limit. [UseTop] makes those with a limit known.
func newWholeSort(s *stage, n *plan.Sort) (buffer.Reader, error) {
	if n.Limit() != plan.All {
		return nil, fmt.Errorf("%v has no execution, because no verb has made its operations known: %w", n, device.ErrNotSupported)
	}
	return &sorting{stage: s, keys: n.OrderKeys()}, nil
}

// newSorting makes the reader of a sort, which keeps the first rows only if it has a limit.
func newSorting(s *stage, n *plan.Sort) (buffer.Reader, error) {
	if n.Limit() == plan.All {
		return &sorting{stage: s, keys: n.OrderKeys()}, nil
	}
	return &top{stage: s, plan: n}, nil
}

// Next implements buffer.Reader.
func (s *sorting) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := s.next(ctx)
	return table, s.failed(err)
}

func (s *sorting) next(ctx context.Context) (*buffer.Buffer, error) {
	if !s.started {
		s.started = true
		if len(s.inputs) == 0 {
			return nil, errEnd
		}
		all, err := s.hold(ctx, s.inputs[0])
		if err != nil {
			return nil, unended(err)
		}
		if s.worker != nil && all.isEmpty() {
			return nil, errEnd // other devices have the rows
		}
		s.parts = append(s.parts, all)
	}
	for len(s.parts) > 0 {
		part := s.parts[len(s.parts)-1]
		s.parts = s.parts[:len(s.parts)-1]
		sorted, err := s.sort(ctx, part)
		if isShort(err) {
			smaller, failure := part.byRange(ctx, s.keys)
			if failure == nil {
				slices.Reverse(smaller)
				s.parts = append(s.parts, smaller...)
				err = part.Release()
				if err == nil {
					continue
				}
				return nil, err
			}
			err = errors.Join(err, failure)
		}
		if failure := part.Release(); failure != nil {
			return nil, errors.Join(err, failure, sorted.Release())
		}
		return sorted, unended(err)
	}
	return nil, errEnd
}

func (s *sorting) sort(ctx context.Context, part *held) (*buffer.Buffer, error) {
	all, err := part.whole(ctx)
	if err != nil {
		return nil, err
	}
	sorted, err := s.widening(ctx, all, func(all *buffer.Buffer) (*buffer.Buffer, error) { return order.Sort(ctx, all, s.keys, s.options()) })
	return release.OnError(sorted, err, all.Release())
}

// Close implements buffer.Reader.
func (s *sorting) Close() error {
	parts := s.parts
	s.parts = nil
	return errors.Join(release.All(parts), s.stage.Close())
}

// firstRow is the name of the column with the row of each group.
var firstRow = plan.Computed("row")

// distinct keeps the first row of each group.
func distinct(s *stage, n *plan.Distinct) func(context.Context) (*buffer.Buffer, error) {
	return func(ctx context.Context) (*buffer.Buffer, error) {
		all, err := s.collect(ctx, s.inputs[0])
		if err != nil {
			return nil, err
		}
		firsts, err := s.firstRows(ctx, all, n.Columns())
		return release.OnError(firsts, err, all.Release())
	}
}

// partlyDistinct keeps the first row of each group of a table.
func partlyDistinct(s *stage, n *plan.Distinct) func(context.Context, *buffer.Buffer) (*buffer.Buffer, error) {
	return func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		return s.firstRows(ctx, table, n.Columns())
	}
}

func (s *stage) firstRows(ctx context.Context, all *buffer.Buffer, names []string) (*buffer.Buffer, error) {
	// The row of the least value of a constant is the first row.
	row := group.ArgMin(expr.Lit(int8(0))).As(firstRow)
	groups, err := group.By(all, group.Columns(names...)...).Aggregate(ctx, []group.Aggregate{row},
		group.ByOptions{Options: s.options(), Order: group.FirstAppearance})
	if err != nil {
		return nil, err
	}
	rows, err := groups.ColumnByName(firstRow)
	if err != nil {
		return nil, errors.Join(err, groups.Release())
	}
	firsts, err := selection.TakeWith(ctx, all, rows, selection.TakeOptions{Options: s.options(), Bounds: selection.Trust, Distinct: true})
	return release.OnError(firsts, err, groups.Release())
}
