package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// SearchOptions configure [Search].
type SearchOptions struct {
	kernels.Options
	// Upper finds the place after equal rows, instead of the place before them.
	Upper bool
	// Unchecked does not check that the table is sorted. If it is not, the result is
	// some place in the table.
	Unchecked bool
}

// Search returns, for each row of values, the number of rows of the sorted table that come
// before it in the order of the keys or, with Upper, that do not come after it: the place
// at which it would be inserted. The result is uint32, with the row count of values. Both
// tables have columns for the keys, of equal types. Keys have no Values. The caller
// releases the result.
//
// # Waiting
//
// Search waits for row counts that only the device knows, for the ranges of integers if
// several keys have more than 64 bits and, unless Unchecked is set, for the check that the
// table is sorted.
//
// # Errors
//
// The errors are those of [Sort]. A table that is not sorted is an [*UnsortedError]. Keys
// of different types wrap device.ErrInvalidValue.
func Search(ctx context.Context, sorted, values *buffer.Buffer, keys []Key, options ...SearchOptions) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: search: %w", err)
	}
	places, err := search(ctx, sorted, values, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: search: %w", err)
	}
	return places, nil
}

func search(ctx context.Context, sorted, values *buffer.Buffer, keys []Key, options SearchOptions) (*column.Column, error) {
	for i, key := range keys {
		if key.Values != nil {
			return nil, &KeyError{i, key, fmt.Errorf("the field Values has no rows for two tables, expected Column or Expr: %w", device.ErrInvalidValue)}
		}
	}
	if options.Manager == nil && values != nil {
		options.Manager = values.Manager()
	}
	if !options.Unchecked && options.Estimate == nil {
		if err := checkSorted(ctx, sorted, 0, keys, options.Options); err != nil {
			return nil, err
		}
	}
	var tables []*buffer.Buffer
	places, err := func() (*column.Column, error) {
		var own []Key
		for _, t := range []*buffer.Buffer{sorted, values} {
			table, named, err := keyTable(ctx, t, keys, options.Options)
			if err != nil {
				return nil, err
			}
			tables, own = append(tables, table), named
		}
		return searchKeys(ctx, tables[0], tables[1], keys, own, options)
	}()
	return release.OnError(places, err, release.All(tables))
}

// searchKeys searches in tables of keys: named are the keys by which they are ordered,
// keys those that the caller named.
func searchKeys(ctx context.Context, sorted, values *buffer.Buffer, keys, named []Key, options SearchOptions) (*column.Column, error) {
	alike := true
	for i, key := range keys {
		a, b := sorted.Column(i).Type(), values.Column(i).Type()
		if !layout.EqualButOffsets(a, b) {
			return nil, &KeyError{i, key, fmt.Errorf("the sorted table has %v, the values %v, expected equal types: cast one of them: %w", a, b, device.ErrInvalidValue)}
		}
		alike = alike && rowkey.Alike(a)
	}
	if options.Estimate != nil {
		_, known := sorted.HostRows()
		_, both := values.HostRows()
		if !known || !both || !alike {
			return nil, errNoEstimate
		}
	}
	n, err := sorted.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	if alike {
		return searchTables(ctx, sorted, values, named, options)
	}
	// The ranks of dictionaries and of elements have to be those among the values of both
	// tables.
	scratch := options.Options
	scratch.Tag = scratchTag
	both, err := selection.Concat(ctx, []*buffer.Buffer{sorted, values}, scratch)
	if err != nil {
		return nil, err
	}
	o, err := beginWhole(ctx, both, named, options.Options)
	if err != nil {
		return nil, errors.Join(err, both.Release())
	}
	all := o.all()
	places, err := o.search(all.part(0, int(n)), all.part(int(n), o.rows), options.Upper)
	return release.OnError(places, err, o.release(), both.Release())
}

// searchTables searches in tables. Each is encoded apart.
func searchTables(ctx context.Context, sorted, values *buffer.Buffer, keys []Key, options SearchOptions) (places *column.Column, err error) {
	o, err := beginExact(ctx, sorted, keys, options.Options)
	if err != nil {
		return nil, err
	}
	defer func() { places, err = release.OnError(places, err, o.release()) }()
	options.Stream = o.call.Stream // for both, so that one follows the other
	other, err := beginExact(ctx, values, keys, options.Options)
	if err != nil {
		return nil, err
	}
	defer func() { places, err = release.OnError(places, err, other.release()) }()
	check := []uint64(nil)
	if !options.Unchecked && o.call.Estimating() && !o.call.OnHost() && o.rows > 1 {
		check = o.unsortedScratch()
	}
	// A column that may have nulls has a bit more.
	for i := range o.sources {
		a, b := &o.sources[i], &other.sources[i]
		a.Nullable = a.Nullable || b.Nullable
		b.Nullable = a.Nullable
	}
	o.plan, other.plan = rowkey.NewPlan(o.sources), rowkey.NewPlan(other.sources)
	if err := boundBoth(o, other); err != nil {
		return nil, err
	}
	if o.call.Estimating() {
		return nil, other.estimateSearch(o.all(), other.all(), check)
	}
	return other.search(o.all(), other.all(), options.Upper)
}

// boundBoth is bound for two tables that have the same plan: both get the bounds of the values
// of both. Words that fit 64 bits need one search, longer ones a search for each word.
func boundBoth(a, b *ordering) error {
	if a.rows == 0 || b.rows == 0 {
		return nil
	}
	for _, o := range []*ordering{a, b} {
		if err := o.bound(); err != nil {
			return err
		}
	}
	for i := range a.sources {
		x, y := &a.sources[i], &b.sources[i]
		if !x.Bounded || !y.Bounded { // decimals of one table take more than 64 bits
			x.Bounded, y.Bounded = false, false
			continue
		}
		all := rowkey.Bounds{Least: x.Least, Greatest: x.Greatest}
		all.Add(rowkey.Bounds{Least: y.Least, Greatest: y.Greatest})
		all.Apply(x)
		all.Apply(y)
	}
	a.plan, b.plan = rowkey.NewPlan(a.sources), rowkey.NewPlan(b.sources)
	return nil
}

// beginExact is beginWhole for the exact rows of a table.
func beginExact(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (*ordering, error) {
	n, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	exact, err := table.Slice(0, n)
	if err != nil {
		return nil, err
	}
	o, err := beginWhole(ctx, exact, keys, options)
	return release.OnError(o, err, exact.Release())
}

// checkSorted returns an [*UnsortedError] unless a table is sorted.
func checkSorted(ctx context.Context, table *buffer.Buffer, number int, keys []Key, options kernels.Options) error {
	options.Tag = scratchTag
	row, err := unsorted(ctx, table, keys, options)
	if err != nil {
		return err
	}
	if row >= 0 {
		return &UnsortedError{Table: number, Row: row}
	}
	return nil
}

// search finds the places of values among sorted rows.
func (o *ordering) search(sorted, values someRows, upper bool) (*column.Column, error) {
	result := op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: values.count()}
	return o.newColumn(result, func(out op.Buffers) error {
		places, err := memory.Reinterpret[uint32](out.Values)
		if err != nil {
			return err
		}
		return o.find(sorted, values, upper, places)
	})
}

// someRows are rows of an ordering: those from begin to end or, if listed has memory, the
// rows that are listed there.
type someRows struct {
	*ordering
	begin, end int
	listed     memory.Slice[uint32]
}

// all returns all rows of an ordering.
func (o *ordering) all() someRows { return someRows{ordering: o, end: o.rows} }

func (r someRows) count() int { return r.end - r.begin }

// part returns the rows from begin to end of rows.
func (r someRows) part(begin, end int) someRows {
	r.begin, r.end = r.begin+begin, r.begin+end
	return r
}

// find writes, for each of the values, the number of sorted rows that come before it or,
// if upper is set, that do not come after it. The plans of both have equal segments.
func (o *ordering) find(sorted, values someRows, upper bool, places memory.Slice[uint32]) error {
	if values.count() == 0 {
		return nil
	}
	if o.call.OnHost() {
		return o.findOnHost(sorted, values, upper, places)
	}
	return o.findOnDevice(sorted, values, upper, places)
}
