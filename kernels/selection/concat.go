package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Concat returns one table with the rows of all tables, in order. The columns of all
// tables have the same types, in the same order. Names and metadata are those of the
// first table. If there is only one table, it is the result. The caller releases the
// result.
//
// Strings and lists of more bytes or elements than 32-bit offsets reach to, 2³¹−1, get the
// type with 64-bit offsets: utf8 becomes large_utf8. Types that differ in the width of their
// offsets only are concatenated to the wider one.
//
// If the dictionaries of a column share memory, the result shares it too. Otherwise
// they are concatenated, so a value may occur several times. If the indices are too
// narrow for the concatenation, the host keeps each value once. Dense unions and
// run-end encoded columns are concatenated by the host.
//
// # Errors
//
// The error wraps memory.ErrOverflow if the offsets of a map or an extension type, or dictionary
// indices after the host has removed duplicates, are too narrow.
//
// # Waiting
//
// Concat waits for each row count that only the device knows, and once per level of
// nesting for the ends of strings and lists.
func Concat(ctx context.Context, tables []*buffer.Buffer, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("concatenate", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return concatTables(ctx, tables, only)
	})
}

// ConcatColumns is [Concat] for columns.
func ConcatColumns(ctx context.Context, columns []*column.Column, options ...kernels.Options) (*column.Column, error) {
	return operation("concatenate", options, func(only kernels.Options) (*column.Column, error) {
		return concatColumns(ctx, columns, only)
	})
}

func concatTables(ctx context.Context, tables []*buffer.Buffer, options kernels.Options) (*buffer.Buffer, error) {
	if len(tables) == 0 {
		return nil, fmt.Errorf("there are no tables: %w", device.ErrInvalidValue)
	}
	width, total := tables[0].NumColumns(), int64(0)
	pieces := make([][]part, width)
	var columns []*column.Column
	for i, table := range tables {
		if err := table.Check(); err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		if table.NumColumns() != width {
			return nil, fmt.Errorf("table %d has %d columns, the first one %d: %w", i, table.NumColumns(), width, buffer.ErrSchema)
		}
		rows, err := rowsOf(ctx, table, options)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		total += rows
		for c := range width {
			p := whole(table.Column(c))
			p.length = int(rows)
			pieces[c] = append(pieces[c], p)
			columns = append(columns, table.Column(c))
		}
	}
	if len(tables) == 1 {
		return tables[0], tables[0].Retain()
	}
	if width == 0 {
		return buffer.New(tables[0].Schema(), nil, buffer.Rows{Count: total, Manager: tables[0].Manager()})
	}
	call, err := op.Begin(ctx, options, columns...)
	if err != nil {
		return nil, err
	}
	concatenated, err := concatAll(ctx, &call, pieces)
	if err != nil {
		return nil, err
	}
	return tableWith(concatSchema(tables, concatenated), concatenated, buffer.Rows{Count: total, Manager: call.Manager})
}

// rowsOf returns the number of rows of a table. An estimate does not wait for it: it
// takes the capacity if only the device knows the number.
func rowsOf(ctx context.Context, table *buffer.Buffer, options kernels.Options) (int64, error) {
	if _, known := table.HostRows(); known || options.Estimate == nil {
		return table.NumRows(ctx)
	}
	return table.Capacity(), nil
}

// concatSchema returns the schema of the first table with the types of the results. A
// field is nullable if it is nullable in any of the tables.
func concatSchema(tables []*buffer.Buffer, columns []*column.Column) *arrow.Schema {
	first := schemaOf(tables[0].Schema(), columns, false)
	fields := slices.Clone(first.Fields())
	changed := false
	for _, table := range tables[1:] {
		for i, field := range table.Schema().Fields() {
			if field.Nullable && !fields[i].Nullable {
				fields[i].Nullable, changed = true, true
			}
		}
	}
	if !changed {
		return first
	}
	metadata := first.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, first.Endianness())
}

func concatColumns(ctx context.Context, columns []*column.Column, options kernels.Options) (*column.Column, error) {
	if len(columns) == 0 {
		return nil, fmt.Errorf("there are no columns: %w", device.ErrInvalidValue)
	}
	call, err := op.Begin(ctx, options, columns...)
	if err != nil {
		return nil, err
	}
	pieces := make([]part, len(columns))
	for i, c := range columns {
		rows := c.Len()
		if !call.Estimating() {
			if rows, err = c.NumRows(ctx); err != nil {
				return nil, fmt.Errorf("column %d: %w", i, err)
			}
		}
		pieces[i] = whole(c)
		pieces[i].length = rows
	}
	concatenated, err := concatAll(ctx, &call, [][]part{pieces})
	if err != nil {
		return nil, err
	}
	return concatenated[0], nil
}

// concatAll returns one column per list of pieces.
func concatAll(ctx context.Context, call *op.Call, pieces [][]part) (columns []*column.Column, err error) {
	g := newGatherer(ctx, call)
	defer func() { columns, err = g.end(columns, err) }()
	begun := make([]*pending, len(pieces))
	for i, each := range pieces {
		if err := errors.Join(g.unifyOffsets(each), unifyTypes(each)); err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		if g.estimating() {
			err = g.estimateConcat(each)
		} else {
			begun[i], err = g.concat(each)
		}
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	if g.estimating() {
		return nil, g.sizes.estimate(call)
	}
	if err := g.runDeferred(); err != nil {
		return nil, err
	}
	for i, p := range begun {
		c, err := g.column(p)
		if err != nil {
			return columns, fmt.Errorf("column %d: %w", i, err)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// concat begins to concatenate pieces of one type. It skips pieces without elements.
func (g *gatherer) concat(pieces []part) (*pending, error) {
	if err := unifyTypes(pieces); err != nil {
		return nil, err
	}
	t := pieces[0].data.Type
	l, err := layoutOf(t)
	if err != nil {
		return nil, err
	}
	kept, total := pieces[:0:0], 0
	for _, p := range pieces {
		if p.length > 0 {
			kept = append(kept, p)
		}
		if total += p.length; total < 0 {
			return nil, fmt.Errorf("more elements than fit an int: %w", memory.ErrOverflow)
		}
	}
	if g.call.OnHost() || l.Kind == layout.DenseUnion || l.Kind == layout.RunEnds || len(kept) == 0 {
		return g.throughHost(pieces)
	}
	target := &pending{data: column.Data{Type: t, Length: total, NullCount: column.UnknownNullCount}}
	if err := g.concatValidity(target, kept, l); err != nil {
		return nil, err
	}
	switch l.Kind {
	case layout.Null:
		target.data.NullCount = total
	case layout.Fixed:
		err = g.concatFixed(target, kept, 1, l.Width)
	case layout.View:
		err = g.concatViews(target, kept)
	case layout.Dictionary:
		err = g.concatDictionaries(target, kept, l)
	case layout.Bits:
		err = g.concatBits(target, kept, func(p part) bits { return p.bits(1) })
	case layout.Binary, layout.List:
		err = g.concatRanges(target, kept, l)
	case layout.ListView:
		err = g.concatListViews(target, kept, l)
	case layout.FixedSizeList:
		size := l.ListSize()
		err = g.concatChildren(target, kept, func(p part, i int) part { return p.child(i, p.offset*size, p.length*size) })
	case layout.Struct:
		err = g.concatChildren(target, kept, func(p part, i int) part { return p.child(i, p.offset, p.length) })
	case layout.SparseUnion:
		if err = g.concatFixed(target, kept, 0, 1); err == nil {
			err = g.concatChildren(target, kept, func(p part, i int) part { return p.child(i, p.offset, p.length) })
		}
	}
	return target, err
}

// throughHost concatenates pieces on the host.
func (g *gatherer) throughHost(pieces []part) (*pending, error) {
	columns := make([]*column.Column, 0, len(pieces))
	defer func() { _ = release.All(columns) }() // nothing else refers to them
	for _, p := range pieces {
		data := p.data
		data.Offset, data.Length, data.NullCount, data.Rows = p.offset, p.length, p.nullCount(), nil
		c, err := column.New(data)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	arrays, err := column.ToArrays(g.ctx, columns, column.DownloadOptions{Stream: g.call.Stream})
	if err != nil {
		return nil, err
	}
	defer func() { release.Arrow(arrays) }()
	uploaded, err := column.FromArrays(g.ctx, g.call.Manager, [][]arrow.Array{arrays}, column.UploadOptions{Stream: g.call.Stream, Tag: g.call.Tag})
	if err != nil {
		return nil, err
	}
	g.held = append(g.held, uploaded[0])
	return &pending{shared: uploaded[0]}, nil
}

// nullCount returns the null count of a part, if it is known.
func (p part) nullCount() int {
	switch {
	case p.data.NullCount == 0:
		return 0
	case p.offset == p.data.Offset && p.length == p.data.Length:
		return p.data.NullCount
	case p.data.NullCount == p.data.Length:
		return p.length
	}
	return column.UnknownNullCount
}
