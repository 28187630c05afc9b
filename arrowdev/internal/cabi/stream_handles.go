package cabi

import (
	"sync"
	"unsafe"
)

// handles maps the numbers that C structs carry to Go values. Numbers start at one and
// are not reused, so a stale number is always recognised.
type handles[T any] struct {
	mu   sync.Mutex
	last uint64
	live map[uint64]T
}

func (h *handles[T]) add(value T) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live == nil {
		h.live = map[uint64]T{}
	}
	h.last++
	h.live[h.last] = value
	return h.last
}

func (h *handles[T]) find(number uint64) (T, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, ok := h.live[number]
	return value, ok
}

func (h *handles[T]) take(number uint64) (T, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, ok := h.live[number]
	delete(h.live, number)
	return value, ok
}

func (h *handles[T]) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}

// Live counts the objects of this process that foreign code holds: streams, producers,
// tasks and handlers. Tests compare it.
func Live() int { return sources.count() + producers.count() + tasks.count() + listeners.count() }

// A pool is C memory for structs of one size. It is never returned to the system, and
// the struct that has been idle longest is reused first: a foreign call on an ended
// struct usually finds its last contents.
type pool struct {
	mu    sync.Mutex
	bytes uintptr
	idle  []unsafe.Pointer
	used  int
}

const structsAtOnce = 64

var (
	pieces       = pool{bytes: unsafe.Sizeof(DeviceArray{})} // the largest
	producerPool = pool{bytes: unsafe.Sizeof(AsyncProducer{})}
	handlerPool  = pool{bytes: unsafe.Sizeof(AsyncHandler{})}
	_            = [unsafe.Sizeof(DeviceArray{}) - unsafe.Sizeof(Schema{})]byte{}
)

// take returns a cleared struct, or nil if C has no memory.
func (p *pool) take() unsafe.Pointer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		memory := allocate(structsAtOnce * p.bytes)
		if memory == nil {
			return nil
		}
		for i := range uintptr(structsAtOnce) {
			p.idle = append(p.idle, unsafe.Add(memory, i*p.bytes))
		}
	}
	memory := p.idle[0]
	p.idle = p.idle[1:]
	p.used++
	clear(unsafe.Slice((*byte)(memory), p.bytes))
	return memory
}

// put returns a struct to the pool unchanged.
func (p *pool) put(memory unsafe.Pointer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, memory)
	p.used--
}

func (p *pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// NewStruct returns a cleared struct in C memory, or nil if C has no memory. T is one
// of this package's structs.
func NewStruct[T any]() *T { return (*T)(pieces.take()) }

// FreeStruct clears the memory of NewStruct and frees it. Nil is ignored.
func FreeStruct[T any](memory *T) {
	if memory != nil {
		clear(unsafe.Slice((*byte)(unsafe.Pointer(memory)), pieces.bytes))
		pieces.put(unsafe.Pointer(memory))
	}
}

// Structs returns the number of structs of this package in C memory that are in use.
func Structs() int { return pieces.count() + producerPool.count() + handlerPool.count() }
