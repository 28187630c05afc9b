package group

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// maskName is the name of the column of a mask.
const maskName = "\x00mask"

// restrict applies the condition of a query before keys and values are computed. It removes
// the other rows, of the columns that the query reads. If the condition keeps at least half of the
// rows, they may stay: the condition becomes one of each aggregate, and groups without a row that
// meets it are removed from the result.
//
// A query that needs the numbers of the rows, or has keys outside of the table, keeps its
// condition, and so does one that reads no column.
func (r *queryRows) restrict(ctx context.Context, q Query, aggregates []Aggregate) (Query, error) {
	columns := q.columns(aggregates)
	if q.where.IsZero() || q.numbered || r.plan.findsRows() || slices.ContainsFunc(q.keys, func(k Key) bool { return k.Values != nil }) {
		return q, nil
	}
	options := r.options.Options
	options.Tag = op.ScratchTag
	if !r.mayMask(ctx, q) {
		if len(columns) == 0 {
			return q, nil
		}
		kept, err := selection.FilterSelect(ctx, q.table, q.where, columns, options)
		return r.on(q, kept, err), err
	}
	masks, err := expr.Evaluate(ctx, q.table, []expr.Expr{q.where}, options)
	if err != nil {
		return q, err
	}
	mask := masks[0]
	r.owned.Add(mask)
	if layout.Storage(mask.Type()).ID() != arrow.BOOL {
		return q, nil // refused later
	}
	rows, kept, err := r.count(ctx, q.table, mask)
	if err != nil {
		return q, err
	}
	if 2*kept < rows && len(columns) > 0 {
		return r.remove(ctx, q, columns, mask, options)
	}
	table, err := q.table.AppendColumn(arrow.Field{Name: maskName, Type: mask.Type(), Nullable: true}, mask)
	if err != nil {
		return q, err
	}
	r.masked = true
	q = r.on(q, table, nil)
	keep := expr.Col(maskName)
	if r.plan, err = newPlan(table.Schema(), masked(aggregates, keep)); err == nil {
		r.mask, err = r.plan.expression(table.Schema(), keep)
	}
	return q, err
}

// masked returns aggregates with a further condition, and their names.
func masked(aggregates []Aggregate, condition expr.Expr) []Aggregate {
	restricted := make([]Aggregate, len(aggregates))
	for i, a := range aggregates {
		restricted[i] = a.As(a.Name()).Where(condition)
		restricted[i].masked = a.where.IsZero()
	}
	return restricted
}

// mayMask reports whether rows that do not meet the condition may stay: if the order of the groups
// does not depend on them. On a GPU they stay only if keys are strings, which take long to copy and
// are not grouped by partitions, where masks are not read, or few numbers of strings.
func (r *queryRows) mayMask(ctx context.Context, q Query) bool {
	if r.options.Order == FirstAppearance {
		return false
	}
	if q.table.Device().Kind() != device.Host {
		rows, known := q.table.HostRows()
		if rows < int64(tuningOf(ctx).MaskedRows) || !known || r.options.Estimate != nil || !q.texts && !slices.ContainsFunc(q.keys, q.hasLongValues) {
			return false
		}
	}
	if r.options.MaxGroups > 0 && slices.ContainsFunc(q.keys, func(k Key) bool { return !isConstant(k) }) {
		return false
	}
	return !slices.ContainsFunc(r.plan.outputs, func(o output) bool { return o.method == bySegment })
}

// hasLongValues reports whether a key has values of no fixed width.
func (q Query) hasLongValues(key Key) bool {
	t, _, err := key.typeIn(q.table.Schema())
	if err != nil {
		return false
	}
	l, err := layout.Of(t)
	return err == nil && l.Kind == layout.Binary
}

// on returns the query without its condition on another table, which r owns.
func (r *queryRows) on(q Query, table *buffer.Buffer, err error) Query {
	if err == nil {
		r.owned.Add(table)
		q.table, q.where = table, expr.Expr{}
	}
	return q
}

// remove removes the rows that a mask leaves out.
func (r *queryRows) remove(ctx context.Context, q Query, columns []string, mask *column.Column, options kernels.Options) (Query, error) {
	read, err := q.table.Select(columns...)
	if err != nil {
		return q, err
	}
	kept, err := selection.FilterMask(ctx, read, mask, options)
	q = r.on(q, kept, err)
	return q, errors.Join(err, read.Release())
}

// count returns the number of rows, and of those for which a mask is true.
func (r *queryRows) count(ctx context.Context, table *buffer.Buffer, mask *column.Column) (rows, kept int64, err error) {
	if rows, err = table.NumRows(ctx); err != nil || rows == 0 {
		return 0, 0, err // a mask of no rows may have no memory
	}
	if table.Device().Kind() != device.Host {
		kept, err = r.countOnDevice(ctx, table.Rows(), mask)
		return rows, kept, err
	}
	view, err := hostarray.View(mask)
	if err != nil {
		return 0, 0, err
	}
	defer view.Release()
	data := view.Data()
	truth := hostSource{HostView: op.HostView{Values: data.Buffers()[1].Bytes(), Bit: data.Offset()}}
	if valid := data.Buffers()[0]; valid != nil && valid.Len() > 0 {
		truth.Valid = valid.Bytes()
	}
	for row := int64(0); row < rows; row += 64 {
		word := truth.trueWord(int(row))
		if rest := rows - row; rest < 64 {
			word &= 1<<rest - 1
		}
		kept += int64(bits.OnesCount64(word))
	}
	return rows, kept, nil
}

// countOnDevice returns the number of rows for which a mask is true. It waits for it.
func (r *queryRows) countOnDevice(ctx context.Context, rows buffer.Rows, mask *column.Column) (int64, error) {
	table, err := op.TableOf([]string{maskName}, []*column.Column{mask}, rows)
	if err != nil {
		return 0, err
	}
	options := r.options.Options
	options.Tag = op.ScratchTag
	counts, err := reduce.Integers(ctx, table, []reduce.Aggregate{reduce.CountAll().Where(expr.Col(maskName))}, options)
	if err = errors.Join(err, table.Release()); err != nil {
		return 0, err
	}
	return int64(counts[0].Value), nil
}

// columns returns the columns that keys and aggregates read.
func (q Query) columns(aggregates []Aggregate) []string {
	var list []string
	add := func(expressions ...expr.Expr) {
		for _, e := range expressions {
			for _, name := range e.Columns() {
				if !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
	}
	for _, k := range q.keys {
		if k.Values == nil {
			add(k.expression())
		}
	}
	for _, a := range aggregates {
		add(a.value, a.where)
		add(a.others...)
	}
	return list
}
