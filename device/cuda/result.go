//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// failed returns the error for a result of the driver. The detail identifies the call;
// pass "" for none.
func failed(result libcuda.Result, function, detail string) *Error {
	err := &Error{Operation: drivercall.Call(function, detail), Code: Code(result)}
	if result == libcuda.TooOld {
		if since := libcuda.Since(function); since != 0 {
			err.Detail = drivercall.Needs(since)
		}
	}
	return err
}

// refused returns the error for a call that the driver's guard refuses.
func refused(function string, result int32, detail string) error {
	return &Error{Operation: function, Code: Code(result), Detail: detail}
}

// check is failed for operations that their name alone identifies. It inlines to a
// comparison.
func check(result libcuda.Result, function string) error {
	if result != libcuda.Success {
		return failed(result, function, "")
	}
	return nil
}

// has reads an attribute that is 0 or 1. A driver that does not know the attribute does
// not have the property either.
func (d *device) has(attribute backend.Attribute) bool {
	value, result := d.raw.Handle().Attribute(int32(attribute))
	return result == libcuda.Success && value != 0
}
