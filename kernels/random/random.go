package random

import (
	"context"
	"embed"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx.packed
var code embed.FS

var set = kernelset.Set{Files: code, Directory: "cuda"}

// Options configure a column. Manager is required.
type Options struct {
	kernels.Options
	Seed uint64
	// First is the number of the first value.
	First uint64
	// Rows is the row count of the column on the device, or nil.
	Rows *column.RowCount
}

// Integers makes n uniform values of all 64 bits, as uint64. The caller releases the column.
func Integers(ctx context.Context, n int, options Options) (*column.Column, error) {
	return make64(ctx, arrow.PrimitiveTypes.Uint64, n, integers, 0, options)
}

// Floats makes n uniform values from 0 to 1, 1 excluded, as float64: multiples of 2⁻⁵³.
func Floats(ctx context.Context, n int, options Options) (*column.Column, error) {
	return make64(ctx, arrow.PrimitiveTypes.Float64, n, floats, 0, options)
}

// Below makes n values from 0 to bound, bound excluded, as uint64. The probability of each
// differs from 1/bound by less than 2⁻⁶⁴.
func Below(ctx context.Context, n int, bound uint64, options Options) (*column.Column, error) {
	if bound == 0 {
		return nil, fmt.Errorf("random: the bound is 0, expected one or more: %w", device.ErrInvalidValue)
	}
	return make64(ctx, arrow.PrimitiveTypes.Uint64, n, below, bound, options)
}

// Numbers makes the numbers of n values themselves, First, First + 1, …, as int64.
func Numbers(ctx context.Context, n int, options Options) (*column.Column, error) {
	return make64(ctx, arrow.PrimitiveTypes.Int64, n, numbers, 0, options)
}

func make64(ctx context.Context, t arrow.DataType, n int, f form, bound uint64, options Options) (*column.Column, error) {
	values, err := run(ctx, t, n, f, bound, options)
	if err != nil {
		return nil, fmt.Errorf("random: %d values: %w", n, err)
	}
	return values, nil
}

func run(ctx context.Context, t arrow.DataType, n int, f form, bound uint64, options Options) (*column.Column, error) {
	if n < 0 {
		return nil, fmt.Errorf("expected zero or more: %w", device.ErrInvalidValue)
	}
	call, err := op.Begin(ctx, options.Options)
	if err != nil {
		return nil, err
	}
	result := op.Result{Type: t, Length: n, RowCount: options.Rows}
	if call.Estimating() {
		sizes := result.Sizes()
		return nil, call.Estimate(sizes[:], nil)
	}
	if n == 0 {
		return column.New(column.Data{Type: t, Rows: options.Rows, Manager: call.Manager, Buffers: make([]column.Bytes, 2)})
	}
	return call.NewColumn(result, func(out op.Buffers) error {
		if call.OnHost() {
			return onHost(out, f, options.Seed, options.First, bound)
		}
		kernel, err := call.Kernel(&set, "random", "random_words")
		if err != nil {
			return err
		}
		const threads = 256
		grid, err := kernel.Grid(n, threads, 4, 0)
		if err != nil {
			return err
		}
		return kernel.Launch(call.Stream, grid, device.Dim3{X: threads}, 0, out.Values, uint64(n), uint32(f), options.Seed, options.First, bound)
	})
}

func onHost(out op.Buffers, f form, seed, first, bound uint64) error {
	to, err := out.Host()
	if err != nil {
		return err
	}
	values := op.Elements[uint64](to.Values)
	for i := range values {
		value := first + uint64(i)
		if f != numbers {
			value = word(seed, value)
		}
		switch f {
		case floats:
			value = math.Float64bits(float64(value>>11) * (1.0 / (1 << 53)))
		case below:
			value, _ = bits.Mul64(value, bound)
		}
		values[i] = value
	}
	return nil
}
