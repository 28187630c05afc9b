package pipelinetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
)

// Operators returns all operators. Each entry has the same probability; an operator
// with several entries has a higher one.
func Operators() []Operator {
	var all []Operator
	for _, family := range [][]Operator{rowOperators, columnOperators, reductions, groupings, scans, windows, dictionaries, orders, joins} {
		all = append(all, family...)
	}
	return append(all, filter, filter, project)
}

// appended returns the table with another column, and releases that column.
func appended(table *buffer.Buffer, name string, c *column.Column, err error) (*buffer.Buffer, error) {
	if err != nil {
		return nil, err
	}
	wider, err := table.AppendColumn(arrow.Field{Name: name, Type: c.Type(), Nullable: true}, c)
	return wider, errors.Join(err, c.Release())
}

// alone returns a table of one column, which it releases.
func alone(name string, c *column.Column, err error) (*buffer.Buffer, error) {
	if err != nil {
		return nil, err
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: c.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{c}, buffer.Rows{Count: int64(c.Len()), Manager: c.Manager()})
	return table, errors.Join(err, c.Release())
}

// onColumn is an operator on one column of an accepted type. Its result becomes a
// table.
func onColumn(name string, accepts func(arrow.DataType) bool, apply func(ctx context.Context, d int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error)) Operator {
	return Operator{name, func(d *Draw) (string, Run, bool) {
		i, ok := d.Column(accepts)
		if !ok {
			return "", nil, false
		}
		as, choice := d.Name(), d.IntN(1<<20)
		run := func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return apply(ctx, choice, in, in.Table.Column(i), as)
		}
		return fmt.Sprintf("%s(%s, choice %d) as %s", name, d.Schema.Field(i).Name, choice, as), run, true
	}}
}
