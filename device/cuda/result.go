//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// failed returns the error for a result of the driver. The details identify the call;
// pass "" for none.
func failed(result libcuda.Result, function, details string, arguments ...any) *Error {
	err := &Error{Operation: function, Code: Code(result)}
	if details != "" {
		err.Operation += "(" + fmt.Sprintf(details, arguments...) + ")"
	}
	if result == libcuda.TooOld {
		if since := libcuda.Since(function); since != 0 {
			err.detail = needs(since)
		}
	}
	return err
}

// check is failed for operations that their name alone identifies. It inlines to a
// comparison.
func check(result libcuda.Result, function string) error {
	if result != libcuda.Success {
		return failed(result, function, "")
	}
	return nil
}

// needs returns the text for a required CUDA version, given as 1000·major + 10·minor.
func needs(version int) string {
	return fmt.Sprintf("it needs a driver for CUDA %d.%d or newer", version/1000, version%1000/10)
}

// open returns an error that wraps [backend.ErrClosed] after Close.
func (d *device) open(function string) error {
	if d.closed.Load() {
		return d.alreadyClosed(function)
	}
	return nil
}

// has reads an attribute that is 0 or 1. A driver that does not know the attribute does
// not have the property either.
func (d *device) has(attribute backend.Attribute) bool {
	value, result := d.raw.Handle().Attribute(int32(attribute))
	return result == libcuda.Success && value != 0
}

// lacks returns the error for a property that the device does not have.
func lacks(function, what string) error {
	return &Error{Operation: function, Code: CodeNotSupported, detail: what}
}

func (d *device) alreadyClosed(function string) error {
	return fmt.Errorf("cuda: %s: device %d: %w", function, d.info.Ordinal, backend.ErrClosed)
}
