package group

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// HistogramOptions define the bins of [Histogram]: bins of equal width from Low to High,
// or the bins between Edges.
type HistogramOptions struct {
	kernels.Options
	// Bins is the number of bins of equal width. Low belongs to the first bin and High
	// to the last. A value x between them belongs to bin ⌊(x − Low) · (Bins / (High −
	// Low))⌋; each operation rounds to 64 bits. For integers and bins of whole width
	// the computation is exact.
	Bins      int
	Low, High float64
	// Edges are at least two values in ascending order. They replace the three fields
	// above. Bin i holds the values x with Edges[i] <= x < Edges[i+1]; the last bin
	// holds its upper edge too.
	Edges []float64
	// CountOutside counts the values below the first bin in the first bin, and those
	// above the last bin in the last. Otherwise they are not counted.
	CountOutside bool
}

// MaxBins is the largest number of bins of a histogram.
const MaxBins = 1 << 24

// Histogram counts the values in each bin. The result is a column of int64 with one row
// for each bin and no nulls. Nulls and NaN are not counted. The column may hold
// integers, floats, dates, times, timestamps or durations. Integers in bins of whole
// width are compared as integers. All other values are compared as 64-bit floats, to
// which integers beyond 2⁵³ are rounded.
//
// # Waiting
//
// Histogram waits, until ctx is done, on the host device, and on a GPU for the upload
// of Edges.
//
// # Errors
//
// The error wraps device.ErrNotSupported for other types, and device.ErrInvalidValue if
// the options define no bins.
func Histogram(ctx context.Context, c *column.Column, options HistogramOptions) (*column.Column, error) {
	result, err := histogram(ctx, c, options.Options, options.bins)
	if err != nil {
		return nil, fmt.Errorf("group: histogram: %w", err)
	}
	return result, nil
}

// CountIntegers counts the occurrences of each integer in [low, low+integers). The
// options that define bins are ignored; everything else is as in [Histogram].
func CountIntegers(ctx context.Context, c *column.Column, low int64, integers int, options ...HistogramOptions) (*column.Column, error) {
	o, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("group: count integers: %w", err)
	}
	result, err := histogram(ctx, c, o.Options, func(number numbers.Type) (bins, error) {
		switch {
		case number.Class == numbers.Float:
			return bins{}, layout.Refuse(c.Type(), "integers", device.ErrNotSupported)
		case integers < 1 || integers > MaxBins:
			return bins{}, fmt.Errorf("the number of integers is %d, not in 1 to %d: %w", integers, MaxBins, device.ErrInvalidValue)
		case number.Class == numbers.Unsigned && low < 0 || low > math.MaxInt64-int64(integers):
			return bins{}, fmt.Errorf("%d integers from %d are outside the range of %v: %w", integers, low, c.Type(), device.ErrInvalidValue)
		}
		return wholeBins(number, low, uint64(integers)-1, 1, integers, o.CountOutside), nil
	})
	if err != nil {
		return nil, fmt.Errorf("group: count integers: %w", err)
	}
	return result, nil
}

// histogram counts the values of c in the bins that binsOf returns for its number format.
func histogram(ctx context.Context, c *column.Column, options kernels.Options, binsOf func(numbers.Type) (bins, error)) (*column.Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	number, ok := numbers.TypeOf(c.Type())
	if !ok {
		return nil, layout.Refuse(c.Type(), "numbers, dates, times, timestamps, durations or months", device.ErrNotSupported)
	}
	b, err := binsOf(number)
	if err != nil {
		return nil, err
	}
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return nil, err
	}
	b.number = number
	var in op.View
	if c.Len() > 0 {
		if in, err = call.View(c); err != nil {
			return nil, err
		}
	}
	result := 8 * uint64(b.count)
	if call.Estimating() {
		return nil, call.Estimate([]uint64{result}, []uint64{b.scratchBytes(call.OnHost())})
	}
	block, buffers, err := call.Allocate(result)
	if err != nil {
		return nil, err
	}
	counts, err := memory.Reinterpret[int64](buffers[0])
	if err == nil && call.OnHost() {
		err = b.onHost(in, counts)
	} else if err == nil {
		err = b.launch(&call, in, counts)
	}
	var all *column.Column
	if err == nil {
		all, err = column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: b.count, Buffers: []column.Bytes{{}, buffers[0]}})
	}
	return all, errors.Join(err, block.Release())
}
