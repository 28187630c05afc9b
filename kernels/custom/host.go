package custom

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// HostFunc computes a result of the rows of a batch, with the length of the arguments. It must not keep the
// arguments. The caller releases the result.
type HostFunc func(ctx context.Context, arguments []arrow.Array) (arrow.Array, error)

// OnHost makes a function of arrays in host memory.
func OnHost(name string, s Signature, f HostFunc) *Function {
	var invalid error
	if f == nil {
		invalid = fmt.Errorf("the Go function is nil: %w", device.ErrInvalidValue)
	}
	return newFunction(name, s, hostBody{f}, invalid)
}

type hostBody struct{ f HostFunc }

func (hostBody) kind() string { return "Go function" }

func (b hostBody) run(ctx context.Context, f *Function, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	allocator, closing := allocatorFor(options.Manager.Device())
	result, err := b.computed(ctx, f, operands, options, allocator)
	return release.OnError(result, err, closing())
}

// allocatorFor returns an allocator of pinned memory, or that of Go on the host.
func allocatorFor(d *device.Device) (arrowmemory.Allocator, func() error) {
	if d.Kind() == device.Host {
		return arrowmemory.DefaultAllocator, func() error { return nil }
	}
	pinned := memory.NewPinnedAllocator(d, 0)
	return pinned, pinned.Close
}

func (b hostBody) computed(ctx context.Context, f *Function, operands []*column.Column, options kernels.Options, allocator arrowmemory.Allocator) (*column.Column, error) {
	arguments, err := column.ToArrays(ctx, operands, column.DownloadOptions{Stream: options.Stream, Allocator: allocator})
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, a := range arguments {
			a.Release()
		}
	}()
	result, err := b.call(ctx, f, arguments)
	if err != nil {
		return nil, err
	}
	defer result.Release()
	return upload(ctx, result, operands[0], options)
}

// upload copies a result to the device, with the row count of an operand.
func upload(ctx context.Context, result arrow.Array, like *column.Column, options kernels.Options) (*column.Column, error) {
	if missing := like.Len() - result.Len(); missing > 0 {
		nulls := array.MakeArrayOfNull(arrowmemory.DefaultAllocator, result.DataType(), missing)
		defer nulls.Release()
		longer, err := array.Concatenate([]arrow.Array{result, nulls}, arrowmemory.DefaultAllocator)
		if err != nil {
			return nil, fmt.Errorf("rows behind the result: %w", err)
		}
		defer longer.Release()
		result = longer
	}
	values, err := column.FromArray(ctx, options.Manager, result, column.UploadOptions{Stream: options.Stream, Tag: options.Tag})
	if err != nil || like.RowCount() == nil {
		return values, err
	}
	counted, err := values.WithRows(like.RowCount())
	return release.OnError(counted, err, values.Release())
}

// call calls the function and checks its result.
func (b hostBody) call(ctx context.Context, f *Function, arguments []arrow.Array) (arrow.Array, error) {
	return guarded(func() (arrow.Array, error) {
		result, err := b.f(ctx, arguments)
		if err != nil {
			return nil, err
		}
		return result, f.fits(result, arguments[0].Len())
	})
}

// fits refuses a result that differs from the signature.
func (f *Function) fits(result arrow.Array, rows int) error {
	switch {
	case result == nil:
		return fmt.Errorf("the result is nil: %w", ErrResult)
	case !arrow.TypeEqual(result.DataType(), f.signature.Result):
		return fmt.Errorf("the result is %v, expected %v: %w", result.DataType(), f.signature.Result, ErrResult)
	case result.Len() != rows:
		return fmt.Errorf("the result has %d rows, expected %d: %w", result.Len(), rows, ErrResult)
	}
	return nil
}
