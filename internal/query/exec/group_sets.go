package exec

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// groupSets reads the groups of several groupings of its input, in their order. If the first rows are in few groups, the
// groupings of the rows make states, and the others merge those. Otherwise a state would take the place of a row, and be
// larger: then the rows are kept, and each grouping reads them.
type groupSets struct {
	*stage
	plan *plan.GroupSets
	// readers are the groups of each set, and at is the number of the set that is read.
	readers []buffer.Reader
	at      int
	started bool
	// unstarted is the error of the start.
	unstarted error
}

func newGroupSets(s *stage, n *plan.GroupSets) *groupSets { return &groupSets{stage: s, plan: n} }

// Next implements buffer.Reader.
func (g *groupSets) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := g.next(ctx)
	return table, g.failed(err)
}

func (g *groupSets) next(ctx context.Context) (*buffer.Buffer, error) {
	if !g.started {
		g.started = true
		if len(g.inputs) == 0 {
			return nil, errEnd
		}
		g.unstarted = unended(g.start(ctx))
	}
	if g.unstarted != nil {
		return nil, g.unstarted
	}
	for g.at < len(g.readers) {
		table, err := g.readers[g.at].Next(ctx)
		if err == errEnd {
			g.at++
			continue
		}
		if err != nil {
			return nil, err
		}
		set := g.plan.Sets()[g.at]
		result, err := g.project(ctx, table, set.Columns.Expressions())
		return release.OnError(result, err, table.Release())
	}
	return nil, errEnd
}

// start makes the readers of all sets before one of them reads. They own the input.
func (g *groupSets) start(ctx context.Context) error {
	input := g.inputs[0]
	g.inputs = nil
	if g.plan.Merges() {
		err := g.merging(func(*plan.Aggregate) (buffer.Reader, error) { return input, nil })
		if err != nil {
			err = errors.Join(err, g.Close(), input.Close())
		}
		return err
	}
	first, err := input.Next(ctx)
	if err != nil && err != errEnd {
		return errors.Join(err, input.Close())
	}
	ahead := &readAhead{Reader: input, first: first}
	merges, sampleErr := true, error(nil)
	if first != nil {
		merges, sampleErr = g.hasFewGroups(ctx, first)
	}
	if sampleErr != nil {
		return errors.Join(sampleErr, ahead.Close())
	}
	return g.open(ahead, merges)
}

// open makes the readers of all sets on the rows.
func (g *groupSets) open(ahead *readAhead, merges bool) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close(), ahead.Close())
		}
	}()
	users := 0
	for _, s := range g.plan.Sets() {
		if s.Parent < 0 || !merges {
			users++
		}
	}
	rows := func() buffer.Reader { return ahead }
	if users > 1 {
		rows = newShared(&stage{node: g.plan.Input(), settings: g.settings}, ahead).user
	}
	if !merges {
		return g.apart(rows)
	}
	return g.merging(func(a *plan.Aggregate) (buffer.Reader, error) {
		return newPartialGroups(g.stageOf(a, rows()), a)
	})
}

// stageOf returns the stage of one of the groupings.
func (g *groupSets) stageOf(a *plan.Aggregate, input buffer.Reader) *stage {
	return &stage{node: a, settings: g.settings, inputs: []buffer.Reader{input}, bounds: g.bounds, readahead: g.readahead, worker: g.worker}
}

// apart makes readers that group the rows for each set.
func (g *groupSets) apart(rows func() buffer.Reader) error {
	for _, s := range g.plan.Sets() {
		groups, err := newGroups(g.stageOf(s.Aggregate(), rows()), s.Aggregate())
		if err != nil {
			return err
		}
		g.readers = append(g.readers, groups)
	}
	return nil
}

// merging makes readers that merge states. states makes the reader of those of the rows for a grouping.
func (g *groupSets) merging(states func(a *plan.Aggregate) (buffer.Reader, error)) error {
	sets := g.plan.Sets()
	children := make([][]int, len(sets))
	for i, s := range sets {
		if s.Parent >= 0 {
			children[s.Parent] = append(children[s.Parent], i)
		}
	}
	g.readers = make([]buffer.Reader, len(sets))
	var open func(number int, input buffer.Reader) error
	open = func(number int, input buffer.Reader) error {
		a := sets[number].Aggregate()
		user := func() buffer.Reader { return input }
		if len(children[number]) > 0 {
			user = newShared(g.stageOf(a, nil), input).user
		}
		merged, err := newMerged(g.stageOf(a, user()), a)
		if err != nil {
			return err
		}
		g.readers[number] = merged
		for _, child := range children[number] {
			below := sets[child].Aggregate()
			coarser := &coarserStates{stage: g.stageOf(below, user()), keys: below.GroupKeys()}
			if len(children[child]) == 0 { // its states are read once
				if err := open(child, coarser); err != nil {
					return err
				}
				continue
			}
			combined, err := newGrouping(g.stageOf(below, coarser), below, below.Input().Schema())
			if err != nil {
				return err
			}
			combined.merges = true
			if err := open(child, &partialGroups{grouping: combined}); err != nil {
				return err
			}
		}
		return nil
	}
	for i, s := range sets {
		if s.Parent >= 0 {
			continue
		}
		input, err := states(s.Aggregate())
		if err != nil {
			return err
		}
		if err := open(i, input); err != nil {
			return err
		}
	}
	return nil
}

// newMerged makes the reader of the groups of states.
func newMerged(s *stage, a *plan.Aggregate) (*grouping, error) {
	g, err := newGrouping(s, a, a.Input().Schema())
	if err == nil {
		g.merges = true
	}
	return g, err
}

// sampledGroups is the number of rows at the start of the input that are sampled, rowsOfGroups the least mean number
// of rows of a group for which states are merged. States take 8 to 50 bytes for an aggregate, so that those of 4 rows take
// about as much memory as the rows.
const sampledGroups, rowsOfGroups = 1 << 14, 4

// hasFewGroups reports whether the rows of the first table are expected to have few groups.
func (g *groupSets) hasFewGroups(ctx context.Context, table *buffer.Buffer) (few bool, err error) {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return false, err
	}
	sample, err := table.Slice(0, min(rows, sampledGroups))
	if err != nil {
		return false, err
	}
	few = true
	for _, set := range g.plan.Sets() {
		if set.Parent < 0 && few && err == nil {
			few, err = g.isFew(ctx, set.Aggregate(), sample, rows)
		}
	}
	if isShort(err) {
		few, err = true, nil // states need less memory than rows that are kept
	}
	return few, errors.Join(err, sample.Release())
}

// isFew reports whether a number of rows, of which a sample is the first ones, are in few groups with states that can be merged.
func (g *groupSets) isFew(ctx context.Context, a *plan.Aggregate, sample *buffer.Buffer, rows int64) (bool, error) {
	sampled, err := sample.NumRows(ctx)
	if err != nil {
		return false, err
	}
	groups, err := newGrouping(g.stageOf(a, nil), a, a.Input().Schema())
	if err != nil {
		return false, err
	}
	states, err := groups.by(sample).Partial(ctx, groups.aggregates, groups.options)
	if errors.Is(err, device.ErrNotSupported) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := states.NumRows(ctx)
	return len(a.GroupKeys()) == 0 || estimatedGroups(n, sampled)*rowsOfGroups <= float64(rows), errors.Join(err, states.Release())
}

// estimatedGroups returns how many groups of equal size there are if some rows are in a number of them: of d groups, n rows are
// in about d(1−exp(−n/d)).
func estimatedGroups(groups, rows int64) float64 {
	if groups >= rows {
		return math.Inf(1)
	}
	low, high := float64(groups), float64(rows)*float64(rows)
	for range 60 {
		middle := (low + high) / 2
		if -middle*math.Expm1(-float64(rows)/middle) < float64(groups) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// Close implements buffer.Reader.
func (g *groupSets) Close() error {
	readers := slices.DeleteFunc(g.readers, func(r buffer.Reader) bool { return r == nil })
	g.readers = nil
	return errors.Join(release.CloseAll(readers), g.stage.Close())
}

// readAhead is a reader of which the first table was read.
type readAhead struct {
	buffer.Reader
	first *buffer.Buffer
}

// Next implements buffer.Reader.
func (r *readAhead) Next(ctx context.Context) (*buffer.Buffer, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	return r.Reader.Next(ctx)
}

// Close implements buffer.Reader.
func (r *readAhead) Close() error {
	var err error
	if r.first != nil {
		err = r.first.Release()
		r.first = nil
	}
	return errors.Join(err, r.Reader.Close())
}

// coarserStates reads states with some of their keys.
type coarserStates struct {
	*stage
	keys []expr.Expr
}

// Next implements buffer.Reader.
func (c *coarserStates) Next(ctx context.Context) (*buffer.Buffer, error) {
	if len(c.inputs) == 0 {
		return nil, errEnd
	}
	states, err := c.inputs[0].Next(ctx)
	if err != nil {
		return nil, err
	}
	var columns []expr.Expr
	for _, k := range c.keys {
		columns = append(columns, expr.Col(k.Name()))
	}
	if len(columns) == 0 {
		columns = append(columns, c.node.(*plan.Aggregate).Keys()[0].Expr.As(plan.Computed("all")))
	}
	for _, f := range states.Schema().Fields() {
		if strings.HasPrefix(f.Name, plan.StatePrefix) {
			columns = append(columns, expr.Col(f.Name))
		}
	}
	coarser, err := expr.Project(ctx, states, columns, c.options())
	return release.OnError(coarser, err, states.Release())
}
