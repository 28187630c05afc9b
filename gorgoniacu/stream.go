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
