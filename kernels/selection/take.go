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
	"github.com/gpuframe/gpuframe/internal/driver/hostword"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Bounds selects the treatment of indices that are negative or beyond the last row.
type Bounds int

const (
	// Check returns an [*IndexError]. Take waits for the result of the check. The
	// kernels read no memory beyond the rows.
	Check Bounds = iota
	// Null makes their rows null, without a wait.
	Null
	// Trust is a promise that all indices are in bounds. For an index out of bounds a
	// GPU reads the memory at that position, or fails permanently; the host returns an
	// arbitrary value.
	Trust
)

// TakeOptions configure a take. The zero value checks every index.
type TakeOptions struct {
	kernels.Options
	Bounds Bounds
	// Distinct is a promise that no row is taken twice. The strings and lists of the
	// result then have at most the bytes and elements of the input: Take allocates as
	// much and does not wait for their length. If a row is taken twice nevertheless and
	// the result does not fit, a GPU cuts strings and lists at its end short, and the
	// host returns an error that wraps column.ErrInvalid.
	Distinct bool
}

// Take returns a table of rows of another table: row i of the result is row number
// indices[i], counted from 0. Indices are integers of any width. A row may be taken
// several times. Rows with a null index are null. The table's row count may be on the
// device. Strings and lists that become longer than 32-bit offsets reach to get the type with
// 64-bit offsets, as in [Concat]. The caller releases the result.
//
// # Errors
//
// An index that is out of bounds is an [*IndexError]. The error wraps memory.ErrOverflow if a
// map or an extension type would need larger offsets.
//
// # Waiting
//
// To check the bounds, Take waits until the work on the GPU is done, or the context
// ends. [TakeWith] has options without that wait. Strings and lists add one device
// synchronization per nesting level, because only the device knows their length. With
// Distinct they add none, except in a slice of at most half of the rows in memory, as
// for [Filter]. Run-end encoded strings and lists always wait.
func Take(ctx context.Context, table *buffer.Buffer, indices *column.Column, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("take", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return takeTable(ctx, table, indices, TakeOptions{Options: only})
	})
}

// TakeWith is [Take] with a choice of the treatment of indices out of bounds.
func TakeWith(ctx context.Context, table *buffer.Buffer, indices *column.Column, options TakeOptions) (*buffer.Buffer, error) {
	return operation("take", []TakeOptions{options}, func(TakeOptions) (*buffer.Buffer, error) {
		return takeTable(ctx, table, indices, options)
	})
}

// TakeColumn is [Take] for one column.
func TakeColumn(ctx context.Context, values, indices *column.Column, options ...kernels.Options) (*column.Column, error) {
	return operation("take", options, func(only kernels.Options) (*column.Column, error) {
		return takeColumn(ctx, values, indices, TakeOptions{Options: only})
	})
}

// TakeColumnWith is [TakeWith] for one column.
func TakeColumnWith(ctx context.Context, values, indices *column.Column, options TakeOptions) (*column.Column, error) {
	return operation("take", []TakeOptions{options}, func(TakeOptions) (*column.Column, error) {
		return takeColumn(ctx, values, indices, options)
	})
}

func takeColumn(ctx context.Context, values, indices *column.Column, options TakeOptions) (*column.Column, error) {
	taken, err := takeAll(ctx, []*column.Column{values}, indices, options)
	if err != nil {
		return nil, err
	}
	return taken[0], nil
}

// TakeColumns is [TakeWith] for columns of one length and number of rows. It has fewer launches
// and waits than a call for each: strings and lists of all columns add one for each level of nesting.
func TakeColumns(ctx context.Context, columns []*column.Column, indices *column.Column, options TakeOptions) ([]*column.Column, error) {
	return operation("take", []TakeOptions{options}, func(TakeOptions) ([]*column.Column, error) {
		return takeAll(ctx, columns, indices, options)
	})
}

// takeAll takes rows of columns of one length and number of rows.
func takeAll(ctx context.Context, columns []*column.Column, indices *column.Column, options TakeOptions) (taken []*column.Column, err error) {
	if len(columns) == 0 {
		return nil, nil
	}
	for _, c := range columns[1:] {
		if c.Len() != columns[0].Len() {
			return nil, fmt.Errorf("%v and %v have different lengths: %w", columns[0], c, column.ErrInvalid)
		}
	}
	call, err := op.Begin(ctx, options.Options, append(columns[:len(columns):len(columns)], indices)...)
	if err != nil {
		return nil, err
	}
	if indices, err = withDeviceRows(ctx, &call, indices); err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, indices.Release()); err != nil {
			taken, err = nil, errors.Join(err, release.All(taken))
		}
	}()
	counts, err := sameRows(ctx, columns...)
	if err != nil {
		return nil, err
	}
	rows, counted, err := counts.Extent(ctx)
	if err != nil {
		return nil, err
	}
	taken, err = takeColumns(ctx, &call, columns, int64(rows), counted, indices, options)
	for i := 0; i < len(taken) && err == nil; i++ {
		taken[i], err = rowsLike(taken[i], indices)
	}
	return taken, err
}

func takeTable(ctx context.Context, table *buffer.Buffer, indices *column.Column, options TakeOptions) (taken *buffer.Buffer, err error) {
	call, columns, err := begin(ctx, options.Options, table, indices)
	if err != nil {
		return nil, err
	}
	if indices, err = withDeviceRows(ctx, &call, indices); err != nil {
		return nil, err
	}
	defer func() { taken, err = release.OnError(taken, err, indices.Release()) }()
	count, counted, err := table.Extent(ctx)
	if err != nil {
		return nil, err
	}
	results, err := takeColumns(ctx, &call, columns, count, counted, indices, options)
	if err != nil {
		return nil, err
	}
	nullable := options.Bounds == Null || indices.NullCount() != 0
	return tableWith(schemaOf(table.Schema(), results, nullable), results, buffer.Rows{
		Count: int64(indices.Len()), Shared: indices.RowCount(), Manager: call.Manager,
	})
}

// takeColumns takes rows of columns with count rows, or, if counted has memory, with
// the number of rows in counted, which is at most count.
func takeColumns(ctx context.Context, call *op.Call, columns []*column.Column, count int64, counted memory.Slice[int64],
	indices *column.Column, options TakeOptions,
) ([]*column.Column, error) {
	g := newGatherer(ctx, call)
	results, err := g.takeListed(columns, count, counted, indices, options)
	if err == nil && g.estimating() {
		err = g.sizes.estimate(call)
	}
	if errors.Is(err, ErrBounds) {
		err = g.explain(indices, count)
	}
	return g.end(results, err)
}

func (g *gatherer) takeListed(columns []*column.Column, count int64, counted memory.Slice[int64], indices *column.Column, options TakeOptions) ([]*column.Column, error) {
	s, err := g.list(indices)
	if err != nil {
		return nil, err
	}
	bounds := options.Bounds
	s.once = options.Distinct
	if bounds != Trust || g.call.OnHost() || count == 0 {
		s.bound(uint64(count), counted, indices.Type())
	}
	s.nulls = s.nulls || bounds == Null
	if bounds == Check && s.capacity > 0 && !g.estimating() {
		if err := g.checkBounds(s, columns); err != nil {
			return nil, err
		}
	}
	return g.columns(columns, s)
}

// checkBounds makes the kernels record the first index out of bounds in host memory. A
// word in device memory would need to be set before and fetched afterwards, which took
// as long as the rest of a small take (25 instead of 13 µs, H200).
func (g *gatherer) checkBounds(s *source, columns []*column.Column) error {
	// During a capture the wait for the result would fail, after kernels were added to
	// the graph.
	if err := streamwork.RefuseCapture(g.call.Stream); err != nil {
		return err
	}
	word, err := hostword.Take(g.call.Stream.Device(), noRow)
	if err != nil {
		return err
	}
	g.bad, s.bad = &word, &word
	for _, c := range columns {
		if l, err := layoutOf(c.Type()); err != nil || l.Kind == layout.Fixed && l.Width > 0 || l.Kind == layout.Bits {
			return err // the column's kernel reads every index
		}
	}
	// Columns of other types may have no kernel that reads every index.
	return g.takeBits(column.Bytes{}, column.Bytes{}, bits{}, bits{}, s)
}

// unsoundRow marks rows with unsound offsets: see take_ranges.cuh.
const unsoundRow = 1 << 63

// explain returns the error that the kernels have recorded: an index out of bounds or,
// if all indices are in bounds, unsound offsets of strings or lists.
func (g *gatherer) explain(indices *column.Column, count int64) error {
	problem := &IndexError{Row: int64(g.firstBad &^ unsoundRow), Index: "?", Rows: count}
	bad, err := indices.Slice(int(problem.Row), 1)
	if err != nil {
		return errors.Join(problem, err)
	}
	defer bad.Release()
	array, err := bad.Array(g.ctx)
	if err != nil {
		return errors.Join(problem, err)
	}
	defer array.Release()
	problem.Index = array.ValueStr(0)
	if g.firstBad&unsoundRow != 0 {
		return fmt.Errorf("row %s of the input has offsets that are not in order or point outside the data: %w", problem.Index, column.ErrInvalid)
	}
	return problem
}

// begin is op.Begin for a table and further columns.
func begin(ctx context.Context, options kernels.Options, table *buffer.Buffer, further ...*column.Column) (op.Call, []*column.Column, error) {
	if err := table.Check(); err != nil {
		return op.Call{}, nil, err
	}
	columns := make([]*column.Column, table.NumColumns(), table.NumColumns()+len(further))
	for i := range columns {
		columns[i] = table.Column(i)
	}
	// A table without columns has no column from which to infer the manager.
	if options.Manager == nil && len(columns)+len(further) == 0 {
		options.Manager = table.Manager()
	}
	call, err := op.Begin(ctx, options, append(columns, further...)...)
	return call, columns, err
}

// tableOf returns a table with the schema of another one and new columns, which it
// takes ownership of.
func tableOf(like *buffer.Buffer, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	return tableWith(like.Schema(), columns, rows)
}

// tableWith returns a table of columns, which it takes ownership of.
func tableWith(schema *arrow.Schema, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	table, err := buffer.New(schema, columns, rows)
	// The table holds references to the columns.
	if err = errors.Join(err, release.All(columns)); err != nil {
		return nil, errors.Join(err, table.Release())
	}
	return table, nil
}
