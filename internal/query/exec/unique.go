package exec

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// IsUnique is a [plan.Unique]: it counts the values of a column of integers or dates of one table, once for all plans. Other
// columns, and those that other libraries may write to, are not known.
func IsUnique(ctx context.Context, s source.Source, name string) (bool, error) {
	table := source.TableOf(s)
	if table == nil {
		return false, nil
	}
	c, err := table.ColumnByName(name)
	if err != nil || !mayBeUnique(c) {
		return false, nil
	}
	if c.Known().Unique == column.Unknown {
		if err := learnUnique(ctx, table, c, name); err != nil && !isShort(err) {
			return false, err
		}
	}
	return source.Uniqueness(s, name) == column.Yes, nil
}

// mayBeUnique reports whether the values of a column can be counted.
func mayBeUnique(c *column.Column) bool {
	for i := range c.NumBuffers() {
		if block := c.Buffer(i).Block(); block != nil && block.MayChange() {
			return false
		}
	}
	switch t := c.Type().ID(); t {
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return true
	default:
		return arrow.IsInteger(t)
	}
}

// learnUnique counts the rows and the different values of a column.
func learnUnique(ctx context.Context, table *buffer.Buffer, c *column.Column, name string) error {
	aggregates := []group.Aggregate{group.CountAll().As("rows"), group.CountDistinct(expr.Col(name)).As("values")}
	key := group.Key{Expr: expr.LitOf(arrow.PrimitiveTypes.Int8, int8(0)), Name: "all"}
	counts, err := group.By(table, key).Aggregate(ctx, aggregates, group.ByOptions{Options: kernels.Options{Tag: "unique"}, MaxGroups: 1})
	if err != nil {
		return err
	}
	record, err := counts.Record(ctx)
	if err = errors.Join(err, counts.Release()); err != nil {
		return err
	}
	defer record.Release()
	rows, values := int64(0), int64(0)
	if record.NumRows() > 0 {
		rows, values = record.Column(1).(*array.Int64).Value(0), record.Column(2).(*array.Int64).Value(0)
	}
	c.LearnUnique(map[bool]column.Answer{true: column.Yes, false: column.No}[rows == values])
	return nil
}
