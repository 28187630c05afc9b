package text

import (
	"embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda ../include/strings.cuh
//go:embed cuda/*.ptx.packed
var code embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const threads = 256

var block256 = device.Dim3{X: threads}
