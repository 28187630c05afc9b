package order

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
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
	partitions, err := partition(ctx, table, bounds, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: partition: %w", err)
	}
	return partitions, nil
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
	count, err := bounds.NumRows(ctx)
	if err != nil {
		return nil, errors.Join(err, numbers.Release())
	}
	if numbers, err = shortened(ctx, numbers, int(count)+1, scratch); err != nil {
		return nil, err
	}
	partitions, err := partitionBy(ctx, table, int(count)+1, numbers, options, scratch)
	return release.OnError(partitions, err, numbers.Release())
}

// shortened returns numbers of up to 255 ranges as uint8, which sort in one pass. It takes the numbers
// over.
func shortened(ctx context.Context, numbers *column.Column, n int, scratch kernels.Options) (*column.Column, error) {
	if n > math.MaxUint8 {
		return numbers, nil
	}
	table, err := op.TableOf([]string{"range"}, []*column.Column{numbers}, buffer.Rows{Count: int64(numbers.Len()), Manager: scratch.Manager})
	if err = errors.Join(err, numbers.Release()); err != nil {
		return nil, errors.Join(err, table.Release())
	}
	narrow, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Col("range").CastWrap(arrow.PrimitiveTypes.Uint8)}, scratch)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(narrow))
	}
	return narrow[0], nil
}

// mostRanges is the maximum number of ranges of [PartitionBy], whose numbers the host makes.
const mostRanges = 1 << 24

// PartitionBy divides the rows of a table into n ranges by the number of each row's range, which is
// less than n. n is 1 to 2^24. The numbers are uint8, for up to 255 ranges, or uint32, without nulls; one pass of a
// sort moves rows by uint8. Rows keep their order within a range.
//
// # Waiting
//
// PartitionBy waits for row counts that only the device knows.
//
// # Errors
//
// The error wraps device.ErrInvalidValue if there is not one number for each row, if n is not in its
// range, and if the numbers have another type. Rows with numbers of n or more are in no range.
func PartitionBy(ctx context.Context, table *buffer.Buffer, numbers *column.Column, n int, options ...Options) (*Partitions, error) {
	only, err := op.Only(options)
	var partitions *Partitions
	if err == nil {
		partitions, err = partitionByNumbers(ctx, table, numbers, n, only)
	}
	if err != nil {
		return nil, fmt.Errorf("order: partition by numbers: %w", err)
	}
	return partitions, nil
}

func partitionByNumbers(ctx context.Context, table *buffer.Buffer, numbers *column.Column, n int, options kernels.Options) (*Partitions, error) {
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	if err := table.Check(); err != nil {
		return nil, err
	}
	scratch := options
	scratch.Tag = scratchTag
	if scratch.Manager == nil {
		scratch.Manager = table.Manager()
	}
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	if numbers, err = numbers.WithHostRows(ctx); err != nil {
		return nil, fmt.Errorf("numbers: %w", err)
	}
	if have := int64(numbers.Len()); have != rows || n < 1 || n > mostRanges {
		return nil, errors.Join(fmt.Errorf("%d numbers of %d ranges for %d rows, expected one for each row and 1 to %d ranges: %w", have, n, rows, mostRanges, device.ErrInvalidValue), numbers.Release())
	}
	partitions, err := partitionBy(ctx, table, n, numbers, options, scratch)
	return release.OnError(partitions, err, numbers.Release())
}

// partitionBy divides the rows of a table into count ranges by the number of their range.
func partitionBy(ctx context.Context, table *buffer.Buffer, count int, numbers *column.Column, options, scratch kernels.Options) (partitions *Partitions, err error) {
	names := []string{"range"}
	byRange := []Key{{Column: names[0]}}
	n, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	if table, err = table.Slice(0, n); err != nil {
		return nil, err
	}
	defer func() { partitions, err = release.OnError(partitions, err, table.Release()) }()
	ranges, err := op.TableOf(names, []*column.Column{numbers}, buffer.Rows{Count: int64(numbers.Len()), Manager: scratch.Manager})
	if err != nil {
		return nil, err
	}
	defer func() { partitions, err = release.OnError(partitions, err, ranges.Release()) }()
	rows, err := indices(ctx, ranges, byRange, scratch)
	if err != nil {
		return nil, err
	}
	defer func() { partitions, err = release.OnError(partitions, err, rows.Release()) }()
	offsets, err := firstsOf(ctx, ranges, rows, count, byRange, options, scratch)
	if err != nil {
		return nil, err
	}
	divided, err := selection.TakeWith(ctx, table, rows, selection.TakeOptions{Options: options, Bounds: selection.Trust, Distinct: true})
	if err != nil {
		return nil, errors.Join(err, offsets.Release())
	}
	return &Partitions{divided, offsets}, nil
}

// firstsOf returns the first row of each range, and the number of all rows, for rows in the order of
// the numbers of their ranges.
func firstsOf(ctx context.Context, ranges *buffer.Buffer, rows *column.Column, count int, byRange []Key, options, scratch kernels.Options) (firsts *column.Column, err error) {
	sorted, err := selection.TakeWith(ctx, ranges, rows, selection.TakeOptions{Options: scratch, Bounds: selection.Trust, Distinct: true})
	if err != nil {
		return nil, err
	}
	defer func() { firsts, err = release.OnError(firsts, err, sorted.Release()) }()
	wanted, err := firstNumbers(ctx, scratch, ranges.Column(0).Type(), count+1)
	if err != nil {
		return nil, err
	}
	defer func() { firsts, err = release.OnError(firsts, err, wanted.Release()) }()
	values, err := op.TableOf([]string{byRange[0].Column}, []*column.Column{wanted}, buffer.Rows{Count: int64(count + 1), Manager: scratch.Manager})
	if err != nil {
		return nil, err
	}
	defer func() { firsts, err = release.OnError(firsts, err, values.Release()) }()
	return search(ctx, sorted, values, byRange, SearchOptions{Options: options, Unchecked: true})
}

// firstNumbers returns a column of the numbers below n. With a stream it needs no wait.
func firstNumbers(ctx context.Context, scratch kernels.Options, t arrow.DataType, n int) (*column.Column, error) {
	upload := column.SliceOptions{Stream: scratch.Stream, Tag: scratchTag}
	if upload.Stream == nil {
		upload.Stream = scratch.Manager.Stream()
	}
	switch {
	case t.ID() == arrow.UINT32:
		return column.FromSlice(ctx, scratch.Manager, upTo[uint32](n), upload)
	case t.ID() == arrow.UINT8 && n <= math.MaxUint8+1:
		return column.FromSlice(ctx, scratch.Manager, upTo[uint8](n), upload)
	}
	return nil, fmt.Errorf("%v for the numbers of %d ranges, expected uint8 for up to %d, or uint32: %w", t, n-1, math.MaxUint8, device.ErrInvalidValue)
}

func upTo[T uint8 | uint32](n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = T(i)
	}
	return list
}
