package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// aggregation is one computation of aggregates.
type aggregation struct {
	groupFinder
	// states are those of the plan's accumulators, one block for all.
	states *states
	// present is the number of groups with rows if the host knows it, or unknownGroups.
	present int64
	// vectors has the sums of vectors, by the inputs that they read.
	vectors map[vectorInputs]*vectorSums
}

// unknownGroups is a number of groups that the host does not know.
const unknownGroups = -1

// newAggregation returns an aggregation without rows yet.
func newAggregation(options ByOptions, p *plan) *aggregation {
	r := new(aggregation)
	r.options, r.plan, r.presence, r.ranks, r.present = options, p, -1, map[int]*column.Column{}, unknownGroups
	return r
}

// begin prepares an aggregation up to the groups of the rows. The caller closes it.
func (q Query) begin(ctx context.Context, aggregates []Aggregate, options ByOptions) (*aggregation, error) {
	p, err := q.check(aggregates, &options)
	if err != nil {
		return nil, err
	}
	return q.beginPlanned(ctx, p, aggregates, options)
}

// check checks a query and its options, and plans its aggregates.
func (q Query) check(aggregates []Aggregate, options *ByOptions) (*plan, error) {
	if err := q.table.Check(); err != nil {
		return nil, err
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	if len(q.keys) == 0 {
		return nil, fmt.Errorf("no key is given, expected one or more: reduce.Table aggregates all rows: %w", device.ErrInvalidValue)
	}
	for i, key := range q.keys {
		if err := key.check(q.table); err != nil {
			return nil, &KeyError{i, key, err}
		}
		if key.Values == nil {
			if _, _, err := key.typeIn(q.table.Schema()); err != nil {
				return nil, &KeyError{i, key, err}
			}
		}
	}
	if options.Manager == nil {
		options.Manager = q.table.Manager()
	}
	return newPlan(q.table.Schema(), aggregates)
}

// beginPlanned is begin of a checked query.
func (q Query) beginPlanned(ctx context.Context, p *plan, aggregates []Aggregate, options ByOptions) (*aggregation, error) {
	if options.Estimate != nil {
		if q.asStates {
			return nil, errNoEstimate
		}
		return nil, q.estimate(ctx, p, options)
	}
	r := newAggregation(options, p)
	r.asStates = q.asStates
	unmasked := q
	q, err := r.restrict(ctx, q, aggregates)
	if r.filtered = !unmasked.where.IsZero() && !r.masked; r.filtered {
		r.unfiltered = unmasked.keyColumns()
	}
	if err == nil {
		q, err = r.evaluateConstants(ctx, q)
	}
	if err == nil {
		err = r.prepare(ctx, q)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// result computes the aggregates.
func (r *aggregation) result() (*buffer.Buffer, error) {
	table, err := r.unordered()
	if err != nil || r.options.Order != ByKey {
		return table, err
	}
	return sortedByKeys(&r.call, table, len(r.names))
}

// unordered computes the aggregates of the groups in any order.
func (r *aggregation) unordered() (*buffer.Buffer, error) {
	if table, ok, err := r.aggregateMoved(); ok || err != nil {
		return table, err
	}
	var err error
	if r.states, err = r.accumulate(); err != nil {
		return nil, err
	}
	r.owned.Add(r.states)
	if r.merges {
		if err := r.checkExact(); err != nil {
			return nil, err
		}
	}
	table, err := r.table()
	if err == nil && r.presence >= 0 {
		table, err = r.withRows(table)
	}
	return table, err
}

// aggregateMoved computes the aggregates by partitions, or their states. It returns false if rows are not moved to
// partitions, or their memory does not fit the budget: states of numbered groups need less.
func (r *aggregation) aggregateMoved() (table *buffer.Buffer, ok bool, err error) {
	if r.partitions == nil {
		if r.partitions, err = r.planPartitionsOfNumbers(); err != nil || r.partitions == nil {
			return nil, false, err
		}
	}
	table, err = r.aggregatePartitions()
	switch {
	case err == nil:
		return table, true, nil
	case r.groups != nil && errors.Is(err, memory.ErrBudget):
		return nil, false, nil
	case r.groups != nil || !r.strategy.fallsBack(r.facts, err):
		return nil, false, err
	}
	if err := r.find(strategyOf(r.strategy.fallback)); err != nil {
		return nil, false, err
	}
	return r.aggregateMoved()
}

// table returns the keys and the aggregates of all groups.
func (r *aggregation) table() (*buffer.Buffer, error) {
	keys := r.groups.keys
	var fields []arrow.Field
	var columns []*column.Column
	for i, f := range keys.Schema().Fields() {
		fields = append(fields, arrow.Field{Name: r.names[i], Type: f.Type, Nullable: true})
		columns = append(columns, keys.Column(i))
	}
	var temporaries release.Stack
	for i := range r.plan.outputs {
		o := &r.plan.outputs[i]
		c, err := r.output(o)
		if err != nil {
			return nil, errors.Join(&AggregateError{i, o.aggregate, err}, temporaries.Release())
		}
		temporaries.Add(c)
		fields = append(fields, arrow.Field{Name: o.aggregate.Name(), Type: c.Type(), Nullable: o.nullable})
		columns = append(columns, c)
	}
	table, err := op.Table(layout.Schema(fields), columns, keys.Rows())
	return release.OnError(table, err, temporaries.Release())
}

// output returns the column of an aggregate.
func (r *aggregation) output(o *output) (*column.Column, error) {
	switch o.method {
	case byRow:
		values, err := r.input(o.value)
		if err != nil {
			return nil, err
		}
		return r.pick(o, values)
	case bySegment:
		return r.segment(o)
	case byVector:
		return r.finishVectors(o)
	}
	if o.findsRow() {
		return r.rowNumbers(o)
	}
	return r.finish(o)
}

// rowNumbers returns the number of the row that an output has found in each group.
func (r *aggregation) rowNumbers(o *output) (*column.Column, error) {
	if o.rows >= 0 {
		numbers, err := r.input(o.rows)
		if err != nil {
			return nil, err
		}
		return r.pick(o, numbers)
	}
	if numbers, err := r.rows.ColumnByName(rowName); err == nil {
		return r.pick(o, numbers)
	}
	return r.finish(o)
}
