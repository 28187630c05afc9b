package kerneltest

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// bench is an emulated device with its driver.
type bench struct {
	t   testing.TB
	dev *device.Device
	e   *emulator
}

func open(t testing.TB, options Options) *bench {
	t.Helper()
	dev := Open(t, options)
	return &bench{t: t, dev: dev, e: dev.Driver().(*emulator)}
}

const header = ".version 7.0\n.target sm_70\n.address_size 64\n"

// load compiles a kernel called k.
func (b *bench) load(text string) (backend.Function, error) {
	b.t.Helper()
	if !strings.Contains(text, ".version") {
		text = header + text
	}
	handle, err := b.e.ModuleLoad([]byte(text))
	if err != nil {
		return 0, err
	}
	b.t.Cleanup(func() { require.NoError(b.t, b.e.ModuleUnload(handle)) })
	return b.e.ModuleFunction(handle, "k")
}

// words allocates device memory and fills it with 64-bit values.
func (b *bench) words(values ...uint64) backend.Pointer {
	b.t.Helper()
	pointer, err := b.e.Alloc(uint64(len(values) * 8))
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, b.e.Free(pointer)) })
	require.NoError(b.t, b.e.CopyToDevice(pointer, unsafe.Pointer(&values[0]), uint64(len(values)*8)))
	return pointer
}

func (b *bench) read(pointer backend.Pointer, n int) []uint64 {
	b.t.Helper()
	values := make([]uint64, n)
	require.NoError(b.t, b.e.CopyToHost(unsafe.Pointer(&values[0]), pointer, uint64(n*8)))
	return values
}

func (b *bench) launch(f backend.Function, grid, block uint32, shared uint32, arguments ...uint64) error {
	starts := make([]uint32, len(arguments))
	for i := range starts {
		starts[i] = uint32(i)
	}
	return b.e.Launch(f, backend.LaunchConfig{Grid: backend.Dim3{X: grid}, Block: backend.Dim3{X: block}, SharedBytes: shared}, arguments, starts)
}

// each runs code for each row of operands. The code reads %a, %b and %c and writes %d,
// all .b64, and may use %p0-3, %h0-7, %r0-7, %q0-7, %f0-7 and %e0-7.
func (b *bench) each(code string, operands [][3]uint64) []uint64 {
	b.t.Helper()
	f, err := b.load(fmt.Sprintf(perRow, code))
	require.NoError(b.t, err)
	var flat []uint64
	for _, row := range operands {
		flat = append(flat, row[:]...)
	}
	in, out := b.words(flat...), b.words(make([]uint64, len(operands))...)
	n := uint64(len(operands))
	require.NoError(b.t, b.launch(f, uint32(n+63)/64, 64, 0, uint64(in), uint64(out), n))
	return b.read(out, len(operands))
}

const perRow = `
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 n)
{
	.reg .pred %%over, %%p<4>;
	.reg .b16 %%h<8>;
	.reg .b32 %%r<8>, %%block, %%size, %%thread;
	.reg .b64 %%q<8>, %%a, %%b, %%c, %%d, %%in, %%out, %%n, %%i, %%t;
	.reg .f32 %%f<8>;
	.reg .f64 %%e<8>;
	mov.u32 %%block, %%ctaid.x;
	mov.u32 %%size, %%ntid.x;
	mov.u32 %%thread, %%tid.x;
	mad.lo.u32 %%thread, %%block, %%size, %%thread;
	cvt.u64.u32 %%i, %%thread;
	ld.param.u64 %%n, [n];
	setp.ge.u64 %%over, %%i, %%n;
	@%%over bra done;
	ld.param.u64 %%in, [in];
	ld.param.u64 %%out, [out];
	mad.lo.u64 %%t, %%i, 24, %%in;
	ld.global.u64 %%a, [%%t];
	ld.global.u64 %%b, [%%t+8];
	ld.global.u64 %%c, [%%t+16];
	{
	%s
	}
	shl.b64 %%t, %%i, 3;
	add.u64 %%out, %%out, %%t;
	st.global.u64 [%%out], %%d;
done:
	ret;
}
`
