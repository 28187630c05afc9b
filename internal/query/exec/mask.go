package exec

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// A filter copies the rows that it keeps. If a join reads them and finds matches for few, most
// copies are not read. A key that is null matches nothing in inner and semi joins, so the filter
// below one passes on all rows of a large table without a copy, with a key that is null in the
// rows that it does not keep.
const (
	// maskFrom is the number of rows of a table from which a filter masks.
	maskFrom = 1 << 20
	// maskShare is how many times as many rows the table has as the other side of the join. A
	// smaller table could be the side that the join builds its index of.
	maskShare = 16
	// maskKept is the part of the rows, as a divisor, that a filter keeps at least when it masks.
	// Fewer rows are copied in less time than the join takes to skip the others.
	maskKept = 8
	// maskMemory is the part of the budget, as a divisor, that the columns may take. If memory is
	// short the join divides its rows, and those that were not kept with them.
	maskMemory = 4
)

// mask describes the join that reads a filter.
type mask struct {
	// key is the column to mask, other the number of rows of the other side.
	key   string
	other int64
	// filter filters a table so. Only joins set it, so the linker leaves it out of programs without them.
	filter func(f *filtering, ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error)
}

// maskFilter informs the filter that is the left side of the join, if it may mask.
func (j *joining) maskFilter() {
	options := j.plan.Options()
	if options.Kind != join.Inner && options.Kind != join.Semi || options.NullsEqual {
		return
	}
	f, _ := unwrapped(j.inputs[0]).(*filtering)
	if f == nil {
		return
	}
	for _, k := range options.Keys {
		name, ok := k.Left.Column()
		if !ok {
			continue
		}
		if field, ok := f.Schema().FieldsByName(name); ok && arrow.IsInteger(field[0].Type.ID()) {
			f.mask = &mask{key: name, other: j.right.Capacity(), filter: (*filtering).masked}
			return
		}
	}
}

// unwrapped returns the reader of a node. That of a profiled node stays wrapped: its rows are
// counted.
func unwrapped(r buffer.Reader) buffer.Reader {
	for {
		switch outer := r.(type) {
		case *fitting:
			r = outer.Reader
		case *interruptible:
			r = outer.Reader
		case *working:
			r = outer.Reader
		default:
			return r
		}
	}
}

// masks reports whether the rows of a table may be masked.
func (f *filtering) masks(ctx context.Context, table *buffer.Buffer) bool {
	rows, known := table.HostRows()
	if f.mask == nil || !known {
		return false
	}
	return strategy.OfFilter(ctx).Masks ||
		rows >= maskFrom && rows/maskShare >= f.mask.other && f.room(table) <= f.settings.Manager.Budget()/maskMemory
}

// masked evaluates the condition and masks the key, or copies the rows if they are few. It waits
// for their number.
func (f *filtering) masked(ctx context.Context, table *buffer.Buffer) (filtered *buffer.Buffer, err error) {
	var owned release.Stack
	defer func() { filtered, err = release.OnError(filtered, err, owned.Release()) }()
	condition := f.plan.Condition().And(expr.Col(f.mask.key).IsValid())
	evaluated, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Coalesce(condition, expr.Lit(false))}, f.options())
	if err != nil {
		return nil, err
	}
	bits := evaluated[0]
	owned.Add(bits)
	kept, err := f.count(ctx, bits)
	if err != nil {
		return nil, err
	}
	narrowed, err := columns(table, f.Schema())
	if err != nil {
		return nil, err
	}
	owned.Add(narrowed)
	rows, _ := table.HostRows()
	copies := kept <= rows/maskKept
	if choices := strategy.OfFilter(ctx); choices.Masks {
		copies = choices.Copies
	}
	if copies {
		return selection.FilterMask(ctx, narrowed, bits, f.options())
	}
	return f.withMask(narrowed, bits)
}

// count returns the number of rows that a mask keeps.
func (f *filtering) count(ctx context.Context, bits *column.Column) (int64, error) {
	const name = "kept"
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.FixedWidthTypes.Boolean}}, nil)
	table, err := buffer.New(schema, []*column.Column{bits}, buffer.Rows{Count: int64(bits.Len())})
	if err != nil {
		return 0, err
	}
	counts, err := reduce.Integers(ctx, table, []reduce.Aggregate{reduce.CountAll().Where(expr.Col(name))}, f.options())
	if err = errors.Join(err, table.Release()); err != nil {
		return 0, err
	}
	return int64(counts[0].Value), nil
}

// withMask returns a table that shares the columns of another one, with the mask as the validity
// of the key.
func (f *filtering) withMask(table *buffer.Buffer, bits *column.Column) (*buffer.Buffer, error) {
	list := make([]*column.Column, table.NumColumns())
	var masked *column.Column
	for i := range list {
		list[i] = table.Column(i)
		if table.Schema().Field(i).Name != f.mask.key {
			continue
		}
		values, err := list[i].ValuesRegion()
		if err != nil {
			return nil, err
		}
		masked, err = column.New(column.Data{
			Type: list[i].Type(), Length: list[i].Len(), NullCount: column.UnknownNullCount,
			Buffers: []column.Bytes{bits.Buffer(1), values}, Manager: f.settings.Manager,
		})
		if err != nil {
			return nil, err
		}
		list[i] = masked
	}
	rows, _ := table.HostRows()
	view, err := buffer.New(table.Schema(), list, buffer.Rows{Count: rows, Manager: f.settings.Manager})
	return release.OnError(view, err, masked.Release())
}
