package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/kernels"
)

// Partitions are the rows of a table, divided into ranges. The caller releases them.
type Partitions struct {
	// Rows are the rows of the first range in their order, then those of the second one,
	// and so on.
	Rows *buffer.Buffer
	// Offsets are uint32. Range i has the rows from Offsets[i] to Offsets[i+1].
	Offsets *column.Column
}

// Release releases the rows and the offsets. Releasing nil does nothing.
func (p *Partitions) Release() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.Rows.Release(), p.Offsets.Release())
}

// Partition divides the rows of a table into ranges of their keys. bounds is a sorted
// table with columns for the keys: range i has the rows that do not come before row i−1
// of bounds, and come before row i. k bounds make k + 1 ranges. Rows keep their
// order within a range.
//
// # Waiting
//
// Partition waits for row counts that only the device knows, for the check that bounds is
// sorted, and when [Sort] does.
//
// # Errors
//
// The errors are those of [Search].
func Partition(ctx context.Context, table, bounds *buffer.Buffer, keys []Key, options ...Options) (*Partitions, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: partition: %w", err)
	}
	made, err := partition(ctx, table, bounds, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: partition: %w", err)
	}
	return made, nil
}

func partition(ctx context.Context, table, bounds *buffer.Buffer, keys []Key, options kernels.Options) (*Partitions, error) {
	if options.Estimate != nil {
		return nil, estimatePartition(ctx, table, bounds, keys, options)
	}
	scratch := options
	scratch.Tag = scratchTag
	if err := table.Check(); err != nil {
		return nil, err
	}
	if scratch.Manager == nil {
		scratch.Manager = table.Manager()
	}
	numbers, err := search(ctx, bounds, table, keys, SearchOptions{Options: scratch, Upper: true})
	if err != nil {
		return nil, err
	}
	made, err := partitionBy(ctx, table, bounds, numbers, options, scratch)
	return release.OnError(made, err, numbers.Release())
}

// partitionBy divides the rows of a table by the number of their range.
func partitionBy(ctx context.Context, table, bounds *buffer.Buffer, numbers *column.Column, options, scratch kernels.Options) (made *Partitions, err error) {
	names := []string{"range"}
	byRange := []Key{{Column: names[0]}}
	n, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	if table, err = table.Slice(0, n); err != nil {
		return nil, err
	}
	defer func() { made, err = release.OnError(made, err, table.Release()) }()
	ranges, err := tableOf(names, []*column.Column{numbers}, buffer.Rows{Count: int64(numbers.Len()), Manager: table.Manager()})
	if err != nil {
		return nil, err
	}
	defer func() { made, err = release.OnError(made, err, ranges.Release()) }()
	sorted, err := sortTable(ctx, ranges, byRange, scratch)
	if err != nil {
		return nil, err
	}
	defer func() { made, err = release.OnError(made, err, sorted.Release()) }()
	count, err := bounds.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	places := make([]uint32, count+2)
	for i := range places {
		places[i] = uint32(i)
	}
	wanted, err := column.FromSlice(ctx, sorted.Manager(), places, column.SliceOptions{Stream: scratch.Stream, Tag: scratchTag})
	if err != nil {
		return nil, err
	}
	defer func() { made, err = release.OnError(made, err, wanted.Release()) }()
	values, err := tableOf(names, []*column.Column{wanted}, buffer.Rows{Count: int64(len(places)), Manager: sorted.Manager()})
	if err != nil {
		return nil, err
	}
	defer func() { made, err = release.OnError(made, err, values.Release()) }()
	offsets, err := search(ctx, sorted, values, byRange, SearchOptions{Options: options, Unchecked: true})
	if err != nil {
		return nil, err
	}
	rows, err := indices(ctx, ranges, byRange, scratch)
	if err != nil {
		return nil, errors.Join(err, offsets.Release())
	}
	divided, err := take(ctx, table, rows, options, true)
	if err != nil {
		return nil, errors.Join(err, offsets.Release())
	}
	return &Partitions{divided, offsets}, nil
}
