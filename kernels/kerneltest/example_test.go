package kerneltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/memory"
)

// square squares numbers in place, one in each thread. It does not know how many there are.
const square = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry square(.param .u64 numbers)
{
	.reg .b32 %r<2>;
	.reg .b64 %d<3>;
	ld.param.u64 %d0, [numbers];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d2, %d0, %d1;
	ld.global.u32 %r1, [%d2];
	mul.lo.u32 %r1, %r1, %r1;
	st.global.u32 [%d2], %r1;
	ret;
}
`

// launch squares numbers on the device with a block of threads, in the way of a program with a GPU.
func launch(mgr *memory.Manager, numbers []uint32, threads uint32) error {
	ctx := context.Background()
	slice, err := memory.NewSlice[uint32](mgr, len(numbers), memory.AllocateOptions{})
	if err != nil {
		return err
	}
	defer slice.Release()
	if err := slice.Upload(ctx, nil, numbers); err != nil {
		return err
	}
	module, err := kernels.LoadCached(mgr.Device(), square, kernels.LoadOptions{})
	if err != nil {
		return err
	}
	function, err := module.Function("square")
	if err != nil {
		return err
	}
	if err := function.Launch(nil, device.Dim3{}, device.Dim3{X: threads}, 0, slice); err != nil {
		return err
	}
	return slice.Download(ctx, nil, numbers)
}

// A kernel runs without a GPU, and its result is checked.
func Example() {
	t := newExample() // the *testing.T of a test
	defer t.end()

	dev := kerneltest.Open(t)
	mgr := kerneltest.Manager(t, dev, memory.Options{})
	numbers := []uint32{1, 2, 3, 4}
	err := launch(mgr, numbers, 4)
	fmt.Println(dev.Info().Name, numbers, err)
	// Output: PTX emulator [1 4 9 16] <nil>
}

// A launch with more threads than there are numbers reads behind the memory. A GPU might not
// report it.
func ExampleFault() {
	t := newExample()
	defer t.end()

	dev := kerneltest.Open(t, kerneltest.Options{Tolerant: true}) // the test expects the fault
	mgr := kerneltest.Manager(t, dev, memory.Options{})
	err := launch(mgr, []uint32{1, 2, 3, 4}, 5)
	var fault *kerneltest.Fault
	if errors.As(err, &fault) && errors.Is(err, kerneltest.ErrAddress) {
		fmt.Printf("%s, thread %d: %s\n", fault.Kernel, fault.Thread, fault.Instruction)
	}
	// Output: square, thread 4: ld.global.u32 %r1, [%d2]
}

// example stands in for a test.
type example struct {
	testing.TB
	cleanup []func()
}

func newExample() *example                        { return &example{} }
func (e *example) Helper()                        {}
func (e *example) Cleanup(f func())               { e.cleanup = append(e.cleanup, f) }
func (e *example) Errorf(format string, a ...any) { fmt.Printf(format+"\n", a...) }
func (e *example) FailNow()                       {}

func (e *example) end() {
	for len(e.cleanup) > 0 {
		last := len(e.cleanup) - 1
		e.cleanup[last]()
		e.cleanup = e.cleanup[:last]
	}
}
