package decompress

import (
	"embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

//go:embed cuda/*.ptx.gz
var files embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: files, Directory: "cuda"}

// warp is the number of threads that decompress a page.
const warp = 32

// kernel returns the launch of a codec that is one kernel, with a warp for each page.
func kernel(file, entry string) func(*op.Call, Batch) error {
	return func(call *op.Call, batch Batch) error {
		f, err := call.Kernel(&set, file, entry)
		if err != nil {
			return err
		}
		grid := device.Dim3{X: uint32(batch.Size.Pages)}
		return f.Launch(call.Stream, grid, device.Dim3{X: warp}, 0, batch.Pages,
			batch.Input, batch.Input.Bytes(), batch.Output, batch.Output.Bytes(), batch.Status)
	}
}
