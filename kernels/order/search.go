package order

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/parallel"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/internal/rowkey"
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
// Search waits for row counts that only the device knows and, unless Unchecked is set,
// for the check that the table is sorted.
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
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	for i, key := range keys {
		if key.Values != nil {
			return nil, &KeyError{i, key, fmt.Errorf("the field Values has no rows for two tables, expected Column or Expr: %w", device.ErrInvalidValue)}
		}
	}
	if options.Manager == nil && values != nil {
		options.Manager = values.Manager()
	}
	if !options.Unchecked {
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
	return release.OnError(places, err, releaseTables(tables))
}

// searchKeys searches in tables of keys: named are the keys by which they are ordered,
// keys those that the caller named.
func searchKeys(ctx context.Context, sorted, values *buffer.Buffer, keys, named []Key, options SearchOptions) (*column.Column, error) {
	for i, key := range keys {
		if a, b := sorted.Column(i).Type(), values.Column(i).Type(); !arrow.TypeEqual(a, b) {
			return nil, &KeyError{i, key, fmt.Errorf("the sorted table has %v, the values %v, expected equal types: cast one of them: %w", a, b, device.ErrInvalidValue)}
		}
	}
	n, err := sorted.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	scratch := options.Options
	scratch.Tag = scratchTag
	both, err := selection.Concat(ctx, []*buffer.Buffer{sorted, values}, scratch)
	if err != nil {
		return nil, err
	}
	o, err := begin(ctx, both, named, options.Options)
	if err != nil {
		return nil, errors.Join(err, both.Release())
	}
	places, err := o.search(int(n), options.Upper)
	return release.OnError(places, err, o.release(), both.Release())
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

// search finds the places of the rows from number sorted on in the rows before it.
func (o *ordering) search(sorted int, upper bool) (*column.Column, error) {
	result := op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: o.rows - sorted}
	return o.newColumn(result, func(out op.Buffers) error {
		places, err := memory.Reinterpret[uint32](out.Values)
		if err != nil {
			return err
		}
		if o.call.OnHost() {
			return o.searchOnHost(sorted, upper, places)
		}
		return o.searchOnDevice(sorted, upper, places)
	})
}

func (o *ordering) searchOnHost(sorted int, upper bool, out memory.Slice[uint32]) error {
	host, err := rowkey.NewHost(o.plan)
	if err != nil {
		return err
	}
	places, err := out.Host()
	if err != nil {
		return err
	}
	above := 0
	if upper {
		above = 1
	}
	n := o.rows - sorted
	return parallel.Run(o.call.Context(), n, parallel.Parts(n), func(_, begin, end int) {
		for i := begin; i < end; i++ {
			places[i] = uint32(sort.Search(sorted, func(row int) bool {
				return host.Compare(row, sorted+i, rowkey.Place{}) >= above
			}))
		}
	})
}
