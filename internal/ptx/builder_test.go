package ptx_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// twice returns its operand doubled, and plus one.
const twice = `.func (.param .align 8 .b8 result[16]) twice(.param .b64 operand)
{
	.reg .b64 %d<3>;
	ld.param.b64 %d0, [operand];
	add.s64 %d1, %d0, %d0;
	add.s64 %d2, %d0, 1;
	st.param.b64 [result+0], %d1;
	st.param.b64 [result+8], %d2;
	ret;
}
`

// module has a kernel that sums twice(i) up to a limit, which is in a struct.
func module() string {
	b := ptx.New("k")
	b.Comment("sum %s", "it up")
	out := b.Op(ptx.Word64, "ld.param.u64", "[out]")
	limit := b.Op(ptx.Word64, "ld.param.u64", "[limits+8]")
	sum, i := b.Op(ptx.Word64, "mov.u64", ptx.Word64.Zero()), b.Op(ptx.Word64, "mov.u64", "0")
	loop, end := b.Label(), b.Label()
	b.Place(loop)
	b.Branch(b.Op(ptx.Predicate, "setp.ge.u64", i, limit), end)
	results := []ptx.Register{b.Register(ptx.Word64), b.Register(ptx.Word64)}
	b.Call("twice", results, i)
	b.Move("add.s64", sum, sum, results[0])
	b.Move("mov.u64", i, results[1])
	b.Branch("", loop)
	b.Place(end)
	b.Void("st.global.u64", "["+out+"]", sum)
	b.Emit("ret")
	return ptx.Module(twice, ptx.Kernel{Name: "sum", Threads: 32, Blocks: 1, Body: b, Parameters: []ptx.Parameter{
		{Name: "out", Bytes: 8}, {Name: "limits", Bytes: 16, Struct: true},
	}}.String())
}

func TestModuleRuns(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		loaded, err := kernels.LoadCached(dev, module())
		require.NoError(t, err)
		function, err := loaded.Function("sum")
		require.NoError(t, err)
		out, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, out.Release()) }()
		require.NoError(t, function.Launch(nil, device.Dim3{X: 1}, device.Dim3{X: 1}, 0, out, kernels.Struct(int64(-1), int64(10))))
		got := make([]int64, 1)
		require.NoError(t, out.Download(t.Context(), nil, got))
		require.Equal(t, []int64{90}, got)
	})
}

func TestClasses(t *testing.T) {
	for class, want := range map[ptx.Class][2]string{
		ptx.Predicate: {"pred", "0"}, ptx.Word16: {"b16", "0"}, ptx.Word32: {"b32", "0"}, ptx.Word64: {"b64", "0"},
		ptx.Float32: {"f32", "0f00000000"}, ptx.Float64: {"f64", "0d0000000000000000"},
	} {
		require.Equal(t, want, [2]string{class.Untyped(), string(class.Zero())})
	}
}

func Example() {
	b := ptx.New("x")
	sum := b.Op(ptx.Word32, "add.s32", "%r1", "%r2")
	b.Void("st.global.u32", "[%rd1]", sum)
	fmt.Print(b.Scope())
	// Output:
	// {
	// 	.reg .b32 %x_r<1>;
	// 	add.s32 %x_r0, %r1, %r2;
	// 	st.global.u32 [%rd1], %x_r0;
	// }
}
