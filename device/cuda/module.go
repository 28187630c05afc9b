//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/devicecode"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// ModuleLoad takes PTX text, with or without a NUL byte at its end, a cubin or a fat
// binary. The caller may change the image after it returns.
func (d *device) ModuleLoad(image []byte) (backend.Module, error) {
	if err := d.guard.Open("cuModuleLoadDataEx"); err != nil {
		return 0, err
	}
	prepared, err := devicecode.Prepare(image)
	if err != nil {
		return 0, &CompileError{Cause: &Error{Operation: "cuModuleLoadDataEx", Code: CodeInvalidImage, Detail: err.Error()}}
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
	if err := d.guard.Open(operation); err != nil {
		return nil, err
	}
	if !devicecode.IsText(image) {
		return nil, d.guard.Refuse(operation, "the code is not PTX text")
	}
	prepared, err := devicecode.Prepare(image)
	if err != nil {
		return nil, &CompileError{Cause: &Error{Operation: operation, Code: CodeInvalidImage, Detail: err.Error()}}
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
	if err := d.guard.Handle("cuModuleUnload", "module", uintptr(module)); err != nil {
		return err
	}
	return check(d.raw.ModuleUnload(uintptr(module)), "cuModuleUnload")
}

func (d *device) ModuleFunction(module backend.Module, name string) (backend.Function, error) {
	if err := d.guard.Handle("cuModuleGetFunction", "module", uintptr(module)); err != nil {
		return 0, err
	}
	// C would end the name at a NUL byte and might find another function.
	result := libcuda.Result(CodeNotFound)
	var function uintptr
	if !strings.Contains(name, "\x00") {
		function, result = d.raw.ModuleFunction(uintptr(module), name)
	}
	if result != libcuda.Success {
		return 0, failed(result, "cuModuleGetFunction", strconv.Quote(name))
	}
	return backend.Function(function), nil
}

func (d *device) FunctionAttribute(function backend.Function, attribute backend.FunctionAttribute) (int, error) {
	if err := d.guard.Handle("cuFuncGetAttribute", "function", uintptr(function)); err != nil {
		return 0, err
	}
	value, result := d.raw.FunctionAttribute(uintptr(function), int32(attribute))
	if result != libcuda.Success {
		return 0, failed(result, "cuFuncGetAttribute", drivercall.Attribute(attribute))
	}
	return value, nil
}

func (d *device) FunctionSetAttribute(function backend.Function, attribute backend.FunctionAttribute, value int) error {
	if err := d.guard.FunctionValue("cuFuncSetAttribute", function, value); err != nil {
		return err
	}
	if result := d.raw.FunctionSetAttribute(uintptr(function), int32(attribute), int32(value)); result != libcuda.Success {
		return failed(result, "cuFuncSetAttribute", drivercall.Setting(attribute, value))
	}
	return nil
}

func (d *device) FunctionParameters(function backend.Function) ([]backend.Parameter, error) {
	if err := d.guard.Handle("cuFuncGetParamInfo", "function", uintptr(function)); err != nil {
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
			return nil, failed(result, "cuFuncGetParamInfo", drivercall.Parameter(len(parameters)))
		}
	}
}

func (d *device) Occupancy(function backend.Function, blockThreads int, sharedBytes uint32) (int, error) {
	const operation = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	if err := d.guard.BlockThreads(operation, function, blockThreads); err != nil {
		return 0, err
	}
	blocks, result := d.raw.Occupancy(uintptr(function), int32(blockThreads), sharedBytes)
	if result != libcuda.Success {
		return 0, failed(result, operation, drivercall.Block(blockThreads, sharedBytes))
	}
	return blocks, nil
}
