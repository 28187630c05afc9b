package summary

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/perdevice"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// codes has a file for each type, so that a program compiles those that it uses.
//
//go:embed code/*.ptx
var codes embed.FS

// kernel is one of the package's.
type kernel int

const (
	histogramReal kernel = iota
	histogramWhole
	topCount
	topCollect
	topSort
	kernelCount
)

// named returns the names of the kernel's file and of the kernel, for a type.
func (k kernel) named(n number) (file, name string) {
	suffix := fmt.Sprint(8 * n.bytes)
	if k == histogramReal || n.class == float {
		suffix = n.String()
	}
	switch k {
	case histogramReal:
		file = "histogram_" + suffix
		return file, file
	case histogramWhole:
		file = "histogram_whole_" + suffix
		return file, file
	}
	return "top_" + suffix, fmt.Sprintf("top_%s_%s", [...]string{topCount: "count", topCollect: "collect", topSort: "sort"}[k], suffix)
}

// functions are the kernels of a device that were asked for, by kernel, class and
// width. They are never closed: their code goes with the device.
type functions [kernelCount][3][4]atomic.Pointer[kernels.Function]

var loaded perdevice.Cache[*functions]

// function returns a kernel, and loads it by its name where it is not there yet:
// names take longer to make than everything else of a launch.
func (k kernel) function(dev *device.Device, n number) (*kernels.Function, error) {
	all, err := loaded.Get(dev, func(*device.Device) (*functions, error) { return new(functions), nil })
	if err != nil {
		return nil, err
	}
	place := &all[k][n.class][bits.TrailingZeros(uint(n.bytes))]
	if f := place.Load(); f != nil {
		return f, nil
	}
	file, name := k.named(n)
	code, err := codes.ReadFile("code/" + file + ".ptx")
	if err != nil {
		return nil, fmt.Errorf("no kernel %s: %w", name, err)
	}
	module, err := kernels.LoadCached(dev, code)
	if err != nil {
		return nil, err
	}
	f, err := module.Function(name)
	if err == nil {
		place.Store(f)
	}
	return f, err
}

const (
	histogramThreads = 256
	// residentBlocks is how many blocks a multiprocessor of the largest devices has
	// registers for.
	residentBlocks = 4
	// sharedCounters is how many counters a block has room for, of 4 bytes each, with
	// as many blocks resident.
	sharedCounters = 8192
	// mostCopies is one for each warp.
	mostCopies = histogramThreads / 32
	// aloneBytes is how much of a column one block counts by itself, which needs no
	// memset of the counts.
	aloneBytes = 64 << 10
)

// copies returns how many times a block has each counter, so that fewer threads meet
// in one; zero where there is no room for one.
func (b bins) copies() int {
	copies := 0
	for n := 1; n <= mostCopies && n*b.count <= sharedCounters; n *= 2 {
		// More than a kilobyte or so of each only takes longer to add up.
		if n == 1 || b.count <= 1024 {
			copies = n
		}
	}
	return copies
}

func (b bins) launch(ctx context.Context, call op.Call, n number, in input, counts memory.Slice[int64]) error {
	which := histogramReal
	if b.how <= wholeUnsigned {
		which = histogramWhole
	}
	f, err := which.function(call.Stream.Device(), n)
	if err != nil {
		return err
	}
	copies := b.copies()
	// Each warp of a block takes this much at a time.
	const blockBytes = histogramThreads * 16 * 4
	blocks := min(int(in.values.Bytes()/blockBytes)+1, max(call.Stream.Device().Info().Multiprocessors, 1)*residentBlocks)
	if copies > 0 && in.values.Bytes() <= aloneBytes {
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
		counts, in.values, in.valid, uint64(in.bit), in.counted, int64(in.rows),
		kernels.Struct(uint32(b.how), uint32(b.count), uint32(copies), clamp, b.a, b.b, b.c, b.reciprocal(n), edges))
	return errors.Join(err, release())
}

// reciprocal is what the kernel divides by the width of whole bins with.
func (b bins) reciprocal(n number) uint64 {
	switch {
	case b.how > wholeUnsigned:
		return 0
	case n.bytes <= 4:
		return math.MaxUint32 / b.c
	}
	return math.MaxUint64 / b.c
}

// upload takes the edges to the device.
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
