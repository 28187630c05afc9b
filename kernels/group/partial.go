package group

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// Partial returns the state of the aggregates of each group, instead of their results. The
// tables of several parts of the rows, for example of the batches of a stream or of the
// memory of several GPUs, are combined by [Merge]. The result of Merge is the same, bit for
// bit, as that of [Query.Aggregate] for all rows.
//
// The table has the columns of the keys and then those of the states, which have the type
// fixed-size binary or that of the values, or lists of them. It can be stored and sent like
// any Arrow table. Its layout may change with the version of this package.
//
// Partial waits like Aggregate, and for the number of values if it collects them. ArgMin
// and ArgMax number the rows of a part from ByOptions.FirstRow on. With ByOptions.FixedPointSums it is as fast
// as Aggregate for few groups and sums of floats. The caller releases the result.
func (q Query) Partial(ctx context.Context, aggregates []Aggregate, options ...ByOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("group: partial: %w", err)
	}
	table, err := q.partial(ctx, aggregates, only)
	if err != nil {
		return nil, fmt.Errorf("group: partial: %w", err)
	}
	return table, nil
}

func (q Query) partial(ctx context.Context, aggregates []Aggregate, options ByOptions) (*buffer.Buffer, error) {
	q.asStates = true
	k, err := q.numberTexts(ctx, &options)
	if err != nil {
		return nil, err
	}
	if len(k.numbers) > 0 {
		return k.aggregate(ctx, aggregates, options)
	}
	r, err := q.begin(ctx, aggregates, options)
	if err != nil {
		return nil, err
	}
	return closing(r, r.partial)
}

// stateColumn is a column of a partial result: the states of an accumulator, the values
// of input value of an output, the numbers of the rows that an output has found, or the numbers of vectors.
type stateColumn struct {
	accumulator, output, value int
	dataType                   arrow.DataType
	rows, counts               bool
}

// stateColumns returns the columns of a partial result after the keys.
func (p *plan) stateColumns() (columns []stateColumn, err error) {
	used := make([]bool, len(p.accumulators))
	for _, o := range p.outputs {
		for _, state := range o.states {
			used[state] = used[state] || o.method == byState && !o.findsRow()
		}
	}
	for i, a := range p.accumulators {
		if used[i] {
			columns = append(columns, stateColumn{accumulator: i, output: -1, value: -1, dataType: &arrow.FixedSizeBinaryType{ByteWidth: 8 * a.words()}})
		}
	}
	for i, o := range p.outputs {
		switch {
		case o.findsRow():
			columns = append(columns, stateColumn{accumulator: -1, output: i, value: o.value, dataType: p.inputs[o.value].dataType},
				stateColumn{accumulator: -1, output: i, value: -1, dataType: o.dataType, rows: true})
		case o.method == byRow:
			if o.numbersRows() {
				columns = append(columns, stateColumn{accumulator: -1, output: i, value: -1, dataType: arrow.PrimitiveTypes.Int64, rows: true})
			}
			columns = append(columns, stateColumn{accumulator: -1, output: i, value: o.value, dataType: o.dataType})
		case o.method == byVector:
			columns = append(columns, stateColumn{accumulator: -1, output: i, value: o.value, dataType: statesOfVectors(o.dataType)},
				stateColumn{accumulator: -1, output: i, value: -1, dataType: arrow.PrimitiveTypes.Int64, counts: true})
		case o.method == bySegment:
			for _, value := range append([]int{o.value}, o.others...) {
				t := p.inputs[value].dataType
				if o.aggregate.folding != nil {
					t = o.aggregate.folding.State
				} else if !o.collected {
					t = arrow.ListOf(t)
				}
				columns = append(columns, stateColumn{accumulator: -1, output: i, value: value, dataType: t})
			}
		}
	}
	return columns, nil
}

// partial returns the keys and the states of all groups.
func (r *aggregation) partial() (*buffer.Buffer, error) {
	list, err := r.plan.stateColumns()
	if err != nil {
		return nil, err
	}
	if table, ok, err := r.aggregateMoved(); ok || err != nil {
		return table, err
	}
	r.groups.kept, r.groups.fixedPoint = true, r.options.FixedPointSums
	if r.states, err = r.accumulateList(r.plan.accumulators, statesApart(r.call.Allocate)); err != nil {
		return nil, err
	}
	r.owned.Add(r.states)
	keys := r.groups.keys
	var fields []arrow.Field
	var columns []*column.Column
	for i, f := range keys.Schema().Fields() {
		fields = append(fields, arrow.Field{Name: r.names[i], Type: f.Type, Nullable: true})
		columns = append(columns, keys.Column(i))
	}
	var temporaries release.Stack
	for i, s := range list {
		c, err := r.stateColumn(s)
		if err != nil {
			return nil, errors.Join(err, temporaries.Release())
		}
		temporaries.Add(c)
		fields = append(fields, arrow.Field{Name: stateName(i), Type: c.Type(), Nullable: s.accumulator < 0})
		columns = append(columns, c)
	}
	table, err := op.Table(arrow.NewSchema(fields, nil), columns, keys.Rows())
	if table, err = release.OnError(table, err, temporaries.Release()); err != nil || r.presence < 0 {
		return table, err
	}
	return r.withRows(table)
}

// stateName is the name of a column of states.
func stateName(i int) string { return fmt.Sprintf("state %d", i) }

func (r *aggregation) stateColumn(s stateColumn) (*column.Column, error) {
	if s.accumulator >= 0 {
		return column.New(column.Data{
			Type: s.dataType, Length: r.states.capacity, Rows: r.groups.keys.RowCount(),
			Buffers: []column.Bytes{{}, r.states.lists[s.accumulator]}, Manager: r.call.Manager,
		})
	}
	o := r.plan.outputs[s.output]
	if s.rows {
		o.dataType = s.dataType
		return r.rowNumbers(&o)
	}
	if o.method == byVector {
		return r.vectorColumn(&o, s)
	}
	if o.method == byRow || o.findsRow() {
		values, err := r.input(o.value)
		if err != nil {
			return nil, err
		}
		return r.pick(&o, values)
	}
	return r.collected(&o, s)
}

// collected returns the values of an input that an output reads, as a list for each group.
func (r *aggregation) collected(o *output, s stateColumn) (*column.Column, error) {
	own := *o
	own.dataType = s.dataType
	m := &members{aggregation: r, o: &own}
	err := m.find()
	var lists *column.Column
	if err == nil && o.aggregate.folding != nil {
		states, err := m.states()
		return release.OnError(states, err, m.owned.Release())
	}
	if err == nil {
		number := 1
		for i, value := range o.others {
			if s.value == value {
				number = 2 + i
			}
		}
		lists, err = m.collectColumn(number)
	}
	return release.OnError(lists, err, m.owned.Release())
}

// Merge combines tables of [Query.Partial], made with the same keys and aggregates, and
// returns the result of [Query.Aggregate] for all their rows. The schema is that of the
// tables that were aggregated. The order of the tables is that of the rows, for aggregates
// that depend on it: First, Last, Mode, Collect, ArgMin and ArgMax. If Order is FirstAppearance, the tables have to
// be made with it too: otherwise the order of their groups is not that of the rows.
//
// The rows were selected before: Nulls and conditions have no effect. Merge waits like
// selection.Concat and Aggregate, and for the answer whether sums of floats are exact. The caller keeps
// the tables, and releases the result.
//
// The error wraps [ErrInexact] if the tables were made with ByOptions.FixedPointSums, and their values have
// magnitudes so different that a sum could differ in a bit.
func Merge(ctx context.Context, schema *arrow.Schema, partials []*buffer.Buffer, aggregates []Aggregate, options ...ByOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("group: merge: %w", err)
	}
	table, err := merge(ctx, schema, partials, aggregates, only, (*aggregation).result)
	if err != nil {
		return nil, fmt.Errorf("group: merge: %w", err)
	}
	return table, nil
}

// Combine combines tables of [Query.Partial] like [Merge], and returns such a table again: of
// a long stream of batches, only the states of the groups are kept. The result of Merge does
// not depend on which tables were combined before, as long as their order is kept.
func Combine(ctx context.Context, schema *arrow.Schema, partials []*buffer.Buffer, aggregates []Aggregate, options ...ByOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("group: combine: %w", err)
	}
	states, err := merge(ctx, schema, partials, aggregates, only, (*aggregation).partial)
	if err != nil {
		return nil, fmt.Errorf("group: combine: %w", err)
	}
	return states, nil
}

// merge combines partial results and makes a table of the groups.
func merge(ctx context.Context, schema *arrow.Schema, partials []*buffer.Buffer, aggregates []Aggregate, options ByOptions,
	step func(*aggregation) (*buffer.Buffer, error),
) (*buffer.Buffer, error) {
	if len(partials) == 0 {
		return nil, fmt.Errorf("no table is given, expected one or more: %w", device.ErrInvalidValue)
	}
	if schema == nil {
		return nil, fmt.Errorf("the schema is nil, expected that of the aggregated tables: %w", device.ErrInvalidValue)
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	p, err := newPlan(schema, aggregates)
	if err != nil {
		return nil, err
	}
	list, err := p.stateColumns()
	if err != nil {
		return nil, err
	}
	for i, table := range partials {
		if err := table.Check(); err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		if err := checkPartial(table, list); err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
	}
	scratch := options.Options
	scratch.Tag = op.ScratchTag
	all, err := selection.Concat(ctx, partials, scratch)
	if err != nil {
		return nil, err
	}
	for i := range list { // states that are long texts have wider offsets
		list[i].dataType = all.Column(all.NumColumns() - len(list) + i).Type()
	}
	r := newAggregation(options, p.merging(list))
	r.merges = true
	r.owned.Add(all)
	if err := r.prepareMerge(ctx, all, list); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return closing(r, func() (*buffer.Buffer, error) { return step(r) })
}

// checkPartial refuses tables without the columns of a partial result.
func checkPartial(table *buffer.Buffer, list []stateColumn) error {
	keys := table.NumColumns() - len(list)
	if keys < 1 {
		return fmt.Errorf("it has %d columns, expected one or more keys and %d columns of states: %w", table.NumColumns(), len(list), buffer.ErrSchema)
	}
	for i, s := range list {
		if f := table.Schema().Field(keys + i); !layout.EqualButOffsets(f.Type, s.dataType) {
			return fmt.Errorf("column %q has the type %v, expected the states of type %v that Partial makes for these aggregates: %w", f.Name, f.Type, s.dataType, buffer.ErrSchema)
		}
	}
	return nil
}

// merging returns the plan that merges states. Its inputs are the columns of states.
func (p *plan) merging(list []stateColumn) *plan {
	m := &plan{outputs: make([]output, len(p.outputs))}
	renumbered := make([]int, len(p.accumulators))
	for i, s := range list {
		m.inputs = append(m.inputs, input{dataType: s.dataType, ranked: -1})
		if s.accumulator >= 0 {
			a := p.accumulators[s.accumulator]
			a.value, a.other, a.where, a.merges = i, -1, -1, true
			renumbered[s.accumulator] = len(m.accumulators)
			m.accumulators = append(m.accumulators, a)
		}
	}
	for i := range p.outputs {
		o := &m.outputs[i]
		*o = p.outputs[i]
		o.where, o.others = -1, nil
		if o.method == byState && !o.findsRow() {
			o.value, o.states = -1, nil
			for _, state := range p.outputs[i].states {
				o.states = append(o.states, renumbered[state])
			}
		}
	}
	for i, s := range list {
		if s.output < 0 {
			continue
		}
		o := &m.outputs[s.output]
		switch {
		case s.rows:
			o.rows = i
		case o.findsRow():
			a := p.accumulators[o.states[0]]
			ranked := p.inputs[a.value].ranked >= 0
			o.value = i
			a.value, a.other, a.where = i, i, -1
			if ranked {
				a.value = m.rank(i)
			}
			o.states = []int{m.accumulate(a)}
		case o.method == byRow:
			a := p.accumulators[o.states[0]]
			o.value = i
			a.other, a.where = i, -1
			if a.kind == firstGreatest {
				a.value = m.rank(i)
			}
			if o.aggregate.keepsNulls() {
				a.other = o.rows
			}
			o.states = []int{m.accumulate(a)}
		case o.aggregate.folding != nil:
			o.value, o.merges = i, true
		case !o.collected:
			o.value, o.collected = i, true
		default:
			o.others = append(o.others, i)
		}
	}
	return m
}

// prepareMerge finds the groups of partial results.
func (r *groupFinder) prepareMerge(ctx context.Context, all *buffer.Buffer, list []stateColumn) error {
	keys := all.NumColumns() - len(list)
	columns, names := make([]*column.Column, all.NumColumns()), make([]string, all.NumColumns())
	for i := range columns {
		columns[i] = all.Column(i)
		if i < keys {
			names[i] = keyName(i)
			r.names = append(r.names, all.Schema().Field(i).Name)
		} else {
			names[i] = inputName(i - keys)
		}
	}
	rows, err := op.TableOf(names, columns, all.Rows())
	if err := r.replace(rows, err); err != nil {
		return err
	}
	if r.call, err = op.Begin(ctx, r.options.Options, columns...); err != nil {
		return err
	}
	if err := r.exact(); err != nil {
		return err
	}
	if r.groups, err = findGroups(&r.call, r.rows, keys, keys, r.options, nil, false); err == nil {
		r.owned.Add(r.groups)
	}
	return err
}

// flatten makes the table of members of lists that Partial has collected.
func (m *members) flatten() error {
	r := m.aggregation
	var columns []*column.Column
	names := []string{memberName(0)}
	for i, number := range append([]int{m.o.value}, m.o.others...) {
		lists, err := r.input(number)
		if err != nil {
			return err
		}
		child := lists.Child(0)
		if i == 0 {
			numbers, err := m.numbersOfLists(lists, child.Len())
			if err != nil {
				return err
			}
			columns = append(columns, numbers)
		}
		values, err := child.SliceCapacity(0, child.Len())
		if err != nil {
			return err
		}
		m.owned.Add(values)
		names, columns = append(names, memberName(1+i)), append(columns, values)
	}
	rows, err := op.TableOf(names, columns, buffer.Rows{Count: int64(columns[0].Len()), Manager: r.call.Manager})
	if err == nil {
		m.own(rows)
	}
	return err
}

// numbersOfLists returns the number of the group of each element of lists, or a number
// beyond all groups for elements outside of the lists.
func (m *members) numbersOfLists(lists *column.Column, elements int) (*column.Column, error) {
	r := m.aggregation
	offsets, err := m.offsetsOf(lists, elements)
	if err != nil {
		return nil, err
	}
	g := r.groups
	groups, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: elements}, func(out op.Buffers) error {
		if !r.call.OnHost() {
			return numbersOfListsOnDevice(&r.call, out, offsets, g, elements)
		}
		to, err := out.Host()
		ends, endsErr := offsets.Host()
		numbers, numbersErr := g.numbers.Host()
		if err := errors.Join(err, endsErr, numbersErr); err != nil {
			return err
		}
		groupNumbers := op.Elements[uint32](to.Values)
		for i := range groupNumbers {
			groupNumbers[i] = noGroup
		}
		for list := range g.rows {
			for i := max(ends[list], 0); i < min(ends[list+1], int32(len(groupNumbers))); i++ {
				groupNumbers[i] = numbers[list]
			}
		}
		return nil
	})
	if err == nil {
		m.owned.Add(groups)
	}
	return groups, err
}

// offsetsOf returns the offsets of lists in 32 bits.
func (m *members) offsetsOf(lists *column.Column, elements int) (offsets memory.Slice[int32], err error) {
	if elements > math.MaxInt32 {
		return offsets, fmt.Errorf("the partial results have %d values together, at most %d can be numbered: %w", elements, math.MaxInt32, ErrTooLong)
	}
	bytes := lists.Buffer(1)
	if lists.Type().ID() == arrow.LARGE_LIST {
		if bytes, err = m.narrowed(bytes); err != nil {
			return offsets, err
		}
	}
	region, err := bytes.Slice(4*lists.Offset(), bytes.Len())
	if err != nil {
		return offsets, err
	}
	return memory.Reinterpret[int32](region)
}

// narrowed returns integers of 64 bits in 32 bits.
func (m *members) narrowed(wide column.Bytes) (column.Bytes, error) {
	none, n := column.Bytes{}, wide.Len()/8
	if n == 0 {
		return none, nil
	}
	c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: n, Buffers: []column.Bytes{none, wide}, Manager: m.aggregation.call.Manager})
	if err != nil {
		return none, err
	}
	table, err := op.TableOf([]string{"offset"}, []*column.Column{c}, buffer.Rows{Count: int64(n)})
	if err = errors.Join(err, c.Release()); err != nil {
		return none, errors.Join(err, table.Release())
	}
	narrow, err := expr.Evaluate(m.aggregation.call.Context(), table, []expr.Expr{expr.Col("offset").Cast(arrow.PrimitiveTypes.Int32)}, m.aggregation.scratch())
	if err = errors.Join(err, table.Release()); err != nil {
		return none, errors.Join(err, release.All(narrow))
	}
	m.owned.Add(narrow[0])
	return narrow[0].Buffer(1), nil
}

// noGroup is the number of rows without a group.
const noGroup = 1<<32 - 1
