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
	// lineBytes keeps words that different streams use out of each other's way.
	lineBytes = 64
)

// pools are never freed: their pages go with the device, as the modules do whose
// kernels write to them.
var pools perdevice.Cache[*pool]

// pool is the words of one device that nobody has.
type pool struct {
	mu   sync.Mutex
	free []*uint64
	// pending are words that were given back while kernels may have had them.
	pending []pendingWord
}

// pendingWord is a word that is free when the event is reached.
type pendingWord struct {
	value *uint64
	event *device.Event
}

// collect makes the words free whose kernels are done. The pool is locked.
func (p *pool) collect() {
	kept := p.pending[:0]
	for _, w := range p.pending {
		if done, err := w.event.Done(); err != nil || !done {
			kept = append(kept, w)
			continue
		}
		_ = w.event.Close() // it is reached, so this cannot lose anything
		p.free = append(p.free, w.value)
	}
	clear(p.pending[len(kept):])
	p.pending = kept
}

// Word is a word of 64 bits that a device and the host see. It belongs to whoever
// took it.
type Word struct {
	pool  *pool
	value *uint64
}

// Take returns a word with a value. It fails where the driver refuses another page.
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

// Value returns what is in the word. What a kernel has written is there when the
// kernel is known to be done.
func (w Word) Value() uint64 { return atomic.LoadUint64(w.value) }

// Lower makes the value the lesser of what it is and another one.
func (w Word) Lower(value uint64) {
	for {
		now := w.Value()
		if now <= value || atomic.CompareAndSwapUint64(w.value, now, value) {
			return
		}
	}
}

// Release gives the word back. No kernel may be left that writes to it; where that is
// not known, as after a wait that was given up, use [Word.ReleaseAfter].
func (w Word) Release() {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.pool.free = append(w.pool.free, w.value)
}

// ReleaseAfter gives the word back when what is enqueued on the stream is done, without
// a wait: it is for kernels that may still write to it. If the stream takes no event
// the word is lost, and the error says why.
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
