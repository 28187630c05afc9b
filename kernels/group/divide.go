package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// An aggregation that does not fit the budget is divided. The rows are read in chunks, of
// which each gives a partial result that is combined with those before, so only the states of the
// groups and the scratch memory of a chunk are held. If the states do not fit either, the groups are
// divided by a hash of their keys, and one half follows the other. The results of the parts are the
// only memory that grows from then on.

// MemoryError is an aggregation that does not fit the budget of its manager even if its rows and
// its groups are divided. It wraps the error of the allocation that failed, and so memory.ErrBudget.
type MemoryError struct {
	// Needed is the memory of the manager that would have been in use with that allocation, in
	// bytes: a budget below it does not suffice. Budget is the manager's.
	Needed, Budget uint64
	Err            error
}

// Error reports the memory, the budget and the remedy.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the groups need at least %s also one part after another, the budget is %s (release memory, raise the budget, or ask for fewer columns): %v",
		humanize.IBytes(e.Needed), humanize.IBytes(e.Budget), e.Err)
}

// Unwrap returns Err.
func (e *MemoryError) Unwrap() error { return e.Err }

// memoryError returns an error as a MemoryError if the budget is its cause.
func memoryError(err error) error {
	var full *memory.BudgetError
	if errors.As(err, &full) {
		return &MemoryError{Needed: full.InUse + full.SetAside + full.Asked, Budget: full.Budget, Err: err}
	}
	return err
}

// division is an aggregation in parts.
type division struct {
	query      Query
	aggregates []Aggregate
	options    ByOptions
	// hash is the hash of the keys. It is the zero expression if they have none.
	hash expr.Expr
	// rows is the number of rows of the table, chunk that of a chunk, and largest that of the first.
	rows, chunk, largest int64
	// bits is the number of divisions to begin with.
	bits    int
	results []*buffer.Buffer
}

// divided reports whether an aggregation is divided after an error, or without one if that was chosen.
func divided(ctx context.Context, options *ByOptions, err error) bool {
	if options.Estimate != nil || ctx.Err() != nil {
		return false
	}
	if err != nil {
		return errors.Is(err, memory.ErrBudget)
	}
	return tuningOf(ctx).DividedRows > 0
}

// aggregateDivided computes the aggregates in parts. The groups are in the order of the first rows
// within each part.
func (q Query) aggregateDivided(ctx context.Context, aggregates []Aggregate, options ByOptions) (joined *buffer.Buffer, err error) {
	d := &division{query: q, aggregates: aggregates, options: options}
	if d.rows, err = q.table.NumRows(ctx); err != nil {
		return nil, err
	}
	table, err := d.tableWithKeys()
	if err != nil {
		return nil, err
	}
	d.query.table = table
	d.divideRows(ctx)
	if options.Order == FirstAppearance {
		first := ArgMin(expr.Lit(int8(0))).As(firstName)
		d.aggregates = append(append([]Aggregate{}, aggregates...), first)
	}
	d.options.Order, d.options.MaxGroups, d.options.FixedPointSums = Unspecified, 0, false
	if d.bits > 0 {
		for ending := range uint64(1) << d.bits {
			if err = d.addGroups(ctx, d.bits, ending); err != nil {
				break
			}
		}
	} else {
		err = d.addGroups(ctx, 0, 0)
	}
	if err == nil {
		joined, err = d.join(ctx, options)
	}
	err = errors.Join(err, release.All(d.results))
	joined, err = release.OnError(joined, err, table.Release())
	return joined, memoryError(err)
}

const firstName = "\x00first"

// tableWithKeys returns the rows of the table with the separate columns of keys, to which
// the keys of the query refer from then on. The caller releases it.
func (d *division) tableWithKeys() (*buffer.Buffer, error) {
	table, err := d.query.table.Slice(0, d.rows)
	if err != nil {
		return nil, err
	}
	keys := append([]Key{}, d.query.keys...)
	for i, k := range keys {
		keys[i].Name = k.name(i)
		if k.Values == nil {
			continue
		}
		values, err := k.Values.SliceCapacity(0, int(d.rows))
		if err != nil {
			return nil, errors.Join(err, table.Release())
		}
		name := fmt.Sprint("\x00", keyName(i))
		wider, err := table.AppendColumn(arrow.Field{Name: name, Type: values.Type(), Nullable: true}, values)
		if table, err = release.OnError(wider, err, table.Release(), values.Release()); err != nil {
			return nil, err
		}
		keys[i].Values, keys[i].Column = nil, name
	}
	d.query.keys, d.query.table = keys, table
	d.hash = d.query.hashOfKeys()
	return table, nil
}

// hashOfKeys returns the hash of the keys, or the zero expression if a key has none: equal keys have
// equal hashes.
func (q Query) hashOfKeys() expr.Expr {
	var keys []expr.Expr
	for _, k := range q.keys {
		t, _, err := k.typeIn(q.table.Schema())
		if err != nil {
			return expr.Expr{}
		}
		l, err := layout.Of(t)
		if err != nil || l.Kind != layout.Bits && l.Kind != layout.Fixed && l.Kind != layout.Binary {
			return expr.Expr{}
		}
		keys = append(keys, k.expression())
	}
	hash := expr.Hash(keys...)
	if _, _, err := hash.Type(q.table.Schema()); err != nil {
		return expr.Expr{}
	}
	return hash
}

// divideRows chooses the rows of the first chunk by the estimate and by the memory that is left.
func (d *division) divideRows(ctx context.Context) {
	if t := tuningOf(ctx); t.DividedRows > 0 {
		d.chunk, d.bits = int64(t.DividedRows), t.DividedBits
	} else {
		d.chunk = (d.rows + 1) / 2
		estimate, err := kernels.EstimateOf(func(o kernels.Options) (*buffer.Buffer, error) {
			o.Manager = d.options.Manager
			return d.query.Aggregate(ctx, d.aggregates, ByOptions{Options: o, Nulls: d.options.Nulls})
		})
		room := d.options.Manager.Stats().Remaining
		for err == nil && d.chunk > d.fewest() && room < estimate.Peak()/looseBound {
			d.chunk, room = (d.chunk+1)/2, 2*room
		}
	}
	if d.hash.IsZero() {
		d.bits = 0
	}
	d.chunk = max(d.chunk, 1)
	d.largest = d.chunk
}

// fewest is the fewest rows of a chunk.
func (d *division) fewest() int64 { return max(fewestChunkRows, d.rows/mostChunks) }

// addGroups adds the results of the groups of which the hash ends with some bits. If they do not fit the
// budget, each half of them follows the other.
func (d *division) addGroups(ctx context.Context, bits int, ending uint64) error {
	groups, err := d.whole(ctx, bits, ending)
	if err == nil {
		d.results = append(d.results, groups)
		return nil
	}
	if !errors.Is(err, memory.ErrBudget) || ctx.Err() != nil || d.hash.IsZero() || bits >= mostHashBits {
		return err
	}
	d.chunk = d.largest
	for half := range uint64(2) {
		// Strings that are computed have no hash: the error of the budget is the useful one.
		if next := d.addGroups(ctx, bits+1, ending|half<<bits); errors.Is(next, device.ErrNotSupported) {
			return err
		} else if next != nil {
			return next
		}
	}
	return nil
}

// whole aggregates the groups of a part.
func (d *division) whole(ctx context.Context, bits int, ending uint64) (*buffer.Buffer, error) {
	query, schema := d.query, d.query.table.Schema()
	if bits > 0 {
		query = query.Where(d.hash.BitAnd(expr.Lit(uint64(1)<<bits - 1)).Eq(expr.Lit(ending)))
	}
	var states *buffer.Buffer
	for begin := int64(0); states == nil || begin < d.rows; {
		if err := cancel.Error(ctx); err != nil {
			return nil, errors.Join(err, states.Release())
		}
		n := min(d.chunk, d.rows-begin)
		next, err := d.add(ctx, query, states, begin, n)
		if errors.Is(err, memory.ErrBudget) && ctx.Err() == nil && n > d.fewest() {
			d.chunk = max((n+1)/2, d.fewest())
			continue
		}
		if err != nil {
			return nil, errors.Join(err, states.Release())
		}
		if err := states.Release(); err != nil {
			return nil, errors.Join(err, next.Release())
		}
		states, begin = next, begin+n
	}
	table, err := merge(ctx, schema, []*buffer.Buffer{states}, d.aggregates, d.options, (*aggregation).result)
	return release.OnError(table, err, states.Release())
}

// add returns the states of the groups with those of a chunk. states may be nil.
func (d *division) add(ctx context.Context, query Query, states *buffer.Buffer, begin, n int64) (*buffer.Buffer, error) {
	chunk, err := d.query.table.Slice(begin, n)
	if err != nil {
		return nil, err
	}
	query.table = chunk
	options := d.options
	options.Tag = op.ScratchTag
	options.FirstRow += begin
	partial, err := query.partial(ctx, d.aggregates, options)
	if partial, err = release.OnError(partial, err, chunk.Release()); err != nil || states == nil {
		return partial, err
	}
	options.FirstRow = 0
	both, err := merge(ctx, d.query.table.Schema(), []*buffer.Buffer{states, partial}, d.aggregates, options, (*aggregation).partial)
	return release.OnError(both, err, partial.Release())
}

// join returns the results of all parts in the order of the options.
func (d *division) join(ctx context.Context, options ByOptions) (*buffer.Buffer, error) {
	table, own := d.results[0], options.Options
	if len(d.results) == 1 {
		d.results = nil
	} else {
		all, err := selection.Concat(ctx, d.results, own)
		if err != nil {
			return nil, err
		}
		failure := release.All(d.results)
		table, d.results = all, nil
		if failure != nil {
			return nil, errors.Join(failure, table.Release())
		}
	}
	if options.MaxGroups > 0 {
		n, err := table.NumRows(ctx)
		if err == nil && n > options.MaxGroups {
			err = fmt.Errorf("there are %d groups, MaxGroups is %d: %w", n, options.MaxGroups, buffer.ErrRows)
		}
		if err != nil {
			return nil, errors.Join(err, table.Release())
		}
	}
	switch options.Order {
	case ByKey:
		call, err := op.Begin(ctx, own, table.Column(0))
		if err != nil {
			return nil, errors.Join(err, table.Release())
		}
		return sortedByKeys(&call, table, len(d.query.keys))
	case FirstAppearance:
		return byFirst(ctx, table, own)
	}
	return table, nil
}

// byFirst sorts a table by its last column, the first rows, and removes the column. It releases the
// table.
func byFirst(ctx context.Context, table *buffer.Buffer, options kernels.Options) (*buffer.Buffer, error) {
	last := table.NumColumns() - 1
	sorted, err := order.Sort(ctx, table, []order.Key{{Values: table.Column(last)}}, options)
	if sorted, err = release.OnError(sorted, err, table.Release()); err != nil {
		return nil, err
	}
	return withoutLast(sorted)
}

// withoutLast returns a table without its last column, and releases the table.
func withoutLast(table *buffer.Buffer) (*buffer.Buffer, error) {
	last := table.NumColumns() - 1
	fields, columns, rows := table.Schema().Fields()[:last], make([]*column.Column, last), table.Rows()
	for i := range columns {
		columns[i] = table.Column(i)
	}
	result, err := op.Table(arrow.NewSchema(fields, nil), columns, rows)
	return release.OnError(result, err, table.Release())
}
