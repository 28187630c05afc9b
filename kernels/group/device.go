package group

import (
	"embed"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/entries cuda
//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda ../include/strings.cuh
//go:embed cuda/*.ptx*
var code embed.FS

// set has the templates of the histograms.
var set = kernelset.Set{Files: code, Directory: "cuda", Entries: entries}

// copies returns the number of copies of each counter in the shared memory of a block.
// With more copies fewer threads update one counter at a time. It is zero if the
// counters do not fit.
func (b bins) copies() int {
	copies := 0
	for n := 1; n <= maxCopies && n*b.count <= sharedCounters; n *= 2 {
		if n == 1 || b.count <= mostCopied {
			copies = n
		}
	}
	return copies
}

// launch counts the values on a GPU.
func (b bins) launch(call *op.Call, in op.View, counts memory.Slice[int64]) error {
	kernel := &realKernels[b.number.Class][b.number.Index()]
	if b.mapping.whole() {
		kernel = &wholeKernels[b.number.Index()]
	}
	f, err := call.Instance(&set, kernel)
	if err != nil {
		return err
	}
	copies := b.copies()
	blocks := min(int(in.Values.Bytes()/blockBytes)+1, max(call.Stream.Device().Info().Multiprocessors, 1)*residentBlocks)
	if copies > 0 && in.Values.Bytes() <= singleBlockBytes {
		blocks = 1
	}
	if blocks > 1 || copies == 0 {
		if err := counts.Fill(call.Stream, 0); err != nil {
			return err
		}
	}
	edges, block, err := b.upload(call)
	if err != nil {
		return err
	}
	l := binsLayout{
		mapping: uint32(b.mapping), count: uint32(b.count), copies: uint32(copies), clamp: kernelset.Flag(b.clamp),
		a: b.a, b: b.b, c: b.c, d: b.reciprocal(), edges: edges.AsBytes(),
	}
	err = f.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: histogramThreads}, uint32(4*copies*b.count),
		counts, in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows),
		l.asArgument())
	return errors.Join(err, block.Release())
}

// reciprocal returns the factor by which the kernel divides by the width of bins of
// integers.
func (b bins) reciprocal() uint64 {
	switch {
	case !b.mapping.whole():
		return 0
	case b.number.Bytes <= 4:
		return math.MaxUint32 / b.c
	}
	return math.MaxUint64 / b.c
}

// scratchBytes returns the bytes of the edges on the device.
func (b bins) scratchBytes(onHost bool) uint64 {
	if onHost {
		return 0
	}
	return 8 * uint64(len(b.edges))
}

// upload copies the edges to the device. The caller releases the block, which may be nil.
func (b bins) upload(call *op.Call) (edges memory.Slice[float64], block *memory.Block, err error) {
	if len(b.edges) == 0 {
		return edges, nil, nil
	}
	block, buffers, err := call.Scratch(b.scratchBytes(false))
	if err != nil {
		return edges, nil, err
	}
	if edges, err = memory.Reinterpret[float64](buffers[0]); err == nil {
		err = edges.Upload(call.Context(), call.Stream, b.edges)
	}
	if err != nil {
		return edges, nil, errors.Join(err, block.Release())
	}
	return edges, block, nil
}
