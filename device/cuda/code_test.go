package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func TestCodeTable(t *testing.T) {
	names := map[string]Code{}
	for i, entry := range codes {
		if i > 0 {
			assert.Greater(t, entry.code, codes[i-1].code, "the table is searched by halves")
		}
		assert.True(t, entry.code == CodeSuccess || strings.HasPrefix(entry.name, "CUDA_ERROR_"), entry.name)
		assert.NotEmpty(t, entry.description, entry.name)
		assert.NotContains(t, names, entry.name)
		names[entry.name] = entry.code
		assert.Equal(t, entry.name, entry.code.Name())
		assert.Equal(t, entry.description, entry.code.Description())
	}
	assert.Len(t, codes, 101, "CUresult of CUDA 13.0")
}

func TestCodeConstants(t *testing.T) {
	for code, name := range map[Code]string{
		CodeSuccess:              "CUDA_SUCCESS",
		CodeInvalidValue:         "CUDA_ERROR_INVALID_VALUE",
		CodeOutOfMemory:          "CUDA_ERROR_OUT_OF_MEMORY",
		CodeNotInitialized:       "CUDA_ERROR_NOT_INITIALIZED",
		CodeDeinitialized:        "CUDA_ERROR_DEINITIALIZED",
		CodeNeedsNewerDriver:     "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
		CodeDeviceUnavailable:    "CUDA_ERROR_DEVICE_UNAVAILABLE",
		CodeNoDevice:             "CUDA_ERROR_NO_DEVICE",
		CodeInvalidDevice:        "CUDA_ERROR_INVALID_DEVICE",
		CodeInvalidImage:         "CUDA_ERROR_INVALID_IMAGE",
		CodeInvalidContext:       "CUDA_ERROR_INVALID_CONTEXT",
		CodeNoBinaryForGPU:       "CUDA_ERROR_NO_BINARY_FOR_GPU",
		CodeECCUncorrectable:     "CUDA_ERROR_ECC_UNCORRECTABLE",
		CodeInvalidPTX:           "CUDA_ERROR_INVALID_PTX",
		CodeUnsupportedPTX:       "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
		CodeInvalidHandle:        "CUDA_ERROR_INVALID_HANDLE",
		CodeNotFound:             "CUDA_ERROR_NOT_FOUND",
		CodeNotReady:             "CUDA_ERROR_NOT_READY",
		CodeIllegalAddress:       "CUDA_ERROR_ILLEGAL_ADDRESS",
		CodeLaunchOutOfResources: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
		CodeLaunchTimeout:        "CUDA_ERROR_LAUNCH_TIMEOUT",
		CodePeerAlreadyEnabled:   "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
		CodeContextDestroyed:     "CUDA_ERROR_CONTEXT_IS_DESTROYED",
		CodeLaunchFailed:         "CUDA_ERROR_LAUNCH_FAILED",
		CodeNotPermitted:         "CUDA_ERROR_NOT_PERMITTED",
		CodeNotSupported:         "CUDA_ERROR_NOT_SUPPORTED",
		CodeUnknown:              "CUDA_ERROR_UNKNOWN",
	} {
		assert.Equal(t, name, code.Name())
	}
}

func TestCodeUnknownToTheTable(t *testing.T) {
	const newer Code = 12345
	assert.Equal(t, "CUresult(12345)", newer.Name())
	assert.NotEmpty(t, newer.Description())
	assert.Equal(t, "CUresult(-7)", Code(-7).Name())
	for _, sentinel := range sentinels {
		assert.NotErrorIs(t, newer, sentinel)
	}
}

// sentinels are all sentinels that a code may match.
var sentinels = []error{
	backend.ErrNotAvailable, backend.ErrNotSupported, backend.ErrNoDevice, backend.ErrDeviceLost, backend.ErrOutOfMemory,
	backend.ErrInvalidValue, backend.ErrNotFound, backend.ErrInvalidCode, backend.ErrClosed,
	backend.ErrCapturing,
}

func TestErrorIs(t *testing.T) {
	for _, test := range []struct {
		sentinel error
		codes    []Code
	}{
		{backend.ErrOutOfMemory, []Code{2}},
		{backend.ErrInvalidValue, []Code{1, 201, 208, 211, 400, 701, 712, 713, 720}},
		{backend.ErrNotAvailable, []Code{3, 34, 46, 100, 802, 803, 805}},
		{backend.ErrNoDevice, []Code{101}},
		{backend.ErrNotSupported, []Code{36, 217, 221, 801}},
		{backend.ErrInvalidCode, []Code{200, 209, 218, 222, 300}},
		{backend.ErrNotFound, []Code{500}},
		{backend.ErrDeviceLost, []Code{4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911}},
		{backend.ErrCapturing, []Code{900, 901, 904, 908}},
		{nil, []Code{0, 600, 704, 711, 800, 909, 999}},
	} {
		for _, code := range test.codes {
			err := fmt.Errorf("higher up: %w", &Error{Operation: "cuTest", Code: code})
			for _, sentinel := range sentinels {
				assert.Equal(t, sentinel == test.sentinel, errors.Is(err, sentinel), "%v is %v", err, sentinel)
				assert.Equal(t, sentinel == test.sentinel, errors.Is(code, sentinel), "%v is %v", code, sentinel)
			}
			assert.ErrorIs(t, err, code)
			assert.NotErrorIs(t, err, code+1)
			var found *Error
			require.ErrorAs(t, err, &found)
			assert.Equal(t, code, found.Code)
		}
	}
}

func TestErrorText(t *testing.T) {
	err := &Error{Operation: "cuMemAlloc(1.0 GiB)", Code: CodeOutOfMemory}
	assert.EqualError(t, err, "cuda: cuMemAlloc(1.0 GiB): CUDA_ERROR_OUT_OF_MEMORY (2): the driver has not enough memory for the request")
	assert.EqualError(t, &Error{Operation: "cuMemFree", Code: CodeInvalidValue, Detail: "the pointer is 0"},
		"cuda: cuMemFree: CUDA_ERROR_INVALID_VALUE (1): an argument is not in the range that the call takes: the pointer is 0")
}

func TestOperationOverridesSentinel(t *testing.T) {
	err := &Error{Operation: "cuMemGetAddressRange", Code: CodeNotFound, sentinel: backend.ErrInvalidValue}
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
	assert.NotErrorIs(t, err, backend.ErrNotFound)
	assert.ErrorIs(t, err, CodeNotFound)
}

func TestCompileError(t *testing.T) {
	cause := &Error{Operation: "cuModuleLoadDataEx", Code: CodeInvalidPTX}
	var err error = &CompileError{Cause: cause, Log: "line 3: parsing error"}
	assert.ErrorIs(t, err, backend.ErrInvalidCode)
	assert.ErrorIs(t, err, CodeInvalidPTX)
	assert.EqualError(t, err, cause.Error()+"\nline 3: parsing error")
	assert.EqualError(t, &CompileError{Cause: cause}, cause.Error())
	var found *Error
	require.ErrorAs(t, err, &found)
	assert.Same(t, cause, found)
}
