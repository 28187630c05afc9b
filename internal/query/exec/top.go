package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// top keeps the first rows of each table, so that it holds no more than two limits and a table. If
// memory does not suffice for that, or the limit has many of the rows, it sorts the rows that it kept
// and those to come, and yields the first ones.
type top struct {
	*stage
	plan *plan.Sort
	done bool
	// sorted yields the sorted rows, or is nil.
	sorted *slice
}

const (
	// sortedShare is the part of the rows, as a divisor, from which on a limit is sorted: each table
	// that is merged with the first ones before sorts these again.
	sortedShare = 4
	// sortedFrom is the number of rows from which on a limit is sorted.
	sortedFrom = 1 << 16
)

// Next implements buffer.Reader.
func (t *top) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := t.next(ctx)
	return table, t.failed(err)
}

func (t *top) next(ctx context.Context) (*buffer.Buffer, error) {
	if t.done || len(t.inputs) == 0 {
		if t.sorted == nil {
			return nil, errEnd
		}
		return t.sorted.Next(ctx)
	}
	t.done = true
	var kept []*buffer.Buffer
	if !t.sorts() {
		best, rest, err := t.first(ctx)
		if best != nil || err != nil {
			return best, unended(err)
		}
		kept = rest
	}
	all, err := t.hold(ctx, t.inputs[0], kept...)
	if err != nil {
		return nil, unended(err)
	}
	sorting := &sorting{stage: &stage{node: t.node, settings: t.settings}, keys: t.plan.OrderKeys(), started: true, parts: []*held{all}}
	t.sorted = &slice{stage: &stage{node: t.node, settings: t.settings, inputs: []buffer.Reader{sorting}}, left: t.plan.Limit()}
	return t.sorted.Next(ctx)
}

// sorts reports whether all rows are to be sorted.
func (t *top) sorts() bool {
	s := sizes{plan.NewAnalysis()}
	rows := s.SizeOf(t.plan.Input()).Rows
	if rows >= sortedFrom && t.plan.Limit() >= rows/sortedShare {
		return true
	}
	need := s.topBytes(t.plan)
	return need > s.sortBytes(t.plan) && need > t.settings.Manager.Budget()/sortedShare
}

// first returns the first rows. If memory does not suffice it returns tables that have them among those
// that were read.
func (t *top) first(ctx context.Context) (best *buffer.Buffer, kept []*buffer.Buffer, err error) {
	for {
		table, err := t.inputs[0].Next(ctx)
		if err == errEnd && best == nil {
			best, err = Empty(ctx, t.settings.Manager, t.inputs[0].Schema(), t.settings.Tag)
			return best, nil, err
		}
		if err == errEnd {
			return best, nil, nil
		}
		if err != nil {
			return nil, nil, errors.Join(err, best.Release())
		}
		first, err := t.topK(ctx, t.plan, table)
		if isShort(err) {
			return nil, withoutNil(best, table), nil
		}
		if first, err = release.OnError(first, err, table.Release()); err != nil {
			return nil, nil, errors.Join(err, best.Release())
		}
		if best == nil {
			best = first
			continue
		}
		merged, err := t.merged(ctx, t.plan, best, first)
		if isShort(err) {
			return nil, []*buffer.Buffer{best, first}, nil
		}
		if best, err = release.OnError(merged, err, best.Release(), first.Release()); err != nil {
			return nil, nil, err
		}
	}
}

// withoutNil returns the tables that are not nil.
func withoutNil(tables ...*buffer.Buffer) []*buffer.Buffer {
	return slices.DeleteFunc(tables, func(t *buffer.Buffer) bool { return t == nil })
}

// merged returns the first rows of several tables.
func (s *stage) merged(ctx context.Context, n *plan.Sort, tables ...*buffer.Buffer) (*buffer.Buffer, error) {
	all, err := selection.Concat(ctx, tables, s.options())
	if err != nil {
		return nil, err
	}
	largest, err := s.topK(ctx, n, all)
	return release.OnError(largest, err, all.Release())
}

// topK returns the first rows of a table.
func (s *stage) topK(ctx context.Context, n *plan.Sort, table *buffer.Buffer) (*buffer.Buffer, error) {
	return s.widening(ctx, table, func(table *buffer.Buffer) (*buffer.Buffer, error) {
		return order.TopK(ctx, table, n.Limit(), n.OrderKeys(), s.options())
	})
}

// Close implements buffer.Reader.
func (t *top) Close() error {
	var err error
	if t.sorted != nil {
		err = t.sorted.Close()
	}
	return errors.Join(err, t.stage.Close())
}

// localTop keeps the first rows of a worker, with their positions: rows with equal keys may be on
// other devices.
type localTop struct {
	once
	plan      *plan.Sort
	positions positions
}

func newLocalTop(s *stage, n *plan.Sort) *localTop {
	t := &localTop{once: once{stage: s}, plan: n}
	t.make = t.first
	return t
}

// first makes the result. It holds no more than two limits and a table.
func (t *localTop) first(ctx context.Context) (best *buffer.Buffer, err error) {
	for {
		table, err := t.inputs[0].Next(ctx)
		if err == errEnd {
			return best, nil
		}
		if err == nil {
			table, err = t.table(ctx, table)
		}
		if err == nil && best != nil {
			var merged *buffer.Buffer
			merged, err = t.merged(ctx, t.plan, best, table)
			table, err = release.OnError(merged, err, best.Release(), table.Release())
			best = nil
		}
		if err != nil {
			return nil, errors.Join(err, best.Release())
		}
		best = table
	}
}

// table keeps the first rows of a table, which it takes over.
func (t *localTop) table(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	first, err := t.topK(ctx, t.plan, table)
	if first, err = release.OnError(first, err, table.Release()); err != nil {
		return nil, err
	}
	// The rows with equal keys of a table are in order, so their numbers may be those of the result.
	positioned, err := t.positioned(ctx, first, &t.positions)
	return release.OnError(positioned, err, first.Release())
}
