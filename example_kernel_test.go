package gpuframe_test

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
)

// negatePTX is a kernel that negates 64-bit integers.
const negatePTX = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry negate(.param .u64 out, .param .u64 in, .param .u64 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %d<9>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	cvt.u64.u32 %d0, %r3;
	ld.param.u64 %d1, [n];
	setp.ge.u64 %p0, %d0, %d1;
	@%p0 ret;
	shl.b64 %d2, %d0, 3;
	ld.param.u64 %d3, [in];
	add.u64 %d4, %d3, %d2;
	ld.global.u64 %d5, [%d4];
	neg.s64 %d6, %d5;
	ld.param.u64 %d7, [out];
	add.u64 %d8, %d7, %d2;
	st.global.u64 [%d8], %d6;
	ret;
}
`

// negate is a function of the kernel, and of Go on the host.
var negate = gpuframe.KernelFunc("negate", gpuframe.Signature{
	Arguments: []arrow.DataType{arrow.PrimitiveTypes.Int64}, Result: arrow.PrimitiveTypes.Int64, Pure: true,
}, gpuframe.Kernel{PTX: negatePTX, Entry: "negate", Host: func(_ context.Context, list []arrow.Array) (arrow.Array, error) {
	in, builder := list[0].(*array.Int64), array.NewInt64Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	for i := range in.Len() {
		if in.IsNull(i) {
			builder.AppendNull()
		} else {
			builder.Append(-in.Value(i))
		}
	}
	return builder.NewArray(), nil
}})

// A CUDA kernel computes a column on the engine's stream. Its parameters are the results, the arguments and the number of
// rows. On a host engine the function in Host does. A test runs the kernel without a GPU on a device of package
// kernels/kerneltest, as gpuframe.Open(gpuframe.Device(kerneltest.Open(t).Name())).
func ExampleKernelFunc() {
	gpu := hostEngine()
	defer gpu.Close()
	show(gpuframe.From(gpu, exampleSales()).Select(gpuframe.Col("city"), negate.Of(gpuframe.Col("qty").Cast(arrow.PrimitiveTypes.Int64))).Head(2))
	// Output:
	// city,negate
	// Oslo,-2
	// Bern,-1
}
