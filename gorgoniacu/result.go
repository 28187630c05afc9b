//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
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

// failed returns the error for a code of the driver. The detail identifies the call;
// pass "" for none.
func failed(code cuda.Code, function, detail string) error {
	return &cuda.Error{Operation: drivercall.Call(function, detail), Code: code}
}

// refused returns the error for a call that the driver's guard refuses.
func refused(function string, result int32, detail string) error {
	return &cuda.Error{Operation: function, Code: cuda.Code(result), Detail: detail}
}

// callFailed is failed for a non-nil error of the binding.
func callFailed(err error, function, detail string) error {
	return failed(code(err), function, detail)
}

// check is failed for operations that their name alone identifies.
func check(err error, function string) error {
	if err == nil {
		return nil
	}
	return callFailed(err, function, "")
}
