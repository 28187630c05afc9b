//go:build !linux || !cgo

package peer

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

var errNotAvailable = fmt.Errorf("peer: %w: it needs cgo and Linux", device.ErrNotAvailable)

// Open returns an error: this build has no peer.
func Open(int) error { return errNotAvailable }

// Launch is not available.
func Launch(int, backend.Function, backend.Stream) (time.Duration, error) { return 0, errNotAvailable }

// Alloc is not available.
func Alloc(int, uint64) (time.Duration, error) { return 0, errNotAvailable }

// AllocAsync is not available.
func AllocAsync(int, uint64, backend.Stream) (time.Duration, error) { return 0, errNotAvailable }

// ToDevice is not available.
func ToDevice(int, device.Pointer, unsafe.Pointer, uint64, backend.Stream) (time.Duration, error) {
	return 0, errNotAvailable
}

// ToDevicePageable is not available.
func ToDevicePageable(int, device.Pointer, []byte) (time.Duration, error) { return 0, errNotAvailable }

// ToHost is not available.
func ToHost(int, unsafe.Pointer, device.Pointer, uint64, backend.Stream) (time.Duration, error) {
	return 0, errNotAvailable
}

// Pool is not available.
type Pool struct{}

// NewPool is not available.
func NewPool(uint64, backend.Stream) (*Pool, error) { return nil, errNotAvailable }

// Close is not available.
func (*Pool) Close() error { return errNotAvailable }

// Reserved is not available.
func (*Pool) Reserved() (current, peak uint64, err error) { return 0, 0, errNotAvailable }

// Pairs is not available.
func (*Pool) Pairs(int, uint64, backend.Stream) (time.Duration, error) { return 0, errNotAvailable }

// Replay is not available.
func (*Pool) Replay([]uint64, []uint32, int, time.Duration, backend.Stream) (took time.Duration, done int, err error) {
	return 0, 0, errNotAvailable
}

// Threads is not available.
func (*Pool) Threads(time.Duration, uint64, []backend.Stream) (rate float64, err error) {
	return 0, errNotAvailable
}

// Kernels is not available.
func (*Pool) Kernels(int, int, []backend.Stream, backend.Function) (time.Duration, error) {
	return 0, errNotAvailable
}
