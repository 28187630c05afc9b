//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"math"
	"strings"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/devicecode"
)

// ModuleLoad takes PTX text, with or without a NUL byte at its end, a cubin or a fat
// binary. The caller may change the image after it returns.
func (d *device) ModuleLoad(image []byte) (backend.Module, error) {
	if err := d.open("cuModuleLoadDataEx"); err != nil {
		return 0, err
	}
	prepared, err := devicecode.Prepare(image)
	if err != nil {
		return 0, &CompileError{Cause: &Error{Operation: "cuModuleLoadDataEx", Code: CodeInvalidImage, detail: err.Error()}}
	}
	module, log, result := d.raw.ModuleLoad(prepared)
	if result != libcuda.Success {
		return 0, compileFailure(result, "cuModuleLoadDataEx", log)
	}
	return backend.Module(module), nil
}

// ModuleCompile takes PTX text as ModuleLoad does.
func (d *device) ModuleCompile(image []byte) ([]byte, error) {
	const operation = "cuLinkAddData"
	if err := d.open(operation); err != nil {
		return nil, err
	}
	if !devicecode.IsText(image) {
		return nil, refuse(operation, "the code is not PTX text")
	}
	prepared, err := devicecode.Prepare(image)
	if err != nil {
		return nil, &CompileError{Cause: &Error{Operation: operation, Code: CodeInvalidImage, detail: err.Error()}}
	}
	cubin, log, result := d.raw.ModuleCompile(prepared)
	if result != libcuda.Success {
		return nil, compileFailure(result, operation, log)
	}
	return cubin, nil
}

// compileFailure returns the compiler's error, or the driver's if the compiler's log is
// empty.
func compileFailure(result libcuda.Result, operation, log string) error {
	cause := failed(result, operation, "")
	if log == "" && !errors.Is(cause, backend.ErrInvalidCode) {
		return cause
	}
	return &CompileError{Cause: cause, Log: log}
}

func (d *device) ModuleUnload(module backend.Module) error {
	if err := d.open("cuModuleUnload"); err != nil {
		return err
	}
	if module == 0 {
		return refuse("cuModuleUnload", "the module is zero")
	}
	return check(d.raw.ModuleUnload(uintptr(module)), "cuModuleUnload")
}

func (d *device) ModuleFunction(module backend.Module, name string) (backend.Function, error) {
	if err := d.open("cuModuleGetFunction"); err != nil {
		return 0, err
	}
	if module == 0 {
		return 0, refuse("cuModuleGetFunction", "the module is zero")
	}
	// C would end the name at a NUL byte and might find another function.
	result := libcuda.Result(CodeNotFound)
	var function uintptr
	if !strings.Contains(name, "\x00") {
		function, result = d.raw.ModuleFunction(uintptr(module), name)
	}
	if result != libcuda.Success {
		return 0, failed(result, "cuModuleGetFunction", "%q", name)
	}
	return backend.Function(function), nil
}

// function checks that the device is open and the function is not zero.
func (d *device) function(operation string, function backend.Function) error {
	if err := d.open(operation); err != nil {
		return err
	}
	if function == 0 {
		return refuse(operation, "the function is zero")
	}
	return nil
}

func (d *device) FunctionAttribute(function backend.Function, attribute backend.FunctionAttribute) (int, error) {
	if err := d.function("cuFuncGetAttribute", function); err != nil {
		return 0, err
	}
	value, result := d.raw.FunctionAttribute(uintptr(function), int32(attribute))
	if result != libcuda.Success {
		return 0, failed(result, "cuFuncGetAttribute", "attribute %d", attribute)
	}
	return value, nil
}

func (d *device) FunctionSetAttribute(function backend.Function, attribute backend.FunctionAttribute, value int) error {
	if err := d.function("cuFuncSetAttribute", function); err != nil {
		return err
	}
	if value < math.MinInt32 || value > math.MaxInt32 {
		return refuse("cuFuncSetAttribute", "the value %d does not fit in 32 bits", value)
	}
	if result := d.raw.FunctionSetAttribute(uintptr(function), int32(attribute), int32(value)); result != libcuda.Success {
		return failed(result, "cuFuncSetAttribute", "attribute %d, value %d", attribute, value)
	}
	return nil
}

func (d *device) FunctionParameters(function backend.Function) ([]backend.Parameter, error) {
	if err := d.function("cuFuncGetParamInfo", function); err != nil {
		return nil, err
	}
	parameters := []backend.Parameter{}
	for {
		offset, bytes, result := d.raw.FunctionParameter(uintptr(function), len(parameters))
		switch {
		case result == libcuda.Success:
			parameters = append(parameters, backend.Parameter{Offset: int(offset), Bytes: int(bytes)})
		case Code(result) == CodeInvalidValue:
			// The driver reports no count: this result means that no parameter is left.
			return parameters, nil
		default:
			return nil, failed(result, "cuFuncGetParamInfo", "parameter %d", len(parameters))
		}
	}
}

func (d *device) Occupancy(function backend.Function, blockThreads int, sharedBytes uint32) (int, error) {
	const operation = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	if err := d.function(operation, function); err != nil {
		return 0, err
	}
	if blockThreads <= 0 || blockThreads > math.MaxInt32 {
		return 0, refuse(operation, "a block of %d threads", blockThreads)
	}
	blocks, result := d.raw.Occupancy(uintptr(function), int32(blockThreads), sharedBytes)
	if result != libcuda.Success {
		return 0, failed(result, operation, "%d threads, %d bytes shared", blockThreads, sharedBytes)
	}
	return blocks, nil
}
