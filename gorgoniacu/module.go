//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"
	"strconv"
	"strings"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/devicecode"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// ModuleLoad takes PTX text, with or without a NUL byte at its end, a cubin or a fat
// binary. The caller may change the image after it returns. The binding has the call,
// but passes the driver addresses of Go memory for the compiler's log without keeping
// the memory alive.
func (d *openDevice) ModuleLoad(image []byte) (backend.Module, error) {
	const function = "cuModuleLoadDataEx"
	if err := d.guard.Open(function); err != nil {
		return 0, err
	}
	prepared, err := devicecode.Prepare(image)
	if err != nil {
		return 0, &cuda.CompileError{Cause: &cuda.Error{Operation: function, Code: cuda.CodeInvalidImage, Detail: err.Error()}}
	}
	module, log, result := d.shim.ModuleLoad(prepared)
	if result != shim.Success {
		return 0, compileFailure(result, function, log)
	}
	return backend.Module(module), nil
}

// ModuleCompile takes PTX text as ModuleLoad does. The binding has the calls, but also
// passes the driver addresses of Go memory without keeping it alive.
func (d *openDevice) ModuleCompile(image []byte) ([]byte, error) {
	const function = "cuLinkAddData"
	if err := d.guard.Open(function); err != nil {
		return nil, err
	}
	if !devicecode.IsText(image) {
		return nil, d.guard.Refuse(function, "the code is not PTX text")
	}
	prepared, err := devicecode.Prepare(image)
	if err != nil {
		return nil, &cuda.CompileError{Cause: &cuda.Error{Operation: function, Code: cuda.CodeInvalidImage, Detail: err.Error()}}
	}
	cubin, log, result := d.shim.ModuleCompile(prepared)
	if result != shim.Success {
		return nil, compileFailure(result, function, log)
	}
	return cubin, nil
}

// compileFailure returns the compiler's error, or the driver's if the compiler's log is
// empty.
func compileFailure(result shim.Result, function, log string) error {
	cause := &cuda.Error{Operation: function, Code: cuda.Code(result)}
	if log == "" && !errors.Is(cause, backend.ErrInvalidCode) {
		return cause
	}
	return &cuda.CompileError{Cause: cause, Log: log}
}

func (d *openDevice) ModuleUnload(module backend.Module) error {
	if err := d.guard.Handle("cuModuleUnload", "module", uintptr(module)); err != nil {
		return err
	}
	return check(d.within(fromWord[cu.Module](uintptr(module)).Unload), "cuModuleUnload")
}

func (d *openDevice) ModuleFunction(module backend.Module, name string) (backend.Function, error) {
	const operation = "cuModuleGetFunction"
	if err := d.guard.Handle(operation, "module", uintptr(module)); err != nil {
		return 0, err
	}
	// C would end the name at a NUL byte and might find another function.
	if strings.Contains(name, "\x00") {
		return 0, failed(cuda.CodeNotFound, operation, strconv.Quote(name))
	}
	var function cu.Function
	err := d.within(func() (err error) {
		function, err = fromWord[cu.Module](uintptr(module)).Function(name)
		return err
	})
	if err != nil {
		return 0, callFailed(err, operation, strconv.Quote(name))
	}
	return backend.Function(word(function)), nil
}

func (d *openDevice) FunctionAttribute(function backend.Function, attribute backend.FunctionAttribute) (value int, err error) {
	const operation = "cuFuncGetAttribute"
	if err := d.guard.Handle(operation, "function", uintptr(function)); err != nil {
		return 0, err
	}
	err = d.within(func() (err error) {
		value, err = fromWord[cu.Function](uintptr(function)).Attribute(cu.FunctionAttribute(attribute))
		return err
	})
	if err != nil {
		return 0, callFailed(err, operation, drivercall.Attribute(attribute))
	}
	return value, nil
}

func (d *openDevice) FunctionSetAttribute(function backend.Function, attribute backend.FunctionAttribute, value int) error {
	const operation = "cuFuncSetAttribute"
	if err := d.guard.FunctionValue(operation, function, value); err != nil {
		return err
	}
	if result := d.shim.FunctionSetAttribute(uintptr(function), int32(attribute), int32(value)); result != shim.Success {
		return failed(cuda.Code(result), operation, drivercall.Setting(attribute, value))
	}
	return nil
}

func (d *openDevice) FunctionParameters(function backend.Function) ([]backend.Parameter, error) {
	const operation = "cuFuncGetParamInfo"
	if err := d.guard.Handle(operation, "function", uintptr(function)); err != nil {
		return nil, err
	}
	parameters := []backend.Parameter{}
	for {
		offset, bytes, result := d.shim.FunctionParameter(uintptr(function), len(parameters))
		switch cuda.Code(result) {
		case cuda.CodeSuccess:
			parameters = append(parameters, backend.Parameter{Offset: int(offset), Bytes: int(bytes)})
		case cuda.CodeInvalidValue:
			// The driver reports no count: this result means that no parameter is left.
			return parameters, nil
		case cuda.CodeNeedsNewerDriver:
			return nil, refused(operation, int32(result), drivercall.Needs(12040))
		default:
			return nil, failed(cuda.Code(result), operation, drivercall.Parameter(len(parameters)))
		}
	}
}

func (d *openDevice) Occupancy(function backend.Function, blockThreads int, sharedBytes uint32) (blocks int, err error) {
	const operation = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	if err := d.guard.BlockThreads(operation, function, blockThreads); err != nil {
		return 0, err
	}
	err = d.within(func() (err error) {
		blocks, err = fromWord[cu.Function](uintptr(function)).MaxActiveBlocksPerMultiProcessor(blockThreads, int64(sharedBytes))
		return err
	})
	if err != nil {
		return 0, callFailed(err, operation, drivercall.Block(blockThreads, sharedBytes))
	}
	return blocks, nil
}

// Launch takes at most 512 arguments. The driver reads the number of arguments that the
// kernel declares, each at its declared width. FunctionParameters returns these, and
// the caller must check them.
func (d *openDevice) Launch(function backend.Function, config backend.LaunchConfig, slots []uint64, starts []uint32) error {
	const operation = "cuLaunchKernel"
	if err := d.guard.Launch(operation, function, slots, starts, shim.LaunchArguments); err != nil {
		return err
	}
	shape := drivercall.ShapeOf(config.Grid, config.Block)
	result := d.shim.Launch(uintptr(function), (*[6]uint32)(&shape), config.SharedBytes, uintptr(config.Stream), slots, starts)
	if result != shim.Success {
		return failed(cuda.Code(result), operation, shape.Text(config.SharedBytes))
	}
	return nil
}
