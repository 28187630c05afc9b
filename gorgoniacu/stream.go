//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
)

// done reads the code of a query, for which "not ready" is not an error.
func done(code cuda.Code, function string) (bool, error) {
	switch code {
	case cuda.CodeSuccess:
		return true, nil
	case cuda.CodeNotReady:
		return false, nil
	}
	return false, failed(code, function, "")
}

func (d *openDevice) StreamCreate() (backend.Stream, error) {
	if err := d.guard.Open("cuStreamCreate"); err != nil {
		return 0, err
	}
	var stream cu.Stream
	err := d.within(func() (err error) {
		stream, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	return backend.Stream(word(stream)), check(err, "cuStreamCreate")
}

func (d *openDevice) StreamDestroy(stream backend.Stream) error {
	if err := d.guard.OwnStream("cuStreamDestroy", stream, "destroyed"); err != nil {
		return err
	}
	return checkResult(d.shim.StreamDestroy(uintptr(stream)), "cuStreamDestroy")
}

func (d *openDevice) StreamSynchronize(stream backend.Stream) error {
	if err := d.guard.Open("cuStreamSynchronize"); err != nil {
		return err
	}
	return checkResult(d.shim.StreamSynchronize(uintptr(stream)), "cuStreamSynchronize")
}

func (d *openDevice) StreamQuery(stream backend.Stream) (bool, error) {
	if err := d.guard.Open("cuStreamQuery"); err != nil {
		return false, err
	}
	return done(cuda.Code(d.shim.StreamQuery(uintptr(stream))), "cuStreamQuery")
}

func (d *openDevice) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	if err := d.guard.Handle("cuStreamWaitEvent", "event", uintptr(event)); err != nil {
		return err
	}
	return checkResult(d.shim.StreamWaitEvent(uintptr(stream), uintptr(event)), "cuStreamWaitEvent")
}

func (d *openDevice) EventCreate(timing bool) (backend.Event, error) {
	if err := d.guard.Open("cuEventCreate"); err != nil {
		return 0, err
	}
	flags := cu.DisableTiming
	if timing {
		flags = cu.DefaultEvent
	}
	var event cu.Event
	err := d.within(func() (err error) {
		event, err = cu.MakeEvent(flags)
		return err
	})
	return backend.Event(word(event)), check(err, "cuEventCreate")
}

func (d *openDevice) EventDestroy(event backend.Event) error {
	if err := d.guard.Handle("cuEventDestroy", "event", uintptr(event)); err != nil {
		return err
	}
	handle := fromWord[cu.Event](uintptr(event))
	return check(d.within(func() error { return cu.DestroyEvent(&handle) }), "cuEventDestroy")
}

func (d *openDevice) EventRecord(event backend.Event, stream backend.Stream) error {
	if err := d.guard.Handle("cuEventRecord", "event", uintptr(event)); err != nil {
		return err
	}
	return checkResult(d.shim.EventRecord(uintptr(event), uintptr(stream)), "cuEventRecord")
}

func (d *openDevice) EventQuery(event backend.Event) (bool, error) {
	if err := d.guard.Handle("cuEventQuery", "event", uintptr(event)); err != nil {
		return false, err
	}
	handle := fromWord[cu.Event](uintptr(event))
	return done(code(d.within(handle.Query)), "cuEventQuery")
}

func (d *openDevice) EventSynchronize(event backend.Event) error {
	if err := d.guard.Handle("cuEventSynchronize", "event", uintptr(event)); err != nil {
		return err
	}
	handle := fromWord[cu.Event](uintptr(event))
	return check(d.within(handle.Synchronize), "cuEventSynchronize")
}

func (d *openDevice) EventElapsed(start, end backend.Event) (float32, error) {
	if err := d.guard.Handle("cuEventElapsedTime", "event", uintptr(start)); err != nil {
		return 0, err
	}
	if err := d.guard.Handle("cuEventElapsedTime", "event", uintptr(end)); err != nil {
		return 0, err
	}
	var milliseconds float64
	err := d.within(func() (err error) {
		milliseconds, err = fromWord[cu.Event](uintptr(start)).Elapsed(fromWord[cu.Event](uintptr(end)))
		return err
	})
	return float32(milliseconds), check(err, "cuEventElapsedTime")
}

// EventRecordAll is not supported: cuda.h has cuCtxRecordEvent since CUDA 12.5, and
// gorgonia.org/cu builds with headers of 11.4 to 12.
func (d *openDevice) EventRecordAll(event backend.Event) error {
	const function = "cuCtxRecordEvent"
	if err := d.guard.Handle(function, "event", uintptr(event)); err != nil {
		return err
	}
	return failed(cuda.CodeNotSupported, function, "gorgonia.org/cu does not have it")
}

// StreamIdentity is not supported, for the same reason.
func (d *openDevice) StreamIdentity(backend.Stream) (uint64, error) {
	const function = "cuStreamGetId"
	if err := d.guard.Open(function); err != nil {
		return 0, err
	}
	return 0, failed(cuda.CodeNotSupported, function, "gorgonia.org/cu does not have it")
}

// codeCaptureImplicit is the driver's result for the legacy default stream while a
// stream is captured that would wait for it. The capture stays valid.
const codeCaptureImplicit cuda.Code = 906

func (d *openDevice) StreamCapturing(stream backend.Stream) (bool, error) {
	const function = "cuStreamIsCapturing"
	if err := d.guard.Open(function); err != nil {
		return false, err
	}
	status, result := d.shim.StreamCapturing(uintptr(stream))
	if cuda.Code(result) == codeCaptureImplicit {
		return true, nil
	}
	return status != 0, checkResult(result, function)
}
