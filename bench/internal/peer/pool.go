//go:build linux && cgo

package peer

/*
#cgo LDFLAGS: -lpthread
#include "peer.h"
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// Pool is a memory pool of the driver, used from C.
type Pool struct{ handle unsafe.Pointer }

// NewPool makes a pool that returns nothing to the system, and fills it with the
// initial bytes immediately. The caller closes it.
func NewPool(initial uint64, stream backend.Stream) (*Pool, error) {
	var pool Pool
	if result := C.peer_pool_create(C.uint64_t(initial), address.Pointer(stream), &pool.handle); result != 0 {
		return nil, fmt.Errorf("peer: make a pool of %d bytes: the driver returned %d", initial, int(result))
	}
	return &pool, nil
}

// Close waits for the device and destroys the pool.
func (p *Pool) Close() error {
	if result := C.peer_pool_destroy(p.handle); result != 0 {
		return fmt.Errorf("peer: destroy a pool: the driver returned %d", int(result))
	}
	return nil
}

// Reserved returns the current and the maximum number of bytes that the pool held.
func (p *Pool) Reserved() (current, peak uint64, err error) {
	var now, high C.uint64_t
	if result := C.peer_pool_reserved(p.handle, &now, &high); result != 0 {
		return 0, 0, fmt.Errorf("peer: read the reserved bytes of a pool: the driver returned %d", int(result))
	}
	return uint64(now), uint64(high), nil
}

// Pairs returns the time of cuMemAllocFromPoolAsync and cuMemFreeAsync.
func (p *Pool) Pairs(n int, bytes uint64, stream backend.Stream) (time.Duration, error) {
	return each(n, C.peer_pool_pairs(C.int(n), C.size_t(bytes), p.handle, address.Pointer(stream)))
}

// Replay runs a sequence: operation i allocates bytes[i] into slots[i] or, if bytes[i]
// is zero, frees the memory in the slot. It stops at the limit; done is the number of
// operations in that time.
func (p *Pool) Replay(bytes []uint64, slots []uint32, slotCount int, limit time.Duration, stream backend.Stream) (took time.Duration, done int, err error) {
	var operations C.size_t
	took, err = each(1, C.peer_pool_replay(C.size_t(len(bytes)), (*C.uint64_t)(unsafe.SliceData(bytes)), (*C.uint32_t)(unsafe.SliceData(slots)),
		C.size_t(slotCount), C.int64_t(limit), p.handle, address.Pointer(stream), &operations))
	return took, int(operations), err
}

// Threads runs one thread for each stream, which allocates and frees for the given
// time, and returns the pairs per second.
func (p *Pool) Threads(long time.Duration, bytes uint64, streams []backend.Stream) (rate float64, err error) {
	handles := words(streams)
	var pairs C.uint64_t
	took, err := each(1, C.peer_pool_threads(C.int(len(handles)), C.int64_t(long), C.size_t(bytes), p.handle,
		(*C.uint64_t)(unsafe.SliceData(handles)), &pairs))
	return float64(pairs) / took.Seconds(), err
}

// Kernels returns the time of a round: the given number of launches, alternating
// between the streams, each with separate memory for one number, and the wait for all
// of them.
func (p *Pool) Kernels(rounds, kernels int, streams []backend.Stream, function backend.Function) (time.Duration, error) {
	handles := words(streams)
	return each(rounds, C.peer_pool_kernels(C.int(rounds), C.int(kernels), C.int(len(handles)),
		(*C.uint64_t)(unsafe.SliceData(handles)), p.handle, address.Pointer(function)))
}

func words(streams []backend.Stream) []uint64 {
	handles := make([]uint64, len(streams))
	for i, stream := range streams {
		handles[i] = uint64(stream)
	}
	return handles
}
