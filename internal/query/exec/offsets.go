package exec

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// fitting yields the tables of a node with the types of the plan. A node that makes one table of all
// rows, such as a sort, gives columns of more than 2 GiB of text 64-bit offsets. fitting cuts such a
// table into parts that 32-bit offsets suffice for. So readers, sinks and streams see one schema.
type fitting struct {
	buffer.Reader
	stage  *stage
	schema *arrow.Schema
	// whole is set if tables may have wider offsets than the plan's.
	whole  bool
	pieces pieces
}

// Next implements buffer.Reader.
func (f *fitting) Next(ctx context.Context) (*buffer.Buffer, error) {
	if f.pieces.isEmpty() {
		table, err := f.Reader.Next(ctx)
		if err != nil {
			return nil, err
		}
		if differ(table.Schema(), f.schema, layout.Wider) {
			wide, err := selection.Widen(ctx, table, f.schema, f.stage.options())
			if table, err = release.OnError(wide, err, table.Release()); err != nil {
				return nil, f.stage.failed(err)
			}
		}
		if f.whole || !differ(table.Schema(), f.schema, layout.Narrower) {
			return table, nil
		}
		if err := f.pieces.cut(ctx, table, longest(table), uint64(strategy.MaximumOffset(ctx, 4))); err != nil {
			return nil, f.stage.failed(err)
		}
	}
	part, err := f.pieces.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) {
		return selection.Narrow(ctx, piece, f.schema, f.stage.options())
	})
	return part, f.stage.failed(unended(err))
}

// Close implements buffer.Reader.
func (f *fitting) Close() error { return errors.Join(f.pieces.Release(), f.Reader.Close()) }

// differ reports whether change gives other types for those of a table and of the plan.
func differ(schema, planned *arrow.Schema, change func(t, like arrow.DataType) (arrow.DataType, bool)) bool {
	if schema == planned {
		return false
	}
	for i := range min(schema.NumFields(), planned.NumFields()) {
		if _, changed := change(schema.Field(i).Type, planned.Field(i).Type); changed {
			return true
		}
	}
	return false
}

// longest returns the length of the longest buffer of a table in bytes.
func longest(table *buffer.Buffer) uint64 {
	most := 0
	var visit func(c *column.Column)
	visit = func(c *column.Column) {
		data := c.Data()
		for _, b := range data.Buffers {
			most = max(most, b.Len())
		}
		for _, child := range data.Children {
			visit(child)
		}
	}
	for i := range table.NumColumns() {
		visit(table.Column(i))
	}
	return uint64(most)
}

// isTooWide reports whether an operation made strings or lists that offsets do not suffice for: it may
// succeed with fewer rows, and should with one.
func isTooWide(err error) bool { return errors.Is(err, memory.ErrOverflow) }

// widening applies an operator to a table. If it makes longer texts than 32-bit offsets reach to, it
// applies it again to the same texts with 64-bit offsets: then those that are made have them too.
func (s *stage) widening(ctx context.Context, table *buffer.Buffer, apply func(*buffer.Buffer) (*buffer.Buffer, error)) (*buffer.Buffer, error) {
	result, err := apply(table)
	if !isTooWide(err) {
		return result, err
	}
	schema, changed := layout.WideTexts(table.Schema())
	if !changed {
		return nil, err
	}
	wide, err := selection.Widen(ctx, table, schema, s.options())
	if err != nil {
		return nil, err
	}
	result, err = apply(wide)
	return release.OnError(result, err, wide.Release())
}
