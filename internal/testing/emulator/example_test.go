package emulator_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/emulator"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

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

// example implements testing.TB, because an example has no test.
type example struct {
	testing.TB
	cleanup []func()
}

func (e *example) Helper()                        {}
func (e *example) Cleanup(f func())               { e.cleanup = append(e.cleanup, f) }
func (e *example) Errorf(format string, a ...any) { fmt.Printf(format+"\n", a...) }
func (e *example) FailNow()                       {}

// Example runs a kernel without a GPU.
func Example() {
	t := &example{}
	dev := emulator.Open(t)
	fmt.Println(run(context.Background(), dev))
	for _, f := range t.cleanup {
		f()
	}
	// Output: [1 4 9 16] <nil>
}

func run(ctx context.Context, dev *device.Device) ([]uint32, error) {
	mgr, err := memory.NewManager(dev, memory.Options{Resource: memory.NewDriverResource(dev)})
	if err != nil {
		return nil, err
	}
	defer mgr.Close()
	numbers, err := memory.NewSlice[uint32](mgr, 4, memory.AllocateOptions{})
	if err != nil {
		return nil, err
	}
	defer numbers.Release()
	module, err := kernels.Load(dev, square)
	if err != nil {
		return nil, err
	}
	defer module.Close()
	function, err := module.Function("square")
	if err != nil {
		return nil, err
	}
	if err := numbers.Upload(ctx, nil, []uint32{1, 2, 3, 4}); err != nil {
		return nil, err
	}
	if err := function.Launch(nil, device.Dim3{}, device.Dim3{X: 4}, 0, numbers); err != nil {
		return nil, err
	}
	got := make([]uint32, 4)
	if err := numbers.Download(ctx, nil, got); err != nil {
		return nil, err
	}
	return got, nil
}
