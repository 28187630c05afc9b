package order

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// MergeOptions configure [Merge].
type MergeOptions struct {
	kernels.Options
	// Unchecked does not check that the tables are sorted. The result is sorted
	// in both cases.
	Unchecked bool
}

// Merge returns the rows of sorted tables as one sorted table. Of rows with equal keys
// those of earlier tables come first. The tables have equal columns. Keys have no Values.
// The caller releases the result.
//
// # Waiting
//
// Merge waits for row counts that only the device knows, for the sizes of strings and
// lists, and, unless Unchecked is set, for the check that the tables are sorted.
//
// # Errors
//
// The errors are those of [Sort]. Tables with different columns wrap buffer.ErrSchema. A
// table that is not sorted is an [*UnsortedError]. No table wraps device.ErrInvalidValue.
func Merge(ctx context.Context, tables []*buffer.Buffer, keys []Key, options ...MergeOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: merge: %w", err)
	}
	merged, err := merge(ctx, tables, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: merge: %w", err)
	}
	return merged, nil
}

func merge(ctx context.Context, tables []*buffer.Buffer, keys []Key, options MergeOptions) (*buffer.Buffer, error) {
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("no table is given, expected one or more: %w", device.ErrInvalidValue)
	}
	for i, key := range keys {
		if key.Values != nil {
			return nil, &KeyError{i, key, fmt.Errorf("the field Values has no rows for several tables, expected Column or Expr: %w", device.ErrInvalidValue)}
		}
	}
	rows := int64(0)
	for i, table := range tables {
		if err := table.Check(); err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		if own, first := table.Schema(), tables[0].Schema(); !own.Equal(first) {
			return nil, fmt.Errorf("table %d has the columns %v, the first one %v, expected equal ones: %w", i, own, first, buffer.ErrSchema)
		}
		n, err := table.NumRows(ctx)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		rows += n
	}
	if err := checkRows(rows); err != nil {
		return nil, err
	}
	for i, table := range tables {
		if options.Unchecked {
			break
		}
		if err := checkSorted(ctx, table, i, keys, options.Options); err != nil {
			return nil, err
		}
	}
	scratch := options.Options
	scratch.Tag = scratchTag
	all, err := selection.Concat(ctx, tables, scratch)
	if err != nil {
		return nil, err
	}
	sorted, err := sortTable(ctx, all, keys, options.Options)
	return release.OnError(sorted, err, all.Release())
}
