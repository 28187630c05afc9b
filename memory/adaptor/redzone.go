package adaptor

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// fillRedZones enqueues the fills before any work on the memory.
func (g *Guard) fillRedZones(b *guarded) error {
	driver := g.Device().Driver()
	err := streamwork.EnqueueUncaptured(b.given.Stream, func(stream backend.Stream) error {
		if err := driver.MemsetAsync(b.inner.Pointer, uint32(g.pattern), 1, g.redZone, stream); err != nil {
			return err
		}
		return driver.MemsetAsync(b.given.Pointer.Add(b.given.Bytes), uint32(g.pattern), 1, g.redZone, stream)
	})
	if err != nil {
		return fmt.Errorf("memory/adaptor: guard: fill red zones: %w", err)
	}
	return nil
}

// abandon frees memory after a failure to fill its red zones.
func (g *Guard) abandon(b *guarded, err error) error {
	_, dismissing := g.dismiss(b.given)
	return errors.Join(err, dismissing, g.upstream.Free(b.inner, nil))
}

// freeChecked checks the red zones and then frees the memory.
func (g *Guard) freeChecked(b *guarded, further []*device.Stream) error {
	return errors.Join(g.checkRedZones(b, further), g.upstream.Free(b.inner, further))
}

func (g *Guard) checkRedZones(b *guarded, further []*device.Stream) error {
	for _, stream := range append([]*device.Stream{streamwork.Past(b.given.Stream)}, further...) {
		if err := streamwork.SynchronizeUncaptured(stream, context.Background()); err != nil {
			return fmt.Errorf("memory/adaptor: guard: read red zones: %w", err)
		}
	}
	at, err := g.firstWritten(b.inner.Pointer)
	if err == nil && at >= 0 {
		return &GuardError{Violation: WrittenBefore, Block: b.block(), Offset: at - int64(g.redZone)}
	}
	if err == nil {
		at, err = g.firstWritten(b.given.Pointer.Add(b.given.Bytes))
	}
	if err == nil && at >= 0 {
		return &GuardError{Violation: WrittenAfter, Block: b.block(), Offset: at + int64(b.given.Bytes)}
	}
	return err
}

// firstWritten returns the offset of the first overwritten byte in a red zone, or
// -1.
func (g *Guard) firstWritten(zone device.Pointer) (int64, error) {
	contents := make([]byte, g.redZone)
	if err := g.Device().Driver().CopyToHost(unsafe.Pointer(&contents[0]), zone, g.redZone); err != nil {
		return -1, fmt.Errorf("memory/adaptor: guard: read red zones: %w", err)
	}
	for i, value := range contents {
		if value != g.pattern {
			return int64(i), nil
		}
	}
	return -1, nil
}
