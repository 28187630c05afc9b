package selection

import (
	"embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx*
var code embed.FS

// The files of kernels, one for each operator.
const (
	takeFile    = "take"
	rangesFile  = "ranges" // strings and lists
	chooseFile  = "choose"
	concatFile  = "concat"
	compactFile = "compact"
	maskFile    = "compact_mask"
	whereFile   = "compact_where" // templates with holes for a predicate
)

var (
	// perKernel compiles each kernel of a file separately: the kernels of a file differ in
	// widths and indices, and few programs need more than some of them.
	perKernel = kernelset.Set{Files: code, Directory: "cuda", Apart: true}
	// perFile compiles a file as a whole: maskFile, whose kernels run one after
	// the other.
	perFile = kernelset.Set{Files: code, Directory: "cuda"}
)

const blockThreads = 256

// launch enqueues a kernel with one block per tile of blockThreads × each elements.
func launch(call *op.Call, file, name string, elements, each int, arguments ...any) error {
	f, err := call.Kernel(&perKernel, file, name)
	if err != nil {
		return err
	}
	return f.Launch(call.Stream, kernels.GridFor(elements, blockThreads*each), device.Dim3{X: blockThreads}, 0, arguments...)
}
