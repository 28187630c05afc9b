//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

func (d *device) EventRecordAll(event backend.Event) error {
	const function = "cuCtxRecordEvent"
	if err := d.guard.Handle(function, "event", uintptr(event)); err != nil {
		return err
	}
	return check(d.raw.EventRecordAll(uintptr(event)), function)
}

func (d *device) StreamIdentity(stream backend.Stream) (uint64, error) {
	const function = "cuStreamGetId"
	if err := d.guard.Open(function); err != nil {
		return 0, err
	}
	identity, result := d.raw.StreamIdentity(uintptr(stream))
	return identity, check(result, function)
}

// codeCaptureImplicit is the driver's result for the legacy default stream while a
// stream is captured that would wait for it. The capture stays valid.
const codeCaptureImplicit Code = 906

func (d *device) StreamCapturing(stream backend.Stream) (bool, error) {
	const function = "cuStreamIsCapturing"
	if err := d.guard.Open(function); err != nil {
		return false, err
	}
	status, result := d.raw.StreamCapturing(uintptr(stream))
	switch {
	case Code(result) == codeCaptureImplicit:
		return true, nil
	case result == libcuda.TooOld: // such a driver captures nothing
		return false, nil
	}
	return status != 0, check(result, function)
}
