package host

import "sync"

// table issues handles for the objects of a Device. Handles are small numbers from 1
// and never repeat, so a stale handle never refers to a newer object.
type table[H ~uintptr, V any] struct {
	mu      sync.RWMutex
	last    H
	objects map[H]V
}

func (t *table[H, V]) add(object V) H {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.objects == nil {
		t.objects = make(map[H]V)
	}
	t.last++
	t.objects[t.last] = object
	return t.last
}

func (t *table[H, V]) get(handle H) (V, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	object, ok := t.objects[handle]
	return object, ok
}

// remove removes an object. Of several callers with the same handle, one gets the
// object.
func (t *table[H, V]) remove(handle H) (V, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	object, ok := t.objects[handle]
	delete(t.objects, handle)
	return object, ok
}

func (t *table[H, V]) all() []V {
	t.mu.RLock()
	defer t.mu.RUnlock()
	objects := make([]V, 0, len(t.objects))
	for _, object := range t.objects {
		objects = append(objects, object)
	}
	return objects
}
