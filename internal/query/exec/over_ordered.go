package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	windows "github.com/gpuframe/gpuframe/kernels/window"
)

// exactRows returns a table whose number of rows the host knows.
func exactRows(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	n, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	return table.Slice(0, n)
}

// ordered adds functions of ordered rows to each row.
func (s *stage) ordered(ctx context.Context, table *buffer.Buffer, n *plan.Over) (*buffer.Buffer, error) {
	functions, gathered, err := n.Functions()
	if err != nil {
		return nil, err
	}
	var folds []windows.Function
	for i, f := range functions {
		if !gathered[i] {
			folds = append(folds, f)
		}
	}
	var computed release.Stack
	folded, err := windows.Over(ctx, table, n.Windows(), folds, s.options())
	for _, c := range folded {
		computed.Add(c)
	}
	columns, fields := make([]*column.Column, table.NumColumns(), table.NumColumns()+len(functions)), slices.Clone(table.Schema().Fields())
	for i := range columns {
		columns[i] = table.Column(i)
	}
	for i, field := range n.Schema().Fields()[n.Schema().NumFields()-len(functions):] {
		if err != nil {
			break
		}
		var c *column.Column
		if gathered[i] {
			c, err = s.gatherFrames(ctx, table, n, i)
			computed.Add(c)
		} else {
			c, folded = folded[0], folded[1:]
		}
		fields, columns = append(fields, field), append(columns, c)
	}
	if err != nil {
		return nil, errors.Join(err, computed.Release())
	}
	all, err := op.Table(arrow.NewSchema(fields, nil), columns, table.Rows())
	return release.OnError(all, err, computed.Release())
}
