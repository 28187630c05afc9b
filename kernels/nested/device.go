package nested

import (
	"embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx.packed
var code embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const (
	threads = 256
	// tileElements is the number of elements that a block of expand_lists writes at a time:
	// see lists.cu.
	tileElements = 2048
)

// launch launches a kernel with a thread for each of n things.
func launch(call *op.Call, entry string, n int, arguments ...any) error {
	return launchIn(call, "lists", entry, n, arguments...)
}

// launchIn is launch for a kernel of another file.
func launchIn(call *op.Call, file, entry string, n int, arguments ...any) error {
	return launchTiles(call, file, entry, n, threads, arguments...)
}

// launchTiles launches a kernel with a block for each tile of n things.
func launchTiles(call *op.Call, file, entry string, n, tile int, arguments ...any) error {
	f, err := call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, kernels.GridFor(n, tile), device.Dim3{X: threads}, 0, arguments...)
}
