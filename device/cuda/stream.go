//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// done reads the result of a query, for which "not ready" is not an error.
func done(result libcuda.Result, function string) (bool, error) {
	if Code(result) == CodeNotReady {
		return false, nil
	}
	return result == libcuda.Success, check(result, function)
}

func (d *device) StreamCreate() (backend.Stream, error) {
	if err := d.guard.Open("cuStreamCreate"); err != nil {
		return 0, err
	}
	stream, result := d.raw.StreamCreate()
	return backend.Stream(stream), check(result, "cuStreamCreate")
}

func (d *device) StreamDestroy(stream backend.Stream) error {
	if err := d.guard.OwnStream("cuStreamDestroy", stream, "destroyed"); err != nil {
		return err
	}
	return check(d.raw.StreamDestroy(uintptr(stream)), "cuStreamDestroy")
}

func (d *device) StreamSynchronize(stream backend.Stream) error {
	if err := d.guard.Open("cuStreamSynchronize"); err != nil {
		return err
	}
	return check(d.raw.StreamSynchronize(uintptr(stream)), "cuStreamSynchronize")
}

func (d *device) StreamQuery(stream backend.Stream) (bool, error) {
	if err := d.guard.Open("cuStreamQuery"); err != nil {
		return false, err
	}
	return done(d.raw.StreamQuery(uintptr(stream)), "cuStreamQuery")
}

func (d *device) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	if err := d.guard.Handle("cuStreamWaitEvent", "event", uintptr(event)); err != nil {
		return err
	}
	return check(d.raw.StreamWaitEvent(uintptr(stream), uintptr(event)), "cuStreamWaitEvent")
}

func (d *device) EventCreate(timing bool) (backend.Event, error) {
	if err := d.guard.Open("cuEventCreate"); err != nil {
		return 0, err
	}
	event, result := d.raw.EventCreate(timing)
	return backend.Event(event), check(result, "cuEventCreate")
}

func (d *device) EventDestroy(event backend.Event) error {
	if err := d.guard.Handle("cuEventDestroy", "event", uintptr(event)); err != nil {
		return err
	}
	return check(d.raw.EventDestroy(uintptr(event)), "cuEventDestroy")
}

func (d *device) EventRecord(event backend.Event, stream backend.Stream) error {
	if err := d.guard.Handle("cuEventRecord", "event", uintptr(event)); err != nil {
		return err
	}
	return check(d.raw.EventRecord(uintptr(event), uintptr(stream)), "cuEventRecord")
}

func (d *device) EventQuery(event backend.Event) (bool, error) {
	if err := d.guard.Handle("cuEventQuery", "event", uintptr(event)); err != nil {
		return false, err
	}
	return done(d.raw.EventQuery(uintptr(event)), "cuEventQuery")
}

func (d *device) EventSynchronize(event backend.Event) error {
	if err := d.guard.Handle("cuEventSynchronize", "event", uintptr(event)); err != nil {
		return err
	}
	return check(d.raw.EventSynchronize(uintptr(event)), "cuEventSynchronize")
}

func (d *device) EventElapsed(start, end backend.Event) (float32, error) {
	if err := d.guard.Handle("cuEventElapsedTime", "event", uintptr(start)); err != nil {
		return 0, err
	}
	if err := d.guard.Handle("cuEventElapsedTime", "event", uintptr(end)); err != nil {
		return 0, err
	}
	milliseconds, result := d.raw.EventElapsed(uintptr(start), uintptr(end))
	return milliseconds, check(result, "cuEventElapsedTime")
}
