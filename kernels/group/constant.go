package group

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// evaluateConstants computes the keys of a query with constants only, in a table of one row: all rows
// are one group, so no column has its key and none its number. The query that it returns has no keys
// then. A query without rows has no group, and keeps its keys.
func (r *queryRows) evaluateConstants(ctx context.Context, q Query) (Query, error) {
	if q.numbered || r.options.Nulls == DropNulls || slices.ContainsFunc(q.keys, func(k Key) bool { return !isConstant(k) }) {
		return q, nil
	}
	rows := q.table.Capacity()
	switch {
	case q.table.Device() == nil:
		return q, nil
	case q.table.Device().Kind() != device.Host:
		if !r.plan.mayHavePlaces(q.numbered, len(q.keys), r.options.Order) {
			return q, nil
		}
	case q.table.RowCount() != nil:
		var err error
		if rows, err = q.table.NumRows(ctx); err != nil {
			return q, err
		}
	}
	if rows == 0 {
		return q, nil
	}
	row, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: 1, Manager: r.options.Manager})
	if err != nil {
		return q, err
	}
	expressions := make([]expr.Expr, len(q.keys))
	for i, key := range q.keys {
		expressions[i] = key.expression()
	}
	options := r.options.Options
	options.Tag = op.ScratchTag
	constants, err := expr.Evaluate(ctx, row, expressions, options)
	if err = errors.Join(err, row.Release()); err != nil {
		return q, err
	}
	for i, c := range constants {
		r.owned.Add(c)
		r.names = append(r.names, q.keys[i].name(i))
	}
	r.constants, q.keys = constants, nil
	return q, nil
}

// keysOfNoRows adds columns of the constants to rows, of which there are none: then there is no group, and
// the keys are those of any rows. A GPU may know that only now.
func (r *queryRows) keysOfNoRows() error {
	if r.constants == nil || r.rows.RowCount() != nil || r.rows.Capacity() > 0 {
		return nil
	}
	names := r.keyNames()
	var all []*column.Column
	for _, c := range r.constants {
		none, err := c.Slice(0, 0)
		if err != nil {
			return err
		}
		r.owned.Add(none)
		all = append(all, none)
	}
	for i := range r.rows.NumColumns() {
		names, all = append(names, r.rows.Schema().Field(i).Name), append(all, r.rows.Column(i))
	}
	r.constants = nil
	rows, err := op.TableOf(names, all, r.rows.Rows())
	return r.replace(rows, err)
}

// keyNames returns the names of the columns of the keys while groups are found.
func (r *queryRows) keyNames() []string {
	list := make([]string, len(r.names))
	for i := range list {
		list[i] = keyName(i)
	}
	return list
}
