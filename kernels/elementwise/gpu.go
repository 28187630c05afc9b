package elementwise

import (
	_ "embed"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/add.ptx
var code string

const (
	threads = 256
	// bytesEach is the size of each input that a thread loads per iteration.
	bytesEach = 16
	// blocksPerMultiprocessor fills the largest multiprocessors, which have 2,048
	// threads; longer slices take more iterations of the kernel's loop.
	blocksPerMultiprocessor = 2048 / threads
)

func addOnGPU[T Number](stream *device.Stream, out, a, b memory.Slice[T]) error {
	dev := stream.Device()
	module, err := kernels.LoadCached(dev, code)
	if err != nil {
		return err
	}
	function, err := module.Function(addName[T]())
	if err != nil {
		return err
	}
	grid := kernels.GridFor(int(out.Bytes()/bytesEach), threads)
	grid.X = min(grid.X, uint32(dev.Info().Multiprocessors*blocksPerMultiprocessor))
	return function.Launch(stream, grid, device.Dim3{X: threads}, 0, out, a, b, uint64(out.Len()))
}

func addName[T Number]() string {
	var zero T
	switch any(zero).(type) {
	case float32:
		return "add_f32"
	case float64:
		return "add_f64"
	}
	return "add_i64"
}
