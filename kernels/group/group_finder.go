package group

import (
	"context"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
)

// groupFinder finds the groups of the rows of a query.
type groupFinder struct {
	queryRows
	// facts are those that strategy was chosen by.
	facts    *facts
	strategy *strategy
	// spans are the ranges of keys that were looked at.
	spans map[*column.Column]span
	// groups are the groups of the rows, or nil with partitions.
	groups *grouping
	// partitions are used instead of groups and states if they are not nil.
	partitions *partitionPlan
	// presence is the accumulator that counts the rows of each group, or negative if no group
	// is without rows. Places of dense keys may have none, and groups of rows with a mask.
	presence int
}

// prepare loads the rows, and finds their groups.
func (r *groupFinder) prepare(ctx context.Context, q Query) error {
	if err := r.load(ctx, q); err != nil {
		return err
	}
	var err error
	columns := make([]*column.Column, r.rows.NumColumns())
	for i := range columns {
		columns[i] = r.rows.Column(i)
	}
	if r.call, err = op.Begin(ctx, r.options.Options, append(columns, r.reads...)...); err != nil {
		return err
	}
	all := r.rows
	if err := r.filter(ctx, q); err != nil {
		return err
	}
	r.shares = r.rows == all && !slices.ContainsFunc(q.keys, isComputed)
	for i := range q.keys {
		r.shares = r.shares && r.rows.Column(i).Dictionary() == nil // its validity may be computed
	}
	if err := r.exact(); err != nil {
		return err
	}
	if err := r.keysOfNoRows(); err != nil {
		return err
	}
	if err := r.call.OrderBehind(r.rows.DeviceRows().Block()); err != nil { // rows may have no columns
		return err
	}
	for i := range q.keys {
		if err := checkKey(r.rows.Column(i).Type()); err != nil {
			return &KeyError{i, q.keys[i], err}
		}
	}
	if !q.asStates { // the states of parts do not depend on the data
		if err := r.integerMoments(q); err != nil {
			return err
		}
		r.plan.share(r.mayBeNull)
	}
	if r.facts, err = r.measure(q); err != nil {
		return err
	}
	return r.find(choose(r.facts))
}

// find finds the groups by a strategy, or the partitions that find them later.
func (r *groupFinder) find(s *strategy) error {
	r.groups, r.partitions, r.strategy = nil, nil, s
	if err := s.find(r); err != nil || r.groups == nil {
		return err
	}
	r.owned.Add(r.groups)
	if r.masked {
		r.presence = r.plan.countPlaces(r.mask)
	}
	return nil
}

// findNumbers numbers the groups of the rows.
func (r *groupFinder) findNumbers() (err error) {
	r.groups, err = findGroups(&r.call, r.rows, len(r.names), len(r.names), r.options, r.spans, r.shares)
	return err
}

// knownFacts returns the facts of a query that need no pass over the rows.
func (r *groupFinder) knownFacts(q Query) (*facts, error) {
	f := &facts{
		tuning: tuningOf(r.call.Context()), onHost: r.call.OnHost(), rows: r.rows.Capacity(), order: r.options.Order, maxGroups: r.options.MaxGroups,
		numbered: q.numbered, asStates: r.asStates, fixedPointSums: r.options.FixedPointSums, masked: r.masked, constants: r.constants != nil, waits: r.waits(), plan: r.plan,
	}
	var err error
	if f.limits, err = limitsOf(&r.call); err != nil || f.onHost {
		return f, err
	}
	for range r.constants {
		f.keys = append(f.keys, keyFacts{constant: true, span: span{places: 1}})
	}
	for i, key := range q.keys {
		k, err := keyFactsOf(r.rows.Column(i))
		if err != nil {
			return nil, err
		}
		if isConstant(key) {
			k = keyFacts{constant: true, span: span{places: 1}}
		}
		f.keys = append(f.keys, k)
	}
	for i, in := range r.plan.inputs {
		_, deferred := r.deferred[i]
		known := inputFacts{dataType: in.dataType, nullable: r.mayBeNull(i), deferred: deferred}
		if in.ranked < 0 {
			known.extent, known.integer = r.extentOf(i)
		}
		f.inputs = append(f.inputs, known)
	}
	return f, nil
}

// measure returns the facts that the choice depends on. It waits for those that are measured.
func (r *groupFinder) measure(q Query) (*facts, error) {
	f, err := r.knownFacts(q)
	if err != nil {
		return nil, err
	}
	if f.hasRanges() {
		if err := r.measureRanges(f); err != nil {
			return nil, err
		}
	}
	f.places = placesOf(f.keys)
	f.partitions = f.planPartitions()
	if f.needsGroups() {
		if f.groups, err = r.distinct(r.rows.Column(0)); err != nil {
			return nil, err
		}
		f.estimated = true
	}
	if f.estimated || f.Groups > 0 { // to read the statistics stops allocations for a short time
		f.budget = r.call.Manager.Remaining()
		f.hashes = f.planHashes()
	}
	return f, nil
}

// measureRanges finds the ranges of the keys that are not constant, if all are integers. One pass finds those that are
// not known. If it is for a single key that may have partitions by hashes, it also estimates how many are different.
func (r *groupFinder) measureRanges(f *facts) error {
	finder := numberer{call: &r.call, waits: r.options.MaxGroups == 0}
	var columns []*column.Column
	for i := range f.keys {
		if !f.keys[i].constant {
			columns = append(columns, r.rows.Column(i))
		}
	}
	if f.mayHash() {
		finder.distinct = map[*column.Column]uint64{}
	}
	spans, err := r.spansBeforeFilter(f)
	if err == nil && spans == nil {
		spans, err = finder.spansOf(columns)
	}
	if err != nil || spans == nil {
		return err
	}
	r.spans = map[*column.Column]span{}
	for i, c := range columns {
		r.spans[c] = spans[i]
		if groups, estimated := finder.distinct[c]; estimated {
			f.groups, f.estimated = groups, true
		}
	}
	for i := range f.keys {
		if !f.keys[i].constant {
			f.keys[i].span, spans = spans[0], spans[1:]
		}
	}
	return nil
}
