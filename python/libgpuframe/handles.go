//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/memory"
)

// handle identifies an object for C: its slot in the low half, the slot's generation in
// the high half. Zero identifies no object.
type handle uint64

// objects maps handles to objects.
var objects table

// table hands out handles. An emptied slot is reused with another generation, so an old
// handle is not valid again.
type table struct {
	mu    sync.RWMutex
	slots []slot
	idle  []uint32
}

type slot struct {
	generation uint32
	value      any
}

func (t *table) add(value any) handle {
	t.mu.Lock()
	defer t.mu.Unlock()
	var number uint32
	if last := len(t.idle) - 1; last >= 0 {
		number, t.idle = t.idle[last], t.idle[:last]
	} else {
		number = uint32(len(t.slots))
		t.slots = append(t.slots, slot{})
	}
	s := &t.slots[number]
	s.generation = max(s.generation+1, 1)
	s.value = value
	return handle(s.generation)<<32 | handle(number)
}

func (t *table) get(h handle) any {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.find(h); s != nil {
		return s.value
	}
	return nil
}

// take empties the slot and returns its object, or nil.
func (t *table) take(h handle) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.find(h)
	if s == nil {
		return nil
	}
	value := s.value
	s.value = nil
	t.idle = append(t.idle, uint32(h))
	return value
}

func (t *table) find(h handle) *slot {
	number, generation := uint32(h), uint32(h>>32)
	if uint64(number) >= uint64(len(t.slots)) {
		return nil
	}
	s := &t.slots[number]
	if s.value == nil || s.generation != generation {
		return nil
	}
	return s
}

// the returns the object of a handle, which must have type T.
func the[T any](h handle) (T, error) {
	value, ok := objects.get(h).(T)
	if !ok {
		return value, fmt.Errorf("the object was released: %w", memory.ErrReleased)
	}
	return value, nil
}

// holder is an object that counts references: a table or a column.
type holder interface {
	Retain() error
	Release() error
}

// retained returns the object of a handle with a reference that the caller releases. The
// reference keeps the object alive if another thread releases the handle during the call.
func retained[T holder](h handle) (T, error) {
	value, err := the[T](h)
	if err != nil {
		return value, err
	}
	if err := value.Retain(); err != nil {
		var none T
		return none, err
	}
	return value, nil
}
