package decompress

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// fragmentBytes is the length of the parts of a page that encoders of Snappy compress by themselves. Tests set it.
var fragmentBytes uint32 = 64 << 10

const (
	// fragmentSize is the size of Fragment of snappy.cu.
	fragmentSize = 32
	// dividedPage is the average length from which on pages are divided, and dividedPages the number of pages up to
	// which they are: more of them keep all multiprocessors busy.
	dividedPage, dividedPages = 256 << 10, 4096
)

// hasFragments reports whether the fragments of pages are decompressed at the same time. Tests replace it.
var hasFragments = func(size Size) bool {
	return size.Pages < dividedPages && size.Length/uint64(size.Pages) >= dividedPage
}

// fragments is the number of fragments of pages at most.
func (s Size) fragments() uint64 { return s.Length/uint64(fragmentBytes) + uint64(s.Pages) }

func snappyMemory(size Size) []uint64 { return []uint64{fragmentSize * size.fragments(), 4} }

func snappyScratch(size Size) uint64 {
	if size.Pages == 0 || !hasFragments(size) {
		return 0
	}
	bytes, err := op.Bytes(snappyMemory(size)...)
	if err != nil {
		return 0 // Launch returns the error
	}
	return bytes
}

// launchSnappy decompresses long pages by their fragments, which need a list. If there is no memory for it, or the
// pages are short, it decompresses whole pages.
func launchSnappy(call *op.Call, batch Batch) (err error) {
	if !hasFragments(batch.Size) {
		return launchParts(call, batch, parts{size: batch.Size})
	}
	list, scratch, err := call.Scratch(snappyMemory(batch.Size)...)
	switch {
	case errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory):
		return launchParts(call, batch, parts{size: batch.Size})
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, list.Release()) }()
	if err := launchFragments(call, batch, scratch); err != nil {
		return err
	}
	return launchParts(call, batch, parts{size: batch.Size, isRest: 1})
}

// launchFragments decompresses the fragments of pages. Pages that have none get the status undivided of snappy.cu.
func launchFragments(call *op.Call, batch Batch, scratch []memory.Slice[uint8]) error {
	if err := errors.Join(scratch[0].Fill(call.Stream, 0), scratch[1].Fill(call.Stream, 0)); err != nil {
		return err
	}
	f, err := call.Kernel(&set, "snappy", "snappy_divide")
	if err != nil {
		return err
	}
	fragments := batch.Size.fragments()
	err = f.Launch(call.Stream, device.Dim3{X: uint32(batch.Size.Pages)}, device.Dim3{X: block}, 0, batch.Pages,
		batch.Input, batch.Input.Bytes(), batch.Output.Bytes(), batch.Status,
		kernels.Struct(scratch[0], scratch[1], uint32(fragments), fragmentBytes))
	if err != nil {
		return err
	}
	return launchParts(call, batch, parts{fragments: scratch[0], size: Size{Pages: int(fragments), Length: batch.Size.Length}})
}

// parts is what a launch decompresses: Parts of snappy.cu.
type parts struct {
	fragments memory.Slice[uint8]
	isRest    uint32
	size      Size
}

// launchParts decompresses pages or fragments by a warp or a block each.
func launchParts(call *op.Call, batch Batch, p parts) error {
	entry, threads := form("snappy", p.size)
	f, err := call.Kernel(&set, "snappy", entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, device.Dim3{X: uint32(p.size.Pages)}, device.Dim3{X: threads}, 0,
		kernels.Struct(batch.Pages, p.fragments, p.isRest),
		batch.Input, batch.Input.Bytes(), batch.Output, batch.Output.Bytes(), batch.Status)
}
