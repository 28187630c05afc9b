package exec

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// windowing adds functions of windows to the rows of a table, which it does not keep. Columns
// are added behind those of the table.
type windowing func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error)

// over adds aggregations of partitions to each row.
func over(s *stage, n *plan.Over) windowing {
	return func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		if !n.IsOrdered() {
			aggregates, err := n.Aggregates()
			if err != nil {
				return nil, err
			}
			return group.By(table, n.GroupKeys()...).Transform(ctx, aggregates, group.ByOptions{Options: s.options()})
		}
		return computeOrdered(ctx, s, n, table)
	}
}

// partitioning adds functions of windows to all rows, which keep their order. If memory does not
// suffice for all rows at once, it divides them by a hash of the keys of the partitions, with the
// number of each row. It computes the partitions of one part after the other, and orders the
// results by the numbers. The parts and their results move to host memory while memory is short.
type partitioning struct {
	*stage
	compute windowing
	// keys are those of the partitions, or nil if all rows are needed at once.
	keys    []expr.Expr
	started bool
	// ordered returns the results of parts in the order of the rows, if there are parts.
	ordered *sorting
}

func newPartitioning(s *stage, n *plan.Over) *partitioning {
	return &partitioning{stage: s, compute: over(s, n), keys: n.Partitions()}
}

// rowName is the name of a column with the numbers of the rows whose windows are computed in
// parts.
var rowName = plan.Computed("row of window")

// Next implements buffer.Reader.
func (p *partitioning) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := p.next(ctx)
	return table, p.failed(err)
}

func (p *partitioning) next(ctx context.Context) (*buffer.Buffer, error) {
	if !p.started {
		p.started = true
		if len(p.inputs) == 0 {
			return nil, errEnd
		}
		computed, err := p.first(ctx)
		if computed != nil || err != nil {
			return computed, unended(err)
		}
	}
	if p.ordered == nil {
		return nil, errEnd
	}
	table, err := p.ordered.next(ctx)
	if err != nil {
		return nil, err
	}
	narrowed, err := columns(table, p.Schema())
	return release.OnError(narrowed, err, table.Release())
}

// first returns all rows. If memory is short, it computes the parts instead and returns nil.
func (p *partitioning) first(ctx context.Context) (*buffer.Buffer, error) {
	all, err := p.hold(ctx, p.inputs[0])
	if err != nil || p.worker != nil && all.isEmpty() {
		return nil, err
	}
	computed, err := p.computed(ctx, all)
	if err == nil || !isShort(err) || p.keys == nil {
		return release.OnError(computed, err, all.Release())
	}
	parts, failure := p.divided(ctx, dividedPart{held: all})
	if failure != nil {
		return nil, errors.Join(err, failure, all.Release())
	}
	return nil, p.computeParts(ctx, parts)
}

// computed returns the rows of a part with the functions.
func (p *partitioning) computed(ctx context.Context, part *held) (*buffer.Buffer, error) {
	table, err := part.whole(ctx)
	if err != nil {
		return nil, err
	}
	windows, err := p.widening(ctx, table, func(table *buffer.Buffer) (*buffer.Buffer, error) { return p.compute(ctx, table) })
	return release.OnError(windows, err, table.Release())
}

// divided divides a part, which it releases unless it fails. The rows get their numbers the first
// time.
func (p *partitioning) divided(ctx context.Context, part dividedPart) ([]dividedPart, error) {
	name := ""
	if part.level == 0 {
		name = rowName
	}
	smaller, err := part.byHashNumbered(ctx, expr.Hash(p.keys...), part.level, name)
	if err == nil {
		err = checkDivided(smaller)
	}
	if err != nil {
		return nil, err
	}
	var parts []dividedPart
	for _, h := range smaller {
		if !h.isEmpty() {
			parts = append(parts, dividedPart{h, part.level + 1})
		}
	}
	if err := part.Release(); err != nil {
		return nil, errors.Join(err, release.All(smaller))
	}
	return parts, nil
}

// computeParts computes the parts, which it takes over, and those that they are divided into.
func (p *partitioning) computeParts(ctx context.Context, parts []dividedPart) error {
	results := &held{stage: p.stage, schema: withField(p.Schema(), rowName)}
	for len(parts) > 0 {
		part := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		smaller, err := p.computePart(ctx, part, results)
		if err = errors.Join(err, part.Release()); err != nil {
			for _, rest := range append(parts, smaller...) {
				err = errors.Join(err, rest.Release())
			}
			return errors.Join(err, results.Release())
		}
		parts = append(parts, smaller...)
	}
	p.ordered = &sorting{stage: p.stage, keys: []order.Key{{Column: rowName}}, started: true, parts: []*held{results}}
	return nil
}

// computePart adds the results of a part, or returns smaller parts that it was divided into.
// A part that takes much of the budget is divided even if it could be computed, because its
// result and the copies that the sort of all results makes must fit together. A part with the
// rows of one partition cannot be divided.
func (p *partitioning) computePart(ctx context.Context, part dividedPart, results *held) ([]dividedPart, error) {
	divisible := part.level < mostLevels
	if most := p.settings.Manager.Budget() / grownShare; divisible && most > 0 && part.bytes > most {
		smaller, err := p.divided(ctx, part)
		if err == nil || !errors.Is(err, errIndivisible) {
			return smaller, err
		}
		divisible = false
	}
	computed, err := p.computed(ctx, part.held)
	switch {
	case err == nil:
		return nil, p.keep(ctx, results, computed)
	case isShort(err) && divisible:
		smaller, failure := p.divided(ctx, part)
		if failure != nil {
			return nil, errors.Join(err, failure)
		}
		return smaller, nil
	}
	return nil, err
}

// keep adds the result of a part, which it takes over, to others.
func (p *partitioning) keep(ctx context.Context, results *held, table *buffer.Buffer) error {
	narrowed, err := columns(table, results.schema)
	if narrowed, err = release.OnError(narrowed, err, table.Release()); err != nil {
		return err
	}
	return results.add(ctx, narrowed)
}

// Close implements buffer.Reader.
func (p *partitioning) Close() error {
	if p.ordered == nil {
		return p.stage.Close()
	}
	ordered := p.ordered
	p.ordered = nil
	return ordered.Close()
}
