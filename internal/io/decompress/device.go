package decompress

import (
	"embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

//go:embed cuda/*.ptx.packed
var files embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: files, Directory: "cuda"}

const (
	// warp is the number of threads that decompress a page, block that for a long page.
	warp, block = 32, 512
)

// kernel returns the launch of a codec that is one kernel, with a number of threads for each page.
func kernel(file, entry string, threads uint32) func(*op.Call, Batch) error {
	return func(call *op.Call, batch Batch) error {
		f, err := call.Kernel(&set, file, entry)
		if err != nil {
			return err
		}
		grid := device.Dim3{X: uint32(batch.Size.Pages)}
		return f.Launch(call.Stream, grid, device.Dim3{X: threads}, 0, batch.Pages,
			batch.Input, batch.Input.Bytes(), batch.Output, batch.Output.Bytes(), batch.Status)
	}
}

// tokens returns the launch of a codec with kernels of two forms: a warp or a block for each page.
func tokens(codec string) func(*op.Call, Batch) error {
	return func(call *op.Call, batch Batch) error {
		entry, threads := form(codec, batch.Size)
		return kernel(codec, entry, threads)(call, batch)
	}
}

// form returns the kernel of a codec for pages of a size, and its number of threads for each page.
func form(codec string, size Size) (entry string, threads uint32) {
	if hasBlocks(size) {
		return codec + "_block", block
	}
	return codec, warp
}

const (
	// warpPages is the number of pages from which on a warp decompresses each: 32 for each of the 128
	// multiprocessors of a large GPU, the most blocks that it runs at a time.
	warpPages = 4096
	// shortPage is the average length below which a warp decompresses each page: a block would have
	// tokens for few of its warps.
	shortPage = 4 << 10
	// longPage is the average length from which on a block decompresses each page, for any number of
	// pages: on an H200 a warp takes 13 to 27 ms for 1 MiB, so the last pages of a launch would leave
	// most of the GPU idle.
	longPage = 512 << 10
)

// hasBlocks reports whether a block decompresses each page. Tests replace it.
var hasBlocks = func(size Size) bool {
	average := size.Length / uint64(size.Pages)
	return average >= longPage || average >= shortPage && size.Pages < warpPages
}
