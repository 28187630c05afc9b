package group

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// run is one computation of aggregates.
type run struct {
	options ByOptions
	plan    *plan
	call    op.Call
	// names are those of the keys' columns.
	names []string
	// rows has the columns of the keys and of the inputs, and all rows that belong to a
	// group.
	rows *buffer.Buffer
	// constants are the keys of all rows, as columns of one row, if all keys are constants. Then
	// rows has no columns of keys.
	constants []*column.Column
	// groups are the groups of these rows, or nil with partitions.
	groups *grouping
	// partitions are used instead of groups and states if they are not nil.
	partitions *partitionPlan
	// states are those of the plan's accumulators, one block for all.
	states *states
	// spans are the ranges of keys that were looked at.
	spans map[*column.Column]span
	// shares is set if the keys are columns of the table, which a result may share.
	shares bool
	// presence is the accumulator that counts the rows of each group, or negative if no group
	// is without rows. Places of dense keys may have none, and groups of rows with a mask.
	presence int
	// masked is set if input mask has the rows that belong to a group.
	masked bool
	mask   int
	// asStates is set for a partial result, merges if the rows are states.
	asStates, merges bool
	// facts are those that strategy was chosen by.
	facts    *facts
	strategy *strategy
	// filtered is set if the rows are those that meet the query's condition.
	filtered bool

	// ranks are the inputs that are ranks, by number.
	ranks map[int]*column.Column
	// deferred are the inputs that have no column yet, and whether they may be null; computed are the
	// columns that were made of such inputs later. source is the table that they are computed of, and
	// reads are its columns that they read.
	deferred map[int]bool
	computed map[int]*column.Column
	source   *buffer.Buffer
	reads    []*column.Column

	owned owned
}

// owned collects what is released at the end.
type owned []interface{ Release() error }

func (o *owned) add(r interface{ Release() error }) { *o = append(*o, r) }

func (o owned) release() error {
	var failures []error
	for i := len(o) - 1; i >= 0; i-- {
		failures = append(failures, o[i].Release())
	}
	return errors.Join(failures...)
}

func (r *run) close() error { return r.owned.release() }

// begin prepares a run up to the groups of the rows. The caller closes the run.
func (q Query) begin(ctx context.Context, aggregates []Aggregate, options ByOptions) (*run, error) {
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
func (q Query) beginPlanned(ctx context.Context, p *plan, aggregates []Aggregate, options ByOptions) (*run, error) {
	if options.Estimate != nil {
		if q.asStates {
			return nil, errNoEstimate
		}
		return nil, q.estimate(ctx, p, options)
	}
	r := &run{options: options, plan: p, presence: -1, asStates: q.asStates, ranks: map[int]*column.Column{}}
	conditional := !q.where.IsZero()
	q, err := r.restrict(ctx, q, aggregates)
	r.filtered = conditional && !r.masked
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

func (r *run) prepare(ctx context.Context, q Query) error {
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
func (r *run) find(s *strategy) error {
	r.groups, r.partitions, r.strategy = nil, nil, s
	if err := s.find(r); err != nil || r.groups == nil {
		return err
	}
	r.owned.add(r.groups)
	if r.masked {
		r.presence = r.plan.countPlaces(r.mask)
	}
	return nil
}

// findNumbers numbers the groups of the rows.
func (r *run) findNumbers() (err error) {
	r.groups, err = findGroups(&r.call, r.rows, len(r.names), r.options, r.spans, r.shares)
	return err
}

// isComputed reports whether the values of a key are not those of a column of the table.
func isComputed(k Key) bool {
	if k.Values != nil {
		return false
	}
	_, plain := plainColumn(k.expression())
	return !plain
}

// scratch returns the options of operators with results that are released before the call
// ends.
func (r *run) scratch() kernels.Options { return scratchOptions(&r.call) }

func scratchOptions(call *op.Call) kernels.Options {
	return kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: op.ScratchTag}
}

func (r *run) resultOptions() kernels.Options {
	return kernels.Options{Stream: r.call.Stream, Manager: r.call.Manager, Tag: r.call.Tag}
}

// load evaluates the keys, the inputs and the condition.
func (r *run) load(ctx context.Context, q Query) error {
	if err := r.deferInputs(ctx, q); err != nil {
		return err
	}
	var expressions []expr.Expr
	for _, key := range q.keys {
		if key.Values == nil {
			expressions = append(expressions, key.expression())
		}
	}
	for i, in := range r.plan.inputs {
		if r.isLoaded(i) {
			expressions = append(expressions, in.expression)
		}
	}
	if !q.where.IsZero() {
		expressions = append(expressions, q.where)
	}
	var columns []*column.Column
	if len(expressions) > 0 {
		options := r.options.Options
		options.Tag = op.ScratchTag
		var err error
		if columns, err = expr.Evaluate(ctx, q.table, expressions, options); err != nil {
			return err
		}
	}
	for i := range columns {
		r.owned.add(columns[i])
	}
	for i := range columns {
		var err error
		if columns[i], err = r.validated(ctx, columns[i]); err != nil {
			return err
		}
	}
	var names []string
	var all []*column.Column
	for i, key := range q.keys {
		r.names = append(r.names, key.name(i))
		names = append(names, keyName(i))
		if key.Values != nil {
			all = append(all, key.Values)
			continue
		}
		all, columns = append(all, columns[0]), columns[1:]
	}
	for i := range r.plan.inputs {
		if r.isLoaded(i) {
			names, all, columns = append(names, inputName(i)), append(all, columns[0]), columns[1:]
		}
	}
	if len(columns) > 0 {
		names, all = append(names, whereName), append(all, columns[0])
	}
	rows, err := tableOf(names, all, q.table.Rows())
	return r.replace(rows, err)
}

// isLoaded reports whether an input is a column of the rows.
func (r *run) isLoaded(number int) bool {
	_, deferred := r.deferred[number]
	return r.plan.inputs[number].ranked < 0 && !deferred
}

// mayHaveNulls reports whether rows may be null, also by a null in a dictionary.
func mayHaveNulls(c *column.Column) bool {
	return c.NullCount() != 0 || c.Dictionary() != nil && c.Dictionary().NullCount() != 0
}

// validated returns a column with a bitmap of its nulls: nulls of a dictionary become
// nulls of the rows.
func (r *run) validated(ctx context.Context, c *column.Column) (*column.Column, error) {
	if c.Dictionary() == nil || c.Dictionary().NullCount() == 0 || c.Len() == 0 {
		return c, nil
	}
	options := r.options.Options
	options.Tag = op.ScratchTag
	table, err := tableOf([]string{"column"}, []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
	if err != nil {
		return nil, err
	}
	valid, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Col("column").IsValid()}, options)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, err
	}
	indices, err := c.Indices()
	if err != nil {
		return nil, errors.Join(err, valid[0].Release())
	}
	if indices.Offset() != 0 {
		// The bitmap begins at row 0, so the indices have to.
		compact, err := selection.ConcatColumns(ctx, []*column.Column{indices}, options)
		if indices, err = release.OnError(compact, err, indices.Release()); err != nil {
			return nil, errors.Join(err, valid[0].Release())
		}
	}
	data := indices.Data()
	data.Type, data.Dictionary, data.NullCount = c.Type(), c.Dictionary(), column.UnknownNullCount
	data.Buffers = []column.Bytes{valid[0].Buffer(1), data.Buffers[1]}
	nullable, err := column.New(data)
	if nullable, err = release.OnError(nullable, err, valid[0].Release(), indices.Release()); err == nil {
		r.owned.add(nullable)
	}
	return nullable, err
}

const whereName = "where"

func keyName(i int) string   { return fmt.Sprint("key ", i) }
func inputName(i int) string { return fmt.Sprint("input ", i) }

// replace sets the rows.
func (r *run) replace(rows *buffer.Buffer, err error) error {
	if err == nil {
		r.rows = rows
		r.owned.add(rows)
	}
	return err
}

// tableOf returns a table of columns, which it borrows.
func tableOf(names []string, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: names[i], Type: c.Type(), Nullable: true}
	}
	return op.Table(arrow.NewSchema(fields, nil), columns, rows)
}

// filter removes rows for which the condition is not true, and rows with null keys if
// they are dropped.
func (r *run) filter(ctx context.Context, q Query) error {
	var condition expr.Expr
	if !q.where.IsZero() {
		condition = expr.Col(whereName)
	}
	for i := range q.keys {
		if r.options.Nulls == DropNulls && mayHaveNulls(r.rows.Column(i)) {
			condition = both(condition, expr.Col(keyName(i)).IsValid())
		}
	}
	moved := !q.numbered && r.options.FirstRow > 0 && r.plan.findsRows()
	if condition.IsZero() && !moved {
		return nil
	}
	if err := r.embed(); err != nil {
		return err
	}
	if q.numbered || r.plan.findsRows() {
		if err := r.numberRows(moved); err != nil {
			return err
		}
	}
	if condition.IsZero() {
		return nil
	}
	rows, err := selection.Filter(ctx, r.rows, condition, r.scratch())
	return r.replace(rows, err)
}

const rowName = "row"

// numberRows adds a column of the rows' numbers, which rows keep when others are removed. With
// moved they begin at FirstRow.
func (r *run) numberRows(moved bool) error {
	n := int(r.rows.Capacity())
	numbers, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: n}, func(out op.Buffers) error {
		if !r.call.OnHost() {
			return numberRowsOnDevice(&r.call, out, n)
		}
		to, err := out.Host()
		for i, numbers := 0, op.Elements[int64](to.Values); i < len(numbers); i++ {
			numbers[i] = int64(i)
		}
		return err
	})
	if err != nil {
		return err
	}
	rows, err := r.rows.AppendColumn(arrow.Field{Name: rowName, Type: arrow.PrimitiveTypes.Int64}, numbers)
	if err = errors.Join(r.replace(rows, err), numbers.Release()); err != nil || !moved {
		return err
	}
	last := r.rows.NumColumns() - 1
	columns := make([]expr.Expr, last+1)
	for i := range last {
		columns[i] = expr.Col(r.rows.Schema().Field(i).Name)
	}
	columns[last] = expr.Col(rowName).Add(expr.Lit(r.options.FirstRow)).As(rowName)
	rows, err = expr.Project(r.call.Context(), r.rows, columns, r.scratch())
	return r.replace(rows, err)
}

// exact replaces the rows by a table without a row count if the host knows it, or can
// read it.
func (r *run) exact() error {
	if r.rows.RowCount() == nil {
		return nil
	}
	n, known := r.rows.HostRows()
	if !known && r.call.OnHost() {
		var err error
		if n, err = r.rows.NumRows(r.call.Context()); err != nil {
			return err
		}
		known = true
	}
	if !known {
		return nil
	}
	rows, err := r.rows.Slice(0, n)
	if err := r.replace(rows, err); err != nil || len(r.deferred) == 0 {
		return err
	}
	if r.source, err = r.source.Slice(0, n); err == nil {
		r.owned.add(r.source)
	}
	return err
}

// input returns the column of an input, borrowed. Ranks are computed at the first use.
func (r *run) input(number int) (*column.Column, error) {
	in := &r.plan.inputs[number]
	if _, deferred := r.deferred[number]; deferred {
		if err := r.computeAll(); err != nil {
			return nil, err
		}
	}
	if c := r.computed[number]; c != nil {
		return c, nil
	}
	if in.ranked < 0 {
		return r.rows.ColumnByName(inputName(number))
	}
	if known := r.ranks[number]; known != nil {
		return known, nil
	}
	ranks, err := order.Rank(r.call.Context(), r.rows, []order.Key{{Column: inputName(in.ranked)}}, order.RankOptions{Options: r.scratch(), Method: order.Dense})
	if err != nil {
		return nil, err
	}
	r.owned.add(ranks)
	r.ranks[number] = ranks
	return ranks, nil
}

// result computes the aggregates.
func (r *run) result() (*buffer.Buffer, error) {
	table, err := r.unordered()
	if err != nil || r.options.Order != ByKey {
		return table, err
	}
	return sortedByKeys(&r.call, table, len(r.names))
}

// unordered computes the aggregates of the groups in any order.
func (r *run) unordered() (*buffer.Buffer, error) {
	if table, ok, err := r.aggregateMoved(); ok || err != nil {
		return table, err
	}
	var err error
	if r.states, err = r.accumulate(); err != nil {
		return nil, err
	}
	r.owned.add(r.states)
	if r.merges {
		if err := r.checkExact(); err != nil {
			return nil, err
		}
	}
	table, err := r.table()
	if err == nil && r.presence >= 0 {
		table, err = r.present(table)
	}
	return table, err
}

// aggregateMoved computes the aggregates by partitions, or their states. It returns false if rows are not moved to
// partitions, or their memory does not fit the budget: states of numbered groups need less.
func (r *run) aggregateMoved() (table *buffer.Buffer, ok bool, err error) {
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
func (r *run) table() (*buffer.Buffer, error) {
	keys := r.groups.keys
	var fields []arrow.Field
	var columns []*column.Column
	for i, f := range keys.Schema().Fields() {
		fields = append(fields, arrow.Field{Name: r.names[i], Type: f.Type, Nullable: true})
		columns = append(columns, keys.Column(i))
	}
	var temporaries owned
	for i := range r.plan.outputs {
		o := &r.plan.outputs[i]
		c, err := r.output(o)
		if err != nil {
			return nil, errors.Join(&AggregateError{i, o.aggregate, err}, temporaries.release())
		}
		temporaries.add(c)
		fields = append(fields, arrow.Field{Name: o.aggregate.Name(), Type: c.Type(), Nullable: o.nullable})
		columns = append(columns, c)
	}
	table, err := op.Table(arrow.NewSchema(fields, nil), columns, keys.Rows())
	return release.OnError(table, err, temporaries.release())
}

// output returns the column of an aggregate.
func (r *run) output(o *output) (*column.Column, error) {
	switch o.method {
	case byRow:
		values, err := r.input(o.value)
		if err != nil {
			return nil, err
		}
		return r.pick(o, values)
	case bySegment:
		return r.segment(o)
	}
	if o.findsRow() {
		return r.rowNumbers(o)
	}
	return r.finish(o)
}

// rowNumbers returns the number of the row that an output has found in each group.
func (r *run) rowNumbers(o *output) (*column.Column, error) {
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
