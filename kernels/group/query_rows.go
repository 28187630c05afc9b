package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// queryRows are the rows of a query: the columns of its keys, and of the inputs of its aggregates.
type queryRows struct {
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
	// shares is set if the keys are columns of the table, which a result may share.
	shares bool
	// masked is set if input mask has the rows that belong to a group.
	masked bool
	mask   int
	// asStates is set for a partial result, merges if the rows are states.
	asStates, merges bool
	// filtered is set if the rows are those that meet the query's condition. unfiltered are then the columns of the keys
	// before, borrowed: nil for a key that is no column of the table.
	filtered   bool
	unfiltered []*column.Column

	// ranks are the inputs that are ranks, by number.
	ranks map[int]*column.Column
	// deferred are the inputs that have no column yet, and whether they may be null; computed are the
	// columns that were made of such inputs later. source is the table that they are computed of, and
	// reads are its columns that they read.
	deferred map[int]bool
	computed map[int]*column.Column
	source   *buffer.Buffer
	reads    []*column.Column

	owned release.Stack
}

func (r *queryRows) close() error { return r.owned.Release() }

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
func (r *queryRows) scratch() kernels.Options { return scratchOptions(&r.call) }

func scratchOptions(call *op.Call) kernels.Options {
	return kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: op.ScratchTag}
}

func (r *queryRows) resultOptions() kernels.Options {
	return kernels.Options{Stream: r.call.Stream, Manager: r.call.Manager, Tag: r.call.Tag}
}

// load evaluates the keys, the inputs and the condition.
func (r *queryRows) load(ctx context.Context, q Query) error {
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
		r.owned.Add(columns[i])
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
	rows, err := op.TableOf(names, all, q.table.Rows())
	return r.replace(rows, err)
}

// isLoaded reports whether an input is a column of the rows.
func (r *queryRows) isLoaded(number int) bool {
	_, deferred := r.deferred[number]
	return r.plan.inputs[number].ranked < 0 && !deferred
}

// mayHaveNulls reports whether rows may be null, also by a null in a dictionary.
func mayHaveNulls(c *column.Column) bool {
	return c.NullCount() != 0 || c.Dictionary() != nil && c.Dictionary().NullCount() != 0
}

// validated returns a column with a bitmap of its nulls: nulls of a dictionary become
// nulls of the rows.
func (r *queryRows) validated(ctx context.Context, c *column.Column) (*column.Column, error) {
	if c.Dictionary() == nil || c.Dictionary().NullCount() == 0 || c.Len() == 0 {
		return c, nil
	}
	options := r.options.Options
	options.Tag = op.ScratchTag
	table, err := op.TableOf([]string{"column"}, []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
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
		r.owned.Add(nullable)
	}
	return nullable, err
}

const whereName = "where"

// firstKeyNames and firstInputNames are the names of the first columns, which most queries have.
var firstKeyNames, firstInputNames = numberedNames("key "), numberedNames("input ")

func numberedNames(prefix string) (names [16]string) {
	for i := range names {
		names[i] = fmt.Sprint(prefix, i)
	}
	return names
}

func keyName(i int) string {
	if i < len(firstKeyNames) {
		return firstKeyNames[i]
	}
	return fmt.Sprint("key ", i)
}

func inputName(i int) string {
	if i < len(firstInputNames) {
		return firstInputNames[i]
	}
	return fmt.Sprint("input ", i)
}

// replace sets the rows.
func (r *queryRows) replace(rows *buffer.Buffer, err error) error {
	if err == nil {
		r.rows = rows
		r.owned.Add(rows)
	}
	return err
}

// filter removes rows for which the condition is not true, and rows with null keys if
// they are dropped.
func (r *queryRows) filter(ctx context.Context, q Query) error {
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
func (r *queryRows) numberRows(moved bool) error {
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
func (r *queryRows) exact() error {
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
		r.owned.Add(r.source)
	}
	return err
}

// input returns the column of an input, borrowed. Ranks are computed at the first use.
func (r *queryRows) input(number int) (*column.Column, error) {
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
	ranks, err := r.rank(inputName(in.ranked))
	if err != nil {
		return nil, err
	}
	r.owned.Add(ranks)
	r.ranks[number] = ranks
	return ranks, nil
}
