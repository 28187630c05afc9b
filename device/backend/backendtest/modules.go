package backendtest

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// addScalar adds a number to each element of an array of 32-bit integers.
const addScalar = `
.version 7.0
.target sm_70
.address_size 64

.visible .entry add_scalar(
	.param .u64 add_scalar_values,
	.param .u32 add_scalar_count,
	.param .u32 add_scalar_scalar
)
{
	.reg .pred %past;
	.reg .b32 %block, %threads, %thread, %index, %count, %scalar, %value;
	.reg .b64 %values, %offset, %element;

	mov.u32         %block, %ctaid.x;
	mov.u32         %threads, %ntid.x;
	mov.u32         %thread, %tid.x;
	mad.lo.u32      %index, %block, %threads, %thread;
	ld.param.u32    %count, [add_scalar_count];
	setp.ge.u32     %past, %index, %count;
	@%past bra      DONE;

	ld.param.u64    %values, [add_scalar_values];
	ld.param.u32    %scalar, [add_scalar_scalar];
	cvta.to.global.u64 %values, %values;
	mul.wide.u32    %offset, %index, 4;
	add.u64         %element, %values, %offset;
	ld.global.u32   %value, [%element];
	add.u32         %value, %value, %scalar;
	st.global.u32   [%element], %value;
DONE:
	ret;
}
`

// badCode is well formed except for an instruction that does not exist.
const badCode = `
.version 7.0
.target sm_70
.address_size 64

.visible .entry bad()
{
	.reg .b32 %value;
	no_such_instruction.u32 %value, %value;
	ret;
}
`

func testModules(t *testing.T, d backend.Device) {
	if d.Info().Kind != backend.CUDA {
		t.Run("NotSupported", func(t *testing.T) { testNoModules(t, d) })
		return
	}
	module, err := d.ModuleLoad([]byte(addScalar))
	require.NoError(t, err)
	defer func() { require.NoError(t, d.ModuleUnload(module)) }()
	function, err := d.ModuleFunction(module, "add_scalar")
	require.NoError(t, err)

	t.Run("BadCode", func(t *testing.T) { testBadCode(t, d) })
	t.Run("Compile", func(t *testing.T) { testCompile(t, d) })
	t.Run("FunctionNotFound", func(t *testing.T) {
		_, err := d.ModuleFunction(module, "no_such_function")
		require.ErrorIs(t, err, backend.ErrNotFound)
	})
	t.Run("FunctionAttribute", func(t *testing.T) { testFunctionAttribute(t, d, function) })
	t.Run("FunctionParameters", func(t *testing.T) { testFunctionParameters(t, d, function) })
	t.Run("Occupancy", func(t *testing.T) {
		blocks, err := d.Occupancy(function, 128, 0)
		require.NoError(t, err)
		require.Positive(t, blocks)
	})
	t.Run("Launch", func(t *testing.T) { testLaunch(t, d, function) })
	t.Run("LaunchRefused", func(t *testing.T) { testLaunchRefused(t, d, function) })
}

func testNoModules(t *testing.T, d backend.Device) {
	_, err := d.ModuleLoad([]byte(addScalar))
	require.ErrorIs(t, err, backend.ErrNotSupported)
	require.ErrorContains(t, err, "CUDA")
	_, err = d.ModuleCompile([]byte(addScalar))
	require.ErrorIs(t, err, backend.ErrNotSupported)
	require.ErrorIs(t, d.ModuleUnload(0), backend.ErrNotSupported)
	_, err = d.ModuleFunction(0, "add_scalar")
	require.ErrorIs(t, err, backend.ErrNotSupported)
	_, err = d.FunctionAttribute(0, backend.FunctionRegisters)
	require.ErrorIs(t, err, backend.ErrNotSupported)
	require.ErrorIs(t, d.FunctionSetAttribute(0, backend.FunctionMaxDynamicSharedBytes, 0), backend.ErrNotSupported)
	_, err = d.FunctionParameters(0)
	require.ErrorIs(t, err, backend.ErrNotSupported)
	_, err = d.Occupancy(0, 128, 0)
	require.ErrorIs(t, err, backend.ErrNotSupported)
	require.ErrorIs(t, d.Launch(0, backend.LaunchConfig{}, nil, nil), backend.ErrNotSupported)
}

func testBadCode(t *testing.T, d backend.Device) {
	_, err := d.ModuleLoad([]byte(badCode))
	require.ErrorIs(t, err, backend.ErrInvalidCode)
	require.ErrorContains(t, err, "no_such_instruction", "the compiler's log is in the error")

	// A damaged cubin would crash drivers, which trust the lengths in it.
	_, err = d.ModuleLoad([]byte("this is not code"))
	require.ErrorIs(t, err, backend.ErrInvalidCode)
}

// testCompile compiles code with one call and loads the result with another.
func testCompile(t *testing.T, d backend.Device) {
	cubin, err := d.ModuleCompile([]byte(addScalar))
	if errors.Is(err, backend.ErrNotSupported) {
		t.Skipf("the device compiles only what it loads: %v", err)
	}
	require.NoError(t, err)
	again, err := d.ModuleCompile([]byte(addScalar + "\x00"))
	require.NoError(t, err)
	assert.Len(t, again, len(cubin), "text that ends with a NUL byte is the same text")
	module, err := d.ModuleLoad(cubin)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.ModuleUnload(module)) }()
	function, err := d.ModuleFunction(module, "add_scalar")
	require.NoError(t, err)
	testLaunch(t, d, function)

	_, err = d.ModuleCompile([]byte(badCode))
	require.ErrorIs(t, err, backend.ErrInvalidCode)
	require.ErrorContains(t, err, "no_such_instruction", "the compiler's log is in the error")
	_, err = d.ModuleCompile(cubin)
	require.ErrorIs(t, err, backend.ErrInvalidValue, "what is compiled already")
	_, err = d.ModuleCompile(nil)
	require.ErrorIs(t, err, backend.ErrInvalidCode)
}

func testFunctionAttribute(t *testing.T, d backend.Device, function backend.Function) {
	for _, attribute := range []backend.FunctionAttribute{
		backend.FunctionRegisters, backend.FunctionMaxThreadsPerBlock, backend.FunctionBinaryVersion,
	} {
		value, err := d.FunctionAttribute(function, attribute)
		require.NoError(t, err)
		assert.Positive(t, value, "attribute %d", attribute)
	}
	require.NoError(t, d.FunctionSetAttribute(function, backend.FunctionMaxDynamicSharedBytes, 4096))
	value, err := d.FunctionAttribute(function, backend.FunctionMaxDynamicSharedBytes)
	require.NoError(t, err)
	assert.Equal(t, 4096, value)
}

func testFunctionParameters(t *testing.T, d backend.Device, function backend.Function) {
	parameters, err := d.FunctionParameters(function)
	if errors.Is(err, backend.ErrNotSupported) {
		t.Skipf("the driver cannot tell: %v", err)
	}
	require.NoError(t, err)
	want := []backend.Parameter{{Offset: 0, Bytes: 8}, {Offset: 8, Bytes: 4}, {Offset: 12, Bytes: 4}}
	require.Equal(t, want, parameters)
}

func testLaunch(t *testing.T, d backend.Device, function backend.Function) {
	const threads, blocks = 128, 50
	const elements = threads * blocks
	const count = elements - 37 // so that the last block has threads without work
	const scalar = 0xFFFFFFF0   // wraps round

	content := pattern(4*elements, 4)
	want := make([]byte, len(content))
	for i := range elements {
		value := binary.NativeEndian.Uint32(content[4*i:])
		if i < count {
			value += scalar
		}
		binary.NativeEndian.PutUint32(want[4*i:], value)
	}
	config := backend.LaunchConfig{Grid: backend.Dim3{X: blocks}, Block: backend.Dim3{X: threads}}
	for _, s := range []backend.Stream{0, newStream(t, d)} {
		config.Stream = s
		p, source, result := allocate(t, d, 4*elements), pinned(t, d, 4*elements), pinned(t, d, 4*elements)
		copy(source, content)
		require.NoError(t, d.CopyToDeviceAsync(p, start(source), 4*elements, s))
		// The scalar is separate from the others: starts, not the order, locates it.
		slots := []uint64{uint64(p), count, 0, scalar}
		require.NoError(t, d.Launch(function, config, slots, []uint32{0, 1, 3}))
		require.NoError(t, d.CopyToHostAsync(start(result), p, 4*elements, s))
		require.NoError(t, d.StreamSynchronize(s))
		requireBytes(t, want, result, "stream %d", s)
	}
}

func testLaunchRefused(t *testing.T, d backend.Device, function backend.Function) {
	slots, starts := []uint64{0, 0, 0}, []uint32{0, 1, 2} // no elements, so no memory is touched
	single := backend.Dim3{X: 1}
	require.NoError(t, d.Launch(function, backend.LaunchConfig{Grid: single, Block: single}, slots, starts))

	err := d.Launch(0, backend.LaunchConfig{Grid: single, Block: single}, slots, starts)
	require.ErrorIs(t, err, backend.ErrInvalidValue, "no function")
	err = d.Launch(function, backend.LaunchConfig{Grid: single, Block: backend.Dim3{X: 1 << 20}}, slots, starts)
	require.ErrorIs(t, err, backend.ErrInvalidValue, "a block of too many threads")

	require.NoError(t, d.Synchronize(), "a refused launch does no harm")
}
