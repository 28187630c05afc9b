package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/driver/devicestore"
)

// Device is an open device. It is safe for concurrent use. Two Devices of one name
// share the memory and may use each other's streams and events.
type Device struct {
	driver backend.Device
	info   Info
	name   string
	closed atomic.Bool
	// lent is set when a stream of the device has used memory of another one. Close
	// then waits for the work, and sets ended.
	lent, ended   atomic.Bool
	events        eventCache
	defaultStream *Stream
	allStreams    *Stream
	later         later
	awaited       awaited
	arrivals      arrivals
	store         devicestore.Store

	// capturing protects captures, the number of captures in progress.
	capturing sync.RWMutex
	captures  int
}

func newDevice(family string, driver backend.Device) *Device {
	d := &Device{driver: driver, info: driver.Info()}
	d.name = deviceName(family, d.info)
	d.defaultStream = &Stream{device: d}
	d.allStreams = &Stream{device: d, all: true}
	d.awaited.idle.L = &d.awaited.mu
	return d
}

// Name returns the name that opens this device, such as "cuda:0".
func (d *Device) Name() string { return d.name }

// String returns the name.
func (d *Device) String() string { return d.name }

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Kind returns Info().Kind.
func (d *Device) Kind() Kind { return d.info.Kind }

// MemoryKind returns the kind of memory that the device computes on.
func (d *Device) MemoryKind() MemoryKind {
	if d.info.Kind == Host {
		return MemoryHost
	}
	return MemoryDevice
}

// Driver returns the raw operations of the device, for packages that manage memory or
// launch code. Memory allocated through it belongs to no budget.
func (d *Device) Driver() backend.Device { return d.driver }

// Store returns the values that packages of this module keep for the device, such as
// loaded code. Close empties it.
func (d *Device) Store() *devicestore.Store { return &d.store }

// Same reports whether both are the same physical device of the same kind, so that
// their pointers are interchangeable.
func (d *Device) Same(other *Device) bool {
	return d == other || d != nil && other != nil &&
		d.info.Kind == other.info.Kind && d.info.Ordinal == other.info.Ordinal
}

// MemoryInfo returns the free and the total memory of the device in bytes. The use of
// other processes counts.
func (d *Device) MemoryInfo() (free, total uint64, err error) {
	return d.driver.MemoryInfo()
}

// Attribute returns a property of the device by its number.
func (d *Device) Attribute(attribute Attribute) (int, error) {
	return d.driver.Attribute(attribute)
}

// Synchronize waits for all work on the device, or until the context ends. In that case
// the wait continues in the background until the device is idle.
func (d *Device) Synchronize(ctx context.Context) error {
	if ctx.Done() == nil {
		return d.driver.Synchronize()
	}
	done := make(chan error, 1)
	go func() { done <- d.driver.Synchronize() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("device %s: synchronize: %w", d.name, cancel.Error(ctx))
	}
}

// Close closes the device. Close every stream, event and memory manager of the device
// first. A second call returns [ErrClosed].
//
// # Waiting
//
// If streams of the device have used memory of other devices, Close waits for the work
// on the device: that memory may be freed later, when the device can no longer report
// its work. It also waits until memory of other libraries that was released here could be
// given back. Otherwise Close does not wait.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return fmt.Errorf("device %s: close: %w", d.name, ErrClosed)
	}
	(*deviceWork)(d).RunLater()
	(*deviceWork)(d).AwaitDone()
	d.store.Clear()
	var failures []error
	if d.lent.Load() {
		// A device that fails is lost, and its work has ended too.
		failures = append(failures, d.driver.Synchronize())
		d.ended.Store(true)
	}
	failures = append(failures, d.events.drain(d.driver), d.driver.Close())
	return errors.Join(failures...)
}
