package hostword

import (
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/pinned"
)

const wordBytes = 8

// Word is a word of 64 bits that a device and the host share. It belongs to the caller
// of Take.
type Word struct {
	pool   *pinned.Pool
	buffer pinned.Buffer
}

// Take returns a word with a value. It fails if no more memory can be page-locked.
func Take(dev *device.Device, value uint64) (Word, error) {
	pool, err := pinned.Of(dev)
	if err != nil {
		return Word{}, err
	}
	buffer, err := pool.Take(wordBytes)
	if err != nil {
		return Word{}, fmt.Errorf("page-locked memory for results of kernels: %w", err)
	}
	w := Word{pool: pool, buffer: buffer}
	atomic.StoreUint64(w.value(), value)
	return w, nil
}

func (w Word) value() *uint64 { return (*uint64)(w.buffer.Pointer()) }

// Pointer returns the word's address, which is the same on the device.
func (w Word) Pointer() device.Pointer { return device.Pointer(uintptr(w.buffer.Pointer())) }

// Value returns the value of the word. A kernel's write is visible when the kernel is
// known to be done.
func (w Word) Value() uint64 { return atomic.LoadUint64(w.value()) }

// Lower sets the value to the minimum of itself and another value.
func (w Word) Lower(value uint64) {
	for {
		now := w.Value()
		if now <= value || atomic.CompareAndSwapUint64(w.value(), now, value) {
			return
		}
	}
}

// Release returns the word to the device's pool. No kernel may write to it any more. If
// that is not certain, for example after an abandoned wait, use [Word.ReleaseAfter].
func (w Word) Release() { w.pool.Put(w.buffer) }

// ReleaseAfter returns the word to the pool when the work enqueued on the stream is
// done, without a wait, for kernels that may still write to it. If recording an event
// fails, the word is lost and ReleaseAfter returns the error.
func (w Word) ReleaseAfter(stream *device.Stream) error {
	event, err := stream.Record()
	if err != nil {
		return fmt.Errorf("page-locked memory for results of kernels: give back a word: %w", err)
	}
	w.pool.PutAfter(w.buffer, event)
	return nil
}
