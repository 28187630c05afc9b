package vector

import (
	"embed"

	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx.packed
var code embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

// threads is the number of threads of a block.
const threads = 256
