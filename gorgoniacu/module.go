//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"strconv"
	"strings"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

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
