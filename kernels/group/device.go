package group

import (
	"context"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	histogramThreads = 256
	// residentBlocks is the number of blocks that the registers of a multiprocessor of
	// the largest devices allow.
	residentBlocks = 4
	// sharedCounters is the number of 4-byte counters that fit in the shared memory of a
	// block if that many blocks are resident.
	sharedCounters = 8192
	// maxCopies is one copy of the counters for each warp.
	maxCopies = histogramThreads / 32
	// singleBlockBytes is the size up to which one block counts the whole column, which
	// needs no memset of the counts.
	singleBlockBytes = 64 << 10
	// blockBytes is the part of the column that a block counts at a time.
	blockBytes = histogramThreads * 16 * 4
)

// copies returns the number of copies of each counter in the shared memory of a block.
// With more copies fewer threads update one counter at a time. It is zero if the
// counters do not fit.
func (b bins) copies() int {
	copies := 0
	for n := 1; n <= maxCopies && n*b.count <= sharedCounters; n *= 2 {
		// Above about a thousand counters, adding up more copies takes longer than it saves.
		if n == 1 || b.count <= 1024 {
			copies = n
		}
	}
	return copies
}

// launch counts the values on a GPU.
func (b bins) launch(ctx context.Context, call op.Call, in numbers.Column, counts memory.Slice[int64]) error {
	which := histogramReal
	if b.mapping.whole() {
		which = histogramWhole
	}
	dev := call.Stream.Device()
	f, err := which.function(dev, in.Type)
	if err != nil {
		return err
	}
	copies := b.copies()
	blocks := min(int(in.Values.Bytes()/blockBytes)+1, max(dev.Info().Multiprocessors, 1)*residentBlocks)
	if copies > 0 && in.Values.Bytes() <= singleBlockBytes {
		blocks = 1
	}
	if blocks > 1 || copies == 0 {
		if err := counts.Fill(call.Stream, 0); err != nil {
			return err
		}
	}
	edges, release, err := b.upload(ctx, call)
	if err != nil {
		return err
	}
	clamp := uint32(0)
	if b.clamp {
		clamp = 1
	}
	err = f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: histogramThreads}, uint32(4*copies*b.count),
		counts, in.Values, in.Valid, uint64(in.Bit), in.Count, int64(in.Rows),
		kernels.Struct(uint32(b.mapping), uint32(b.count), uint32(copies), clamp, b.a, b.b, b.c, b.reciprocal(in.Type), edges))
	return errors.Join(err, release())
}

// reciprocal returns the factor by which the kernel divides by the width of bins of
// integers.
func (b bins) reciprocal(number numbers.Type) uint64 {
	switch {
	case !b.mapping.whole():
		return 0
	case number.Bytes <= 4:
		return math.MaxUint32 / b.c
	}
	return math.MaxUint64 / b.c
}

// upload copies the edges to the device.
func (b bins) upload(ctx context.Context, call op.Call) (edges memory.Slice[float64], release func() error, err error) {
	if len(b.edges) == 0 {
		return edges, func() error { return nil }, nil
	}
	edges, err = op.NewSlice[float64](&call, len(b.edges))
	if err != nil {
		return edges, nil, err
	}
	if err := edges.Upload(ctx, call.Stream, b.edges); err != nil {
		return edges, nil, errors.Join(err, edges.Release())
	}
	return edges, edges.Release, nil
}
