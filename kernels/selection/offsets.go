package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Narrow copies the rows of a table to memory of exactly their size, as [Compact] does, with the
// offset widths that the fields of a schema have: utf8 for large_utf8, for example. Types that
// differ in other ways stay. The caller releases the result.
//
// # Errors
//
// The error wraps memory.ErrOverflow if the rows have more bytes or elements than the narrower
// offsets reach to: narrow parts of them.
func Narrow(ctx context.Context, table *buffer.Buffer, schema *arrow.Schema, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("narrow offsets", options, func(only kernels.Options) (*buffer.Buffer, error) {
		compact, err := compactTable(ctx, table, only)
		if err != nil {
			return nil, err
		}
		narrowed, err := recastTable(ctx, compact, schema, only, layout.Narrower)
		if err = errors.Join(err, compact.Release()); err != nil {
			return nil, errors.Join(err, narrowed.Release())
		}
		return narrowed, nil
	})
}

// recastTable returns a table with the types that change gives for those of columns and of a schema.
func recastTable(ctx context.Context, table *buffer.Buffer, schema *arrow.Schema, options kernels.Options,
	change func(t, like arrow.DataType) (arrow.DataType, bool),
) (*buffer.Buffer, error) {
	call, columns, err := begin(ctx, options, table)
	if err != nil {
		return nil, err
	}
	copies := make([]*column.Column, len(columns))
	for i, c := range columns {
		t, _ := change(c.Type(), schema.Field(i).Type)
		if copies[i], err = recast(&call, c, t); err != nil {
			return nil, errors.Join(fmt.Errorf("column %q: %w", schema.Field(i).Name, err), release.All(copies[:i]))
		}
	}
	return tableWith(schemaOf(table.Schema(), copies, false), copies, table.Rows())
}

// Widen returns a table with the 64-bit offsets that the fields of a schema have: large_utf8 for utf8, for
// example. Types that differ in other ways stay. The result shares all other memory. The caller releases
// it.
func Widen(ctx context.Context, table *buffer.Buffer, schema *arrow.Schema, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("widen offsets", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return recastTable(ctx, table, schema, only, layout.Wider)
	})
}

// WithOffsetsOf returns a column with 64-bit offsets where another type has them. It shares all other
// memory. The caller releases it.
func WithOffsetsOf(ctx context.Context, c *column.Column, like arrow.DataType, options ...kernels.Options) (*column.Column, error) {
	return operation("widen offsets", options, func(only kernels.Options) (*column.Column, error) {
		call, err := op.Begin(ctx, only, c)
		if err != nil {
			return nil, err
		}
		t, _ := layout.Wider(c.Type(), like)
		return recast(&call, c, t)
	})
}

// recast returns a column in a type that differs in the widths of offsets only. It shares all memory
// but that of the offsets.
func recast(call *op.Call, c *column.Column, to arrow.DataType) (shared *column.Column, err error) {
	data := c.Data()
	from, err := layoutOf(data.Type)
	if err != nil {
		return nil, err
	}
	l, err := layoutOf(to)
	if err != nil {
		return nil, err
	}
	if from.Kind != l.Kind || from.Children() != l.Children() {
		return nil, fmt.Errorf("%v and %v differ in more than offsets: %w", data.Type, to, column.ErrInvalid)
	}
	if !differs(data.Type, to) {
		return c, c.Retain()
	}
	var owned []*column.Column
	defer func() { shared, err = release.OnError(shared, err, release.All(owned)) }() // shared has references
	data.Type, data.Buffers = to, append([]column.Bytes(nil), data.Buffers...)
	if from.Width != l.Width && l.HasOffsets() {
		if err := recastOffsets(call, &data, from, l, &owned); err != nil {
			return nil, err
		}
	}
	data.Children = append([]*column.Column(nil), data.Children...)
	for i, child := range data.Children {
		t, _ := l.Child(i)
		if data.Children[i], err = recast(call, child, t); err != nil {
			return nil, err
		}
		owned = append(owned, data.Children[i])
	}
	if data.Dictionary != nil {
		if data.Dictionary, err = recast(call, data.Dictionary, l.Dictionary()); err != nil {
			return nil, err
		}
		owned = append(owned, data.Dictionary)
	}
	return column.New(data)
}

// differs reports whether two types differ in offsets.
func differs(a, b arrow.DataType) bool {
	_, wider := layout.Wider(a, b)
	_, narrower := layout.Narrower(a, b)
	return wider || narrower
}

// recastOffsets replaces the offsets of a column's data, and the sizes of list views.
func recastOffsets(call *op.Call, data *column.Data, from, to layout.Layout, owned *[]*column.Column) error {
	count, last := data.Offset+data.Length, 2
	if from.Kind == layout.ListView {
		last = 3
	} else {
		count++
	}
	if data.Offset+data.Length == 0 {
		for i := 1; i < last; i++ {
			data.Buffers[i] = column.Bytes{}
		}
		return nil
	}
	if to.Width < from.Width {
		if err := checkNarrow(call, *data, from, to, count); err != nil {
			return err
		}
	}
	for i := 1; i < last; i++ {
		c, err := recastIntegers(call, data.Buffers[i], from.Width, to.Width, count)
		if err != nil {
			return err
		}
		*owned = append(*owned, c)
		data.Buffers[i] = c.Buffer(1)
	}
	return nil
}

// checkNarrow reports an error if offsets do not fit narrower ones.
func checkNarrow(call *op.Call, data column.Data, from, to layout.Layout, count int) error {
	most := strategy.MaximumOffset(call.Context(), to.Width)
	total := int64(0)
	if from.Kind == layout.ListView {
		total = int64(data.Children[0].Len())
	} else {
		last, err := data.Buffers[1].Slice((count-1)*from.Width, count*from.Width)
		if err != nil {
			return err
		}
		bytes := make([]byte, from.Width)
		if err := last.Download(call.Context(), call.Stream, bytes); err != nil {
			return err
		}
		total = wordAt(bytes, from.Width, 0)
	}
	if total > most {
		return fmt.Errorf("the rows have %d bytes or elements, the offsets of %v reach to %d: %w", total, to.Storage, most, memory.ErrOverflow)
	}
	return nil
}

// recastIntegers returns integers of another width.
func recastIntegers(call *op.Call, values column.Bytes, from, to, count int) (*column.Column, error) {
	types := map[int]arrow.DataType{4: arrow.PrimitiveTypes.Int32, 8: arrow.PrimitiveTypes.Int64}
	c, err := column.New(column.Data{Type: types[from], Length: count, Buffers: []column.Bytes{{}, values}, Manager: call.Manager})
	if err != nil {
		return nil, err
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "offset", Type: types[from]}}, nil)
	table, err := buffer.New(schema, []*column.Column{c}, buffer.Rows{Count: int64(count)})
	if err = errors.Join(err, c.Release()); err != nil {
		return nil, errors.Join(err, table.Release())
	}
	options := kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: call.Tag}
	cast, err := expr.Evaluate(call.Context(), table, []expr.Expr{expr.Col("offset").Cast(types[to])}, options)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(cast))
	}
	return cast[0], nil
}

// unifyOffsets gives the pieces of a concatenation offsets of the same widths.
func (g *gatherer) unifyOffsets(pieces []part) error {
	t, mixed := pieces[0].data.Type, false
	for _, p := range pieces[1:] {
		if differs(t, p.data.Type) {
			t, _ = layout.Wider(t, p.data.Type)
			mixed = true
		}
	}
	if !mixed {
		return nil
	}
	for i := range pieces {
		wide, _ := layout.Wider(pieces[i].data.Type, t)
		if err := g.widenPart(&pieces[i], wide); err != nil {
			return err
		}
	}
	return nil
}

// widenPart gives a part the wider offsets of a type.
func (g *gatherer) widenPart(p *part, t arrow.DataType) error {
	if g.estimating() {
		p.data.Type = t
		_, err := g.scratch(uint64(p.offset+p.length+1) * 8)
		return err
	}
	c, err := column.New(p.data)
	if err != nil {
		return err
	}
	wide, err := recast(g.call, c, t)
	if err = errors.Join(err, c.Release()); err != nil {
		return errors.Join(err, wide.Release())
	}
	g.held = append(g.held, wide)
	p.data = wide.Data()
	return nil
}

// widenPieces gives pieces of one type 64-bit offsets, because the result has more bytes or elements
// than its 32-bit offsets reach to. The error wraps memory.ErrOverflow if Arrow has no such type.
func (g *gatherer) widenPieces(target *pending, l *layout.Layout, total int64, pieces []part) error {
	wide, ok := layout.Wide(target.data.Type)
	if !ok {
		return fmt.Errorf("the result has %d bytes or elements, the offsets of %v reach to %d, and it has no type with large offsets: %w",
			total, l.Storage, strategy.MaximumOffset(g.ctx, l.Width), memory.ErrOverflow)
	}
	for i := range pieces {
		large, _ := layout.Wide(pieces[i].data.Type)
		if err := g.widenPart(&pieces[i], large); err != nil {
			return err
		}
	}
	target.data.Type = wide
	var err error
	*l, err = layoutOf(wide)
	return err
}

// withChildTypes returns a type with the offsets that its finished children have. The error wraps
// memory.ErrOverflow if Arrow has no such type.
func withChildTypes(t arrow.DataType, children []*column.Column, dictionary *column.Column) (arrow.DataType, error) {
	inner := children
	if dictionary != nil {
		inner = []*column.Column{dictionary}
	}
	if len(inner) == 0 {
		return t, nil
	}
	widened, _ := layout.WithInner(t, func(i int, child arrow.DataType) (arrow.DataType, bool) {
		return layout.Wider(child, inner[i].Type())
	})
	l, err := layoutOf(widened)
	if err != nil {
		return nil, err
	}
	for i, c := range inner {
		child := l.Dictionary()
		if child == nil {
			child, _ = l.Child(i)
		}
		if differs(child, c.Type()) {
			return nil, fmt.Errorf("%v has too many bytes or elements for 32-bit offsets, and no type with large offsets: %w", t, memory.ErrOverflow)
		}
	}
	return widened, nil
}
