package hostword

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/perdevice"
)

const (
	pageBytes = 4096
	// lineBytes keeps the words of different streams in different cache lines.
	lineBytes = 64
)

// pools are never freed. Like the modules with the kernels that write to their pages,
// the pages live as long as the device.
var pools perdevice.Cache[*pool]

// pool holds the unused words of one device.
type pool struct {
	mu   sync.Mutex
	free []*uint64
	// pending are released words that kernels may still write to.
	pending []pendingWord
}

// pendingWord is a word that becomes free when the event has completed.
type pendingWord struct {
	value *uint64
	event *device.Event
}

// collect frees the words with completed events. The caller holds the lock.
func (p *pool) collect() {
	kept := p.pending[:0]
	for _, w := range p.pending {
		if done, err := w.event.Done(); err != nil || !done {
			kept = append(kept, w)
			continue
		}
		_ = w.event.Close() // the event has completed, so an error loses nothing
		p.free = append(p.free, w.value)
	}
	clear(p.pending[len(kept):])
	p.pending = kept
}

// Word is a word of 64 bits that a device and the host share. It belongs to the caller
// of Take.
type Word struct {
	pool  *pool
	value *uint64
}

// Take returns a word with a value. It fails if the driver cannot allocate another
// page.
func Take(dev *device.Device, value uint64) (Word, error) {
	p, err := pools.Get(dev, func(*device.Device) (*pool, error) { return new(pool), nil })
	if err != nil {
		return Word{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pending) > 0 {
		p.collect()
	}
	if len(p.free) == 0 {
		page, err := dev.Driver().HostAlloc(pageBytes)
		if err != nil {
			return Word{}, fmt.Errorf("page-locked memory for answers of kernels: %w", err)
		}
		for offset := 0; offset < pageBytes; offset += lineBytes {
			p.free = append(p.free, (*uint64)(unsafe.Add(page, offset)))
		}
	}
	last := len(p.free) - 1
	w := Word{pool: p, value: p.free[last]}
	p.free = p.free[:last]
	atomic.StoreUint64(w.value, value)
	return w, nil
}

// Pointer returns the word's address, which is the same on the device.
func (w Word) Pointer() device.Pointer { return device.Pointer(uintptr(unsafe.Pointer(w.value))) }

// Value returns the value of the word. A kernel's write is visible when the kernel is
// known to be done.
func (w Word) Value() uint64 { return atomic.LoadUint64(w.value) }

// Lower sets the value to the minimum of itself and another value.
func (w Word) Lower(value uint64) {
	for {
		now := w.Value()
		if now <= value || atomic.CompareAndSwapUint64(w.value, now, value) {
			return
		}
	}
}

// Release returns the word to the pool. No kernel may write to it any more. If that is
// not certain, for example after an abandoned wait, use [Word.ReleaseAfter].
func (w Word) Release() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.pool.free = append(w.pool.free, w.value)
}

// ReleaseAfter returns the word to the pool when the work enqueued on the stream is
// done, without a wait, for kernels that may still write to it. If recording an event
// fails, the word is lost and ReleaseAfter returns the error.
func (w Word) ReleaseAfter(stream *device.Stream) error {
	event, err := stream.Record()
	if err != nil {
		return fmt.Errorf("page-locked memory for answers of kernels: give back a word: %w", err)
	}
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.pool.pending = append(w.pool.pending, pendingWord{w.value, event})
	return nil
}
