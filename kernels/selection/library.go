package selection

import (
	"embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:embed cuda/*.ptx
var code embed.FS

var (
	// compactKernels keep the rows of filters. Each file is compiled as a whole.
	compactKernels = kernelset.Set{Files: code, Directory: "cuda"}
	// gatherKernels move rows and elements. Each kernel of a file is compiled
	// separately, because the kernels differ in the indices they take and few programs
	// need more than one.
	gatherKernels = kernelset.Set{Files: code, Directory: "cuda", Apart: true}
)

const blockThreads = 256

// launch enqueues a kernel with one block per tile of blockThreads × each elements.
func launch(call *op.Call, file, name string, elements, each int, arguments ...any) error {
	f, err := call.Kernel(&gatherKernels, file, name)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, kernels.GridFor(elements, blockThreads*each), device.Dim3{X: blockThreads}, 0, arguments...)
}
