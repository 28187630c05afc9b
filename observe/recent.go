package observe

import (
	"slices"
	"sync"
)

// recent has the last values that were added. It is safe for concurrent use.
type recent[T any] struct {
	mu   sync.Mutex
	last []T
}

// add adds a value. Of more than most values it drops the first.
func (r *recent[T]) add(value T, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == most {
		r.last = slices.Delete(r.last, 0, 1)
	}
	r.last = append(r.last, value)
}

// list returns the values, the oldest first. It is not nil.
func (r *recent[T]) list() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]T{}, r.last...)
}
