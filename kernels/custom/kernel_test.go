package custom_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/nvrtc"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/custom"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/memory"
)

// muladd writes a · b + 1 for each row.
const muladd = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry muladd(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %d<10>;
	.reg .f64 %f<5>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	cvt.u64.u32 %d0, %r3;
	ld.param.u64 %d1, [n];
	setp.ge.u64 %p0, %d0, %d1;
	@%p0 ret;
	shl.b64 %d2, %d0, 3;
	ld.param.u64 %d3, [a];
	add.u64 %d4, %d3, %d2;
	ld.global.f64 %f0, [%d4];
	ld.param.u64 %d5, [b];
	add.u64 %d6, %d5, %d2;
	ld.global.f64 %f1, [%d6];
	mov.f64 %f2, 0d3FF0000000000000;
	mul.rn.f64 %f3, %f0, %f1;
	add.rn.f64 %f4, %f3, %f2;
	ld.param.u64 %d7, [out];
	add.u64 %d8, %d7, %d2;
	st.global.f64 [%d8], %f4;
	ret;
}
`

// flags writes whether a bool is null, as a bool, and null for false.
const flags = `
.version 7.0
.target sm_70
.address_size 64
.visible .entry flags(.param .u64 out, .param .u64 out_valid, .param .u64 a, .param .u64 a_valid, .param .u64 n)
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %d<10>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	cvt.u64.u32 %d0, %r3;
	ld.param.u64 %d1, [n];
	setp.ge.u64 %p0, %d0, %d1;
	@%p0 ret;
	ld.param.u64 %d2, [a];
	add.u64 %d2, %d2, %d0;
	ld.global.u8 %r4, [%d2];
	ld.param.u64 %d3, [a_valid];
	add.u64 %d3, %d3, %d0;
	ld.global.u8 %r5, [%d3];
	setp.eq.u32 %p1, %r5, 0;
	selp.u32 %r6, 1, 0, %p1;
	selp.u32 %r7, 1, %r4, %p1;
	ld.param.u64 %d4, [out];
	add.u64 %d4, %d4, %d0;
	st.global.u8 [%d4], %r6;
	ld.param.u64 %d5, [out_valid];
	add.u64 %d5, %d5, %d0;
	st.global.u8 [%d5], %r7;
	ret;
}
`

var floats = custom.Signature{Arguments: []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64}, Result: arrow.PrimitiveTypes.Float64}

// withHost computes muladd on the host.
func withHost(_ context.Context, list []arrow.Array) (arrow.Array, error) {
	a, b := list[0].(*array.Float64), list[1].(*array.Float64)
	builder := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	for i := range a.Len() {
		if a.IsNull(i) || b.IsNull(i) {
			builder.AppendNull()
		} else {
			builder.Append(float64(a.Value(i)*b.Value(i)) + 1)
		}
	}
	return builder.NewArray(), nil
}

// table uploads columns a and b of n rows, a quarter of them null.
func table(t *testing.T, mgr *memory.Manager, n int) (*buffer.Buffer, arrow.Record) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "t", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil))
	defer builder.Release()
	for range n {
		for i := range 2 {
			if random.IntN(4) == 0 {
				builder.Field(i).AppendNull()
			} else {
				builder.Field(i).(*array.Float64Builder).Append(random.NormFloat64())
			}
		}
		switch random.IntN(3) {
		case 0:
			builder.Field(2).AppendNull()
		case 1:
			builder.Field(2).(*array.BooleanBuilder).Append(false)
		default:
			builder.Field(2).(*array.BooleanBuilder).Append(true)
		}
	}
	record := builder.NewRecord()
	t.Cleanup(record.Release)
	loaded, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, loaded.Release()) })
	return loaded, record
}

// evaluate returns the only result of an expression.
func evaluate(t *testing.T, table *buffer.Buffer, e expr.Expr) (arrow.Array, error) {
	columns, err := expr.Evaluate(t.Context(), table, []expr.Expr{e})
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, columns[0].Release()) }()
	values, err := columns[0].Array(t.Context())
	require.NoError(t, err)
	t.Cleanup(values.Release)
	return values, nil
}

func TestKernel(t *testing.T) {
	f := custom.OnDevice("muladd", floats, custom.Kernel{PTX: muladd, Entry: "muladd", Host: withHost})
	seeing := custom.Signature{Arguments: []arrow.DataType{arrow.FixedWidthTypes.Boolean}, Result: arrow.FixedWidthTypes.Boolean, SeesNulls: true}
	g := custom.OnDevice("flags", seeing, custom.Kernel{PTX: flags, Entry: "flags", Threads: 32})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{0, 1, 255, 256, 257, 1000} {
			loaded, record := table(t, mgr, n)
			got, err := evaluate(t, loaded, expr.Apply(f, expr.Col("a"), expr.Col("b")))
			require.NoError(t, err)
			want, err := withHost(t.Context(), record.Columns())
			require.NoError(t, err)
			assert.True(t, array.Equal(want, got), "%v\n%v", want, got)
			want.Release()
			if dev.Kind() == device.Host {
				continue
			}
			got, err = evaluate(t, loaded, expr.Apply(g, expr.Col("t")))
			require.NoError(t, err)
			in := record.Column(2).(*array.Boolean)
			for i := range n {
				switch {
				case in.IsNull(i):
					assert.True(t, got.IsValid(i) && got.(*array.Boolean).Value(i))
				case in.Value(i):
					assert.True(t, got.IsValid(i) && !got.(*array.Boolean).Value(i))
				default:
					assert.True(t, got.IsNull(i))
				}
			}
		}
	})
}

func TestKernelOfFilteredRows(t *testing.T) {
	f := custom.OnDevice("muladd", floats, custom.Kernel{PTX: muladd, Entry: "muladd", Host: withHost})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		loaded, _ := table(t, mgr, 300)
		positive := filtered(t, loaded, expr.Col("a").Gt(expr.Lit(0.0)))
		got, err := evaluate(t, positive, expr.Apply(f, expr.Col("a"), expr.Col("b")))
		require.NoError(t, err)
		arguments, err := positive.Record(t.Context())
		require.NoError(t, err)
		defer arguments.Release()
		want, err := withHost(t.Context(), arguments.Columns())
		require.NoError(t, err)
		defer want.Release()
		assert.True(t, array.Equal(want, got), "%v\n%v", want, got)
	})
}

// TestKernelErrors runs where kernels run; a fault makes a GPU's context unusable and is left to the emulator.
func TestKernelErrors(t *testing.T) {
	dev := kerneltest.Open(t, kerneltest.Options{Tolerant: true})
	mgr := kerneltest.Manager(t, dev, memory.Options{})
	loaded, _ := table(t, mgr, 300)
	run := func(k custom.Kernel, s custom.Signature, operands ...string) error {
		var list []expr.Expr
		for _, name := range operands {
			list = append(list, expr.Col(name))
		}
		_, err := evaluate(t, loaded, expr.Apply(custom.OnDevice("f", s, k), list...))
		var failure *custom.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, "f", failure.Function)
		return err
	}
	assert.ErrorIs(t, run(custom.Kernel{PTX: muladd, Entry: "other"}, floats, "a", "b"), custom.ErrEntry)
	assert.ErrorIs(t, run(custom.Kernel{PTX: "nonsense", Entry: "f"}, floats, "a", "b"), backend.ErrInvalidCode)
	unary := custom.Signature{Arguments: floats.Arguments[:1], Result: floats.Result}
	assert.ErrorContains(t, run(custom.Kernel{PTX: muladd, Entry: "muladd"}, unary, "a"), "argument")
	endless := custom.Signature{Arguments: floats.Arguments, Result: floats.Result, SeesNulls: true}
	assert.Error(t, run(custom.Kernel{PTX: muladd, Entry: "muladd"}, endless, "a", "b"))
	narrow := custom.Signature{Arguments: []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Boolean}, Result: floats.Result}
	err := run(custom.Kernel{PTX: muladd, Entry: "muladd"}, narrow, "t", "t") // it reads eight bytes of one
	var fault *kerneltest.Fault
	require.ErrorAs(t, err, &fault)
	assert.ErrorIs(t, err, kerneltest.ErrAddress)
	if os.Getenv(nvrtc.PathVariable) == missingLibrary {
		assert.ErrorIs(t, run(custom.Kernel{Source: "extern", Entry: "f"}, floats, "a", "b"), nvrtc.ErrNotAvailable)
	}
}

const missingLibrary = "/nonexistent/libnvrtc.so"

// TestSourceWithoutCompiler runs TestKernelErrors in a process of its own, because a process opens the library once.
func TestSourceWithoutCompiler(t *testing.T) {
	command := exec.Command(os.Args[0], "-test.run=^TestKernelErrors$", "-test.v")
	command.Env = append(os.Environ(), nvrtc.PathVariable+"="+missingLibrary)
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestKernelErrors")
}

func TestFunctionsThatDoNotFit(t *testing.T) {
	for text, f := range map[string]*custom.Function{
		"the name is empty":          custom.OnHost("", floats, withHost),
		"no arguments are declared":  custom.OnHost("f", custom.Signature{Result: floats.Result}, withHost),
		"the type of argument 1 is":  custom.OnHost("f", custom.Signature{Arguments: []arrow.DataType{nil}, Result: floats.Result}, withHost),
		"the type of the result is":  custom.OnHost("f", custom.Signature{Arguments: floats.Arguments}, withHost),
		"the Go function is nil":     custom.OnHost("f", floats, nil),
		"both PTX and Source":        custom.OnDevice("f", floats, custom.Kernel{Entry: "f"}),
		"in Entry is empty":          custom.OnDevice("f", floats, custom.Kernel{PTX: muladd}),
		"-1 threads":                 custom.OnDevice("f", floats, custom.Kernel{PTX: muladd, Entry: "f", Threads: -1}),
		"argument 1 is utf8, and":    custom.OnDevice("f", custom.Signature{Arguments: []arrow.DataType{arrow.BinaryTypes.String}, Result: floats.Result}, custom.Kernel{PTX: muladd, Entry: "f"}),
		"the result is utf8, and":    custom.OnDevice("f", custom.Signature{Arguments: floats.Arguments, Result: arrow.BinaryTypes.String}, custom.Kernel{PTX: muladd, Entry: "f"}),
		"1 arguments, expected 2":    nil,
		"argument 2 is bool, expect": nil,
	} {
		operands := floats.Arguments
		if f == nil {
			f, operands = custom.OnHost("f", floats, withHost), []arrow.DataType{floats.Result, arrow.FixedWidthTypes.Boolean}
			if text[0] == '1' {
				operands = operands[:1]
			}
		}
		_, err := f.Result(operands)
		var failure *custom.Error
		require.ErrorAs(t, err, &failure)
		assert.ErrorContains(t, err, text)
		assert.True(t, errors.Is(err, device.ErrInvalidValue) || errors.Is(err, device.ErrNotSupported) || errors.Is(err, expr.ErrType), "%v", err)
	}
}

// TestSource compiles CUDA C++ on a GPU with NVRTC.
func TestSource(t *testing.T) {
	f := custom.OnDevice("muladd", floats, custom.Kernel{Entry: "muladd", Source: `
extern "C" __global__ void muladd(double *out, const double *a, const double *b, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __dadd_rn(__dmul_rn(a[i], b[i]), 1);
}`})
	devicetest.EachGPU(t, func(t *testing.T, dev *device.Device) {
		loaded, record := table(t, devicetest.Manager(t, dev, memory.Options{}), 1000)
		got, err := evaluate(t, loaded, expr.Apply(f, expr.Col("a"), expr.Col("b")))
		if errors.Is(err, nvrtc.ErrNotAvailable) {
			t.Skip(err)
		}
		require.NoError(t, err)
		want, err := withHost(t.Context(), record.Columns())
		require.NoError(t, err)
		defer want.Release()
		assert.True(t, array.Equal(want, got), "%v\n%v", want, got)
		_, err = evaluate(t, loaded, expr.Apply(custom.OnDevice("bad", floats, custom.Kernel{Source: "oops", Entry: "bad"}), expr.Col("a"), expr.Col("b")))
		require.ErrorIs(t, err, nvrtc.ErrSource)
	})
}
