package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
)

// fold defines one cumulative operator. Each fold is in the file of its API function.
type fold struct {
	// name is the operator's name in errors.
	name string
	// takes returns the storage of a type, and whether the operator supports it.
	takes func(t arrow.DataType) (storage, bool)
	// expected names the supported types in errors.
	expected string
	// kernels are the kernels by storage: the fold's definition in the holes of a
	// template.
	kernels *instances
	// flip returns the bits that the kernel inverts in values before it folds them; for
	// decimals, in the upper word. Nil inverts no bits.
	flip func(s storage) uint64
	// host folds on the host. The validity of the result is already written.
	host func(s storage, in op.HostView, out op.HostBuffers)
}

// cumulate runs a fold over a column.
func cumulate(ctx context.Context, f *fold, c *column.Column, options []Options) (*column.Column, error) {
	chosen, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("window: %s: %w", f.name, err)
	}
	result, err := f.run(ctx, c, chosen)
	if err != nil {
		return nil, fmt.Errorf("window: %s: %w", f.name, err)
	}
	return result, nil
}

func (f *fold) run(ctx context.Context, c *column.Column, options Options) (*column.Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	stored, ok := f.takes(c.Type())
	if !ok {
		return nil, layout.Refuse(c.Type(), f.expected, device.ErrNotSupported)
	}
	if c.Len() == 0 {
		return none(c, 2)
	}
	call, err := op.Begin(ctx, options.Options, c)
	if err != nil {
		return nil, err
	}
	in, err := call.View(c)
	if err != nil {
		return nil, err
	}
	result, tiles := op.Like(in), f.tiles(&call, stored, in.Rows)
	if call.Estimating() {
		sizes := result.Sizes()
		return nil, call.Estimate(sizes[:], []uint64{tiles.stateBytes})
	}
	return call.NewColumn(result, func(out op.Buffers) error {
		if call.OnHost() {
			return f.onHost(stored, in, out, options)
		}
		return f.onGPU(&call, stored, tiles, in, out, options)
	})
}

// tiles plans the division of the rows among blocks.
func (f *fold) tiles(call *op.Call, s storage, rows int) tiling {
	tiles := tilesOf(rows, shapeOf(s).tileRows())
	// One additional block computes the folds of the tiles before each tile.
	return newTiling(call, tiles, tiles+1, lookback.ToldBytes(uint64(tiles), uint64(f.kernels.instanceFor(s).foldedBytes)))
}

func (f *fold) onGPU(call *op.Call, s storage, tiles tiling, in op.View, out op.Buffers, options Options) error {
	kernel, err := call.Instance(&set, &f.kernels.instanceFor(s).Instance)
	if err != nil {
		return err
	}
	state, release, err := tiles.allocate(call)
	if err != nil {
		return err
	}
	flip, nullsLast := uint64(0), uint32(1)
	if f.flip != nil {
		flip = f.flip(s)
	}
	if options.SkipNulls {
		nullsLast = 0
	}
	err = kernel.Launch(call.Stream, tiles.grid, device.Dim3{X: tileThreads}, shapeOf(s).sharedBytes(),
		out.Values, out.Valid, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows), state, flip, nullsLast)
	return errors.Join(err, release.Release())
}

func (f *fold) onHost(s storage, in op.View, out op.Buffers, options Options) error {
	from, err := in.Host()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	writeValidity(from, to, options.SkipNulls)
	f.host(s, from, to)
	return nil
}

// none returns a column without rows and memory, of the same type as another one.
func none(like *column.Column, buffers int) (*column.Column, error) {
	return column.New(column.Data{
		Type: like.Type(), Buffers: make([]column.Bytes, buffers), Rows: like.RowCount(), Manager: like.Manager(),
	})
}
