package nested

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// ExplodeOptions configure [Explode]. The zero value keeps rows without elements.
type ExplodeOptions struct {
	kernels.Options
	// DropEmpty leaves out rows with a null or an empty list. Without it they become one
	// row with a null element, as in polars.
	DropEmpty bool
	// Position, if it is not empty, is the name of a further column: the position of the
	// element in its list, from 0, as int64. It is null if the list is null or empty.
	Position string
}

// Explode returns a row for each element of the lists in some columns. The columns get the
// elements; the other columns repeat the values of the row. The order is that of the rows,
// and of the elements in each list. If several columns are given, the lists of a row have
// the same number of elements, and element i of each is in the same row; nulls count as
// empty. The caller releases the result.
//
// If the lists of a single column have no nulls and no empty ones among them, or with
// DropEmpty, the elements are not copied: the result shares the memory of the input.
//
// # Waiting
//
// Explode waits for the number of elements, so it cannot be estimated or captured.
//
// # Errors
//
// A column that is no list is an error that wraps expr.ErrType, lists of different lengths
// in a row one that wraps device.ErrInvalidValue.
func Explode(ctx context.Context, table *buffer.Buffer, columns []string, options ...ExplodeOptions) (*buffer.Buffer, error) {
	chosen, err := op.Only(options)
	if err == nil {
		err = table.Check()
	}
	var exploded *buffer.Buffer
	if err == nil {
		exploded, err = explode(ctx, table, columns, chosen)
	}
	if err != nil {
		return nil, fmt.Errorf("nested: explode %q: %w", columns, err)
	}
	return exploded, nil
}

// ExplodeSchema returns the schema of the result of [Explode], or the error that it would
// return for a table of a schema.
func ExplodeSchema(schema *arrow.Schema, columns []string, options ExplodeOptions) (*arrow.Schema, error) {
	if len(columns) == 0 {
		return nil, fmt.Errorf("no column is given, expected one or more: %w", device.ErrInvalidValue)
	}
	fields := slices.Clone(schema.Fields())
	for i, name := range columns {
		at := schema.FieldIndices(name)
		switch {
		case len(at) != 1:
			return nil, fmt.Errorf("%d columns are called %q, expected one: %w", len(at), name, buffer.ErrSchema)
		case slices.Contains(columns[:i], name):
			return nil, fmt.Errorf("column %q is given twice: %w", name, device.ErrInvalidValue)
		}
		element, err := elementsOf(fields[at[0]].Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		// The type of a list may declare elements as not nullable that are null: nothing checks it.
		fields[at[0]] = arrow.Field{Name: name, Type: element.Type, Nullable: true}
	}
	if options.Position != "" {
		fields = append(fields, arrow.Field{Name: options.Position, Type: arrow.PrimitiveTypes.Int64, Nullable: !options.DropEmpty})
	}
	metadata := schema.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness()), nil
}

// exploding is one call of Explode.
type exploding struct {
	call    op.Call
	table   *buffer.Buffer
	options ExplodeOptions
	form    form
	// lists and spans are those of each column that is exploded.
	lists []lists
	spans []*spans
}

func explode(ctx context.Context, table *buffer.Buffer, names []string, options ExplodeOptions) (*buffer.Buffer, error) {
	schema, err := ExplodeSchema(table.Schema(), names, options)
	if err != nil {
		return nil, err
	}
	all := make([]*column.Column, table.NumColumns())
	for i := range all {
		all[i] = table.Column(i)
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	e := exploding{table: table, options: options, form: everyOrNone}
	if options.DropEmpty {
		e.form = every
	}
	if e.call, err = op.Begin(ctx, options.Options, all...); err != nil {
		return nil, err
	}
	if err := e.call.OrderBehind(table.DeviceRows().Block()); err != nil {
		return nil, err
	}
	exploded, err := e.make(schema, names)
	return release.OnError(exploded, err, release.All(e.spans))
}

func (e *exploding) make(schema *arrow.Schema, names []string) (*buffer.Buffer, error) {
	var exploded []int
	for _, name := range names {
		at := e.table.Schema().FieldIndices(name)[0]
		l, err := listsOf(&e.call, e.table.Column(at))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		s, err := newSpans(&e.call, &l, e.form, 0, 0)
		if err != nil {
			return nil, err
		}
		exploded, e.lists, e.spans = append(exploded, at), append(e.lists, l), append(e.spans, s)
	}
	if err := e.spans[0].sum(&e.call); err != nil {
		return nil, err
	}
	for i, s := range e.spans[1:] {
		if err := e.same(s); err != nil {
			return nil, fmt.Errorf("columns %q and %q: %w", names[0], names[i+1], err)
		}
	}
	columns := make([]*column.Column, e.table.NumColumns())
	err := e.elements(columns, exploded)
	if err == nil {
		err = e.others(columns, exploded)
	}
	if err == nil && e.options.Position != "" {
		var positions *column.Column
		if positions, err = e.spans[0].positions(&e.call, e.form == everyOrNone); err == nil {
			columns = append(columns, positions)
		}
	}
	var longer *buffer.Buffer
	if err == nil {
		longer, err = op.Table(schema, columns, buffer.Rows{Count: int64(e.spans[0].total), Manager: e.call.Manager})
	}
	return release.OnError(longer, err, release.All(columns))
}

// same refuses lists that are not as long as those of the first column, and gives the spans
// the ends of those.
func (e *exploding) same(s *spans) error {
	first := e.spans[0]
	s.total = first.total
	if s.rows == 0 {
		return nil
	}
	if err := first.ends.Retain(); err != nil {
		return err
	}
	s.ends = first.ends
	int64s := arrow.PrimitiveTypes.Int64
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: int64s}, {Name: "b", Type: int64s}}, nil)
	a, aErr := column.New(column.Data{Type: int64s, Length: s.rows, Buffers: []column.Bytes{{}, first.counts.AsBytes()}})
	b, bErr := column.New(column.Data{Type: int64s, Length: s.rows, Buffers: []column.Bytes{{}, s.counts.AsBytes()}})
	err := errors.Join(aErr, bErr)
	var counts *buffer.Buffer
	if err == nil {
		counts, err = buffer.New(schema, []*column.Column{a, b}, buffer.Rows{Count: int64(s.rows)})
	}
	if err = errors.Join(err, a.Release(), b.Release()); err != nil {
		return errors.Join(err, counts.Release())
	}
	differ := expr.Col("a").Ne(expr.Col("b"))
	differing, err := reduce.Integers(e.call.Context(), counts, []reduce.Aggregate{reduce.CountAll().Where(differ)}, scratch(&e.call))
	if err = errors.Join(err, counts.Release()); err != nil {
		return err
	}
	if n := differing[0].Value; n != 0 {
		return fmt.Errorf("the lists of %d rows have different numbers of elements: explode the columns one after the other: %w", n, device.ErrInvalidValue)
	}
	return nil
}

// elements makes the columns of elements.
func (e *exploding) elements(columns []*column.Column, exploded []int) (err error) {
	for i, at := range exploded {
		if columns[at], err = e.spans[i].gather(&e.call, &e.lists[i], e.form); err != nil {
			return err
		}
	}
	return nil
}

// others repeats the values of the other columns.
func (e *exploding) others(columns []*column.Column, exploded []int) error {
	var parents *column.Column
	for i := range e.table.NumColumns() {
		if slices.Contains(exploded, i) {
			continue
		}
		var err error
		if columns[i], err = e.spans[0].repeated(&e.call, e.table.Column(i), &parents); err != nil {
			return errors.Join(fmt.Errorf("column %q: %w", e.table.Schema().Field(i).Name, err), parents.Release())
		}
	}
	return parents.Release()
}

// repeated repeats the values of a column for the elements. Values that are words without nulls are
// written in one pass, others gathered by the rows of the elements, which are found once.
func (s *spans) repeated(call *op.Call, c *column.Column, parents **column.Column) (repeated *column.Column, err error) {
	if repeated, err = s.repeat(call, c); repeated != nil || err != nil {
		return repeated, err
	}
	if *parents == nil {
		if *parents, err = s.parents(call); err != nil {
			return nil, err
		}
	}
	return selection.TakeColumnWith(call.Context(), c, *parents, selection.TakeOptions{Options: resultOptions(call), Bounds: selection.Trust})
}
