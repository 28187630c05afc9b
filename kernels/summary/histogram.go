package summary

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// HistogramOptions say what the bins of [Histogram] are: Bins of equal width from Low
// to High, or those between Edges.
type HistogramOptions struct {
	kernels.Options
	// Bins is how many there are, each as wide as the others. Low belongs to the
	// first, High to the last, and what lies between to bin ⌊(x − Low) · (Bins / (High
	// − Low))⌋, each operation rounded to 64 bits. Of integers whose bins are of whole
	// width the distances are exact.
	Bins      int
	Low, High float64
	// Edges are at least two, ascending, and replace the three above. Bin i holds what
	// is at least Edges[i] and below Edges[i+1]; the last one holds its upper edge too.
	Edges []float64
	// CountOutside counts what lies below the first bin in the first and what lies
	// above the last in the last. Otherwise it is not counted.
	CountOutside bool
}

// MaxBins is the most bins that a histogram can have.
const MaxBins = 1 << 24

// Histogram counts the values of each bin. The result is a column of int64, one row
// for each bin, without nulls. Nulls and NaN are not counted. The column may be of
// integers, floats, and of dates, times, timestamps and durations, whose numbers are
// meant. Other than integers in bins of whole width are compared as 64-bit floats, to
// which integers beyond 2⁵³ are rounded.
//
// ctx is waited with on the host device, and for Edges to be taken to the device. The
// error wraps device.ErrNotSupported for other types, device.ErrInvalidValue for bins
// that are none.
func Histogram(ctx context.Context, c *column.Column, options HistogramOptions) (*column.Column, error) {
	result, err := histogram(ctx, c, options, func(n number) (bins, error) { return options.bins(n) })
	if err != nil {
		return nil, fmt.Errorf("summary: histogram: %w", err)
	}
	return result, nil
}

// CountIntegers counts how often each of the integers low, low + 1, … occurs, so many
// of them. All else is as in [Histogram], of whose options those about bins are not
// used.
func CountIntegers(ctx context.Context, c *column.Column, low int64, integers int, options ...HistogramOptions) (*column.Column, error) {
	o, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("summary: count integers: %w", err)
	}
	o.Edges = nil
	result, err := histogram(ctx, c, o, func(n number) (bins, error) {
		switch {
		case n.class == float:
			return bins{}, fmt.Errorf("the type %v: %w", c.Type(), device.ErrNotSupported)
		case integers < 1 || integers > MaxBins:
			return bins{}, fmt.Errorf("%d integers, not 1 to %d: %w", integers, MaxBins, device.ErrInvalidValue)
		case n.class == unsigned && low < 0 || low > math.MaxInt64-int64(integers):
			return bins{}, fmt.Errorf("the lowest integer is %d for %d of %v: %w", low, integers, c.Type(), device.ErrInvalidValue)
		}
		return wholeBins(n, low, uint64(integers)-1, 1, integers, o.CountOutside), nil
	})
	if err != nil {
		return nil, fmt.Errorf("summary: count integers: %w", err)
	}
	return result, nil
}

func histogram(ctx context.Context, c *column.Column, options HistogramOptions, of func(number) (bins, error)) (*column.Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	n, ok := numberOf(c.Type())
	if !ok {
		return nil, fmt.Errorf("the type %v: %w", c.Type(), device.ErrNotSupported)
	}
	b, err := of(n)
	if err != nil {
		return nil, err
	}
	call, in, err := begin(ctx, c, options.Options)
	if err != nil {
		return nil, err
	}
	block, buffers, err := call.Allocate(8 * uint64(b.count))
	if err != nil {
		return nil, err
	}
	counts, err := memory.Reinterpret[int64](buffers[0])
	if err == nil && call.OnHost() {
		err = b.onHost(n, in, counts)
	} else if err == nil {
		err = b.launch(ctx, call, n, in, counts)
	}
	var result *column.Column
	if err == nil {
		result, err = column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: b.count, Buffers: []column.Bytes{{}, buffers[0]}})
	}
	return result, errors.Join(err, block.Release())
}

// bins are what the kernels' struct of this name is.
type bins struct {
	how     how
	count   int
	clamp   bool
	a, b, c uint64
	edges   []float64
}

// how is the way in which a value's bin is found.
type how uint32

const (
	whole how = iota
	wholeUnsigned
	equal
	byEdges
)

func (o HistogramOptions) bins(n number) (bins, error) {
	if len(o.Edges) > 0 {
		return o.edges()
	}
	switch width := (o.High - o.Low) / float64(o.Bins); {
	case o.Bins < 1 || o.Bins > MaxBins:
		return bins{}, fmt.Errorf("%d bins, not 1 to %d: %w", o.Bins, MaxBins, device.ErrInvalidValue)
	case !(o.Low < o.High) || math.IsInf(o.High-o.Low, 0):
		return bins{}, fmt.Errorf("bins from Low, %v, to High, %v: %w", o.Low, o.High, device.ErrInvalidValue)
	case n.class != float && isWhole(o.Low) && isWhole(o.High) && isWhole(width) &&
		width*float64(o.Bins) == o.High-o.Low && !(n.class == unsigned && o.Low < 0) &&
		n.divides(o.Low, o.High, width):
		low, high := int64(o.Low), int64(o.High)
		return wholeBins(n, low, uint64(high)-uint64(low), uint64(width), o.Bins, o.CountOutside), nil
	}
	return bins{
		how: equal, count: o.Bins, clamp: o.CountOutside,
		a: math.Float64bits(o.Low), b: math.Float64bits(o.High), c: math.Float64bits(float64(o.Bins) / (o.High - o.Low)),
	}, nil
}

// divides reports whether the kernel can tell distances from low on apart and divide
// them by a width, which it does in 32 bits for values of up to as many.
func (n number) divides(low, high, width float64) bool {
	lowest := 0.0
	if n.class == signed {
		lowest = -math.Ldexp(1, 8*n.bytes-1)
	}
	return n.bytes == 8 || width <= math.MaxUint32 && (low >= lowest || high-low <= math.MaxUint32)
}

// isWhole reports whether a float is an integer and its neighbours are known as such.
func isWhole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= 1<<53 }

// wholeBins are bins of integers: from low on, up to a distance of last, which only
// the last bin is wide enough for.
func wholeBins(n number, low int64, last, width uint64, count int, clamp bool) bins {
	b := bins{how: whole, count: count, clamp: clamp, a: uint64(low), b: last, c: width}
	if n.class == unsigned {
		b.how = wholeUnsigned
	}
	return b
}

func (o HistogramOptions) edges() (bins, error) {
	if len(o.Edges) < 2 || len(o.Edges)-1 > MaxBins {
		return bins{}, fmt.Errorf("%d edges make no bins, or more than %d: %w", len(o.Edges), MaxBins, device.ErrInvalidValue)
	}
	for i, edge := range o.Edges {
		if edge != edge || i > 0 && edge < o.Edges[i-1] {
			return bins{}, fmt.Errorf("edge %d is %v, not ascending: %w", i, edge, device.ErrInvalidValue)
		}
	}
	lowest, highest := o.Edges[0], o.Edges[len(o.Edges)-1]
	return bins{
		how: byEdges, count: len(o.Edges) - 1, clamp: o.CountOutside, edges: o.Edges,
		a: math.Float64bits(lowest), b: math.Float64bits(highest),
	}, nil
}

// begin starts a call and looks at the column.
func begin(ctx context.Context, c *column.Column, options kernels.Options) (op.Call, input, error) {
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return op.Call{}, input{}, err
	}
	var in input
	if in.rows, in.counted, err = c.Extent(ctx); err != nil || c.Len() == 0 {
		return call, in, err
	}
	if in.values, err = c.ValuesRegion(); err != nil {
		return op.Call{}, input{}, err
	}
	if c.NullCount() != 0 && c.Buffer(0).Len() > 0 {
		in.valid, in.bit, err = c.Validity()
	}
	return call, in, err
}

// input is a column as kernels see it.
type input struct {
	values memory.Slice[uint8]
	// valid is empty where no row is null; bit is that of the first row.
	valid memory.Slice[uint8]
	bit   int
	// rows is the number of rows or, if counted has memory, the most there may be.
	rows    int
	counted memory.Slice[int64]
}
