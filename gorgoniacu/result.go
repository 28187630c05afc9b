//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// codeOf returns the driver's code in an error of the binding. The binding does not
// export the type of its errors, so the sample provides it.
func codeOf[result interface {
	~int
	error
}](_ result, err error) cuda.Code {
	if err == nil {
		return cuda.CodeSuccess
	}
	if code, ok := err.(result); ok { // the usual case, without an allocation
		return cuda.Code(code)
	}
	var code result
	if errors.As(err, &code) {
		return cuda.Code(code)
	}
	var ours cuda.Code
	if errors.As(err, &ours) {
		return ours
	}
	return cuda.CodeUnknown
}

// code is codeOf for errors of this binding.
func code(err error) cuda.Code { return codeOf(cu.Success, err) }

// failed returns the error for a code of the driver. The details identify the call;
// pass "" for none.
func failed(code cuda.Code, function, details string, arguments ...any) error {
	err := &cuda.Error{Operation: function, Code: code}
	if details != "" {
		err.Operation += "(" + fmt.Sprintf(details, arguments...) + ")"
	}
	return err
}

// callFailed is failed for a non-nil error of the binding.
func callFailed(err error, function, details string, arguments ...any) error {
	return failed(code(err), function, details, arguments...)
}

// check is failed for operations that their name alone identifies.
func check(err error, function string) error {
	if err == nil {
		return nil
	}
	return callFailed(err, function, "")
}

// checkResult is check for a shim.
func checkResult(result shim.Result, function string) error {
	if result == shim.Success {
		return nil
	}
	return failed(cuda.Code(result), function, "")
}

// refuse returns the error for an argument that was not passed to the driver.
func refuse(operation, format string, arguments ...any) error {
	return fmt.Errorf("%w: %s", failed(cuda.CodeInvalidValue, operation, ""), fmt.Sprintf(format, arguments...))
}

// lacks returns the error for a property that the device does not have.
func lacks(operation, what string) error {
	return fmt.Errorf("%w: %s", failed(cuda.CodeNotSupported, operation, ""), what)
}

// open returns an error that wraps [backend.ErrClosed] after Close.
func (d *openDevice) open(function string) error {
	if d.closed.Load() {
		return d.alreadyClosed(function)
	}
	return nil
}

func (d *openDevice) alreadyClosed(function string) error {
	return fmt.Errorf("gorgonia: %s: device %d: %w", function, d.info.Ordinal, backend.ErrClosed)
}
