//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/allocations"
)

func scenarioModules(t *testing.T) {
	d := openFake(t, 0)
	_, err := d.ModuleLoad([]byte(".version 7.0\nno_such_instruction;"))
	var failure *CompileError
	require.ErrorAs(t, err, &failure)
	assert.ErrorIs(t, err, backend.ErrInvalidCode)
	assert.ErrorIs(t, err, CodeInvalidPTX)
	assert.Equal(t, "ptxas fake, line 10; error : Not a name of any known instruction: 'no_such_instruction'\n"+
		"ptxas info : nothing compiled", failure.Log)
	assert.Contains(t, err.Error(), failure.Log)

	assert.Empty(t, logOf(t, func() {
		for _, image := range []string{"", "\x7fELF", "\x7fELF but not a cubin", "\x50\xed\x55\xba"} {
			_, err := d.ModuleLoad([]byte(image))
			assert.ErrorIs(t, err, backend.ErrInvalidCode, "%q", image)
		}
	}), "what is cut short never reaches the driver")

	_, err = d.ModuleCompile([]byte(".version 7.0\nno_such_instruction;"))
	failure = nil
	require.ErrorAs(t, err, &failure)
	assert.ErrorIs(t, err, backend.ErrInvalidCode)
	assert.Contains(t, failure.Log, "no_such_instruction")
	for _, function := range []string{"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete"} {
		t.Setenv("FAKE_FAIL", function+"=2")
		_, err = d.ModuleCompile([]byte(fakeCode))
		assert.ErrorIs(t, err, backend.ErrOutOfMemory)
	}

	t.Setenv("FAKE_FAIL", "cuModuleLoadDataEx=2")
	_, err = d.ModuleLoad([]byte(fakeCode))
	assert.ErrorIs(t, err, backend.ErrOutOfMemory)
	assert.NotErrorAs(t, err, &failure, "a lack of memory is not the code's fault")
	t.Setenv("FAKE_FAIL", "")

	module, err := d.ModuleLoad([]byte(fakeCode))
	require.NoError(t, err)
	for _, name := range []string{"missing", "", "other\x00and more"} {
		_, err := d.ModuleFunction(module, name)
		assert.ErrorIs(t, err, backend.ErrNotFound, "%q", name)
	}
	function, err := d.ModuleFunction(module, "other")
	require.NoError(t, err)
	parameters, err := d.FunctionParameters(function)
	require.NoError(t, err)
	assert.Empty(t, parameters)
	t.Setenv("FAKE_FAIL", "cuFuncGetParamInfo=400")
	_, err = d.FunctionParameters(function)
	assert.ErrorIs(t, err, CodeInvalidHandle)
}

// scenarioAllocations checks that the hot operations allocate nothing.
func scenarioAllocations(t *testing.T) {
	d := openFake(t, 0)
	p, err := d.Alloc(4096)
	require.NoError(t, err)
	locked, err := d.HostAlloc(4096)
	require.NoError(t, err)
	s, err := d.StreamCreate()
	require.NoError(t, err)
	e, err := d.EventCreate(false)
	require.NoError(t, err)
	module, err := d.ModuleLoad([]byte(fakeCode))
	require.NoError(t, err)
	function, err := d.ModuleFunction(module, "other")
	require.NoError(t, err)
	slots, starts := []uint64{1, 2, 3}, []uint32{0, 1, 2}
	config := backend.LaunchConfig{Grid: backend.Dim3{X: 8}, Block: backend.Dim3{X: 128}, Stream: s}

	for name, call := range map[string]func() error{
		"Launch":            func() error { return d.Launch(function, config, slots, starts) },
		"EventRecord":       func() error { return d.EventRecord(e, s) },
		"EventQuery":        func() error { _, err := d.EventQuery(e); return err },
		"StreamWaitEvent":   func() error { return d.StreamWaitEvent(s, e) },
		"StreamQuery":       func() error { _, err := d.StreamQuery(s); return err },
		"StreamSynchronize": func() error { return d.StreamSynchronize(s) },
		"CopyToDevice":      func() error { return d.CopyToDevice(p, locked, 64) },
		"CopyToHost":        func() error { return d.CopyToHost(locked, p, 64) },
		"CopyOnDevice":      func() error { return d.CopyOnDevice(p, p+64, 64) },
		"CopyToDeviceAsync": func() error { return d.CopyToDeviceAsync(p, locked, 64, s) },
		"CopyToHostAsync":   func() error { return d.CopyToHostAsync(locked, p, 64, s) },
		"CopyOnDeviceAsync": func() error { return d.CopyOnDeviceAsync(p, p+64, 64, s) },
		"MemsetAsync":       func() error { return d.MemsetAsync(p, 0, 4, 16, s) },
		"CopyFromPeerAsync": func() error { return d.CopyFromPeerAsync(p, p+64, 1, 64, s) },
		"PointerInfo":       func() error { _, err := d.PointerInfo(p); return err },
		"AddressRange":      func() error { _, _, err := d.AddressRange(p); return err },
		"AllocAsync and FreeAsync": func() error {
			p, err := d.AllocAsync(64, 0, s)
			if err != nil {
				return err
			}
			return d.FreeAsync(p, s)
		},
	} {
		require.NoError(t, call(), name)
		assert.Zero(t, allocations.PerRun(func() { err = call() }), name)
		require.NoError(t, err, name)
	}
}
