package main

import (
	"context"
	"errors"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/elementwise"
	"github.com/gpuframe/gpuframe/memory"
)

// plainLaunch returns the time to enqueue a kernel of package elementwise with two
// inputs and an existing output.
func (b *bench) plainLaunch(ctx context.Context, data *buffer.Buffer) (_ time.Duration, err error) {
	var values [2]memory.Slice[float32]
	for i, name := range []string{"x", "y"} {
		c, err := data.ColumnByName(name)
		if err != nil {
			return 0, err
		}
		if values[i], err = column.Elements[float32](c); err != nil {
			return 0, err
		}
	}
	out, err := memory.NewSlice[float32](b.mgr, values[0].Len(), memory.AllocateOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Release()) }()
	return b.enqueue(ctx, func(ctx context.Context) (releaser, error) {
		return nothing{}, elementwise.Add(ctx, b.stream, out, values[0], values[1])
	})
}
