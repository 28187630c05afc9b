package arrowdev

import (
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// lease is an array that was moved here. Its release runs when the last holder drops
// the lease.
type lease struct {
	array cabi.Array
	holds atomic.Int64
}

// newLease moves an array here. It marks source, the struct that the array was copied
// from, as released.
func newLease(array cabi.Array, source *cabi.Array) *lease {
	l := &lease{array: array}
	l.holds.Store(1)
	source.Release = 0
	return l
}

func (l *lease) hold() { l.holds.Add(1) }

func (l *lease) drop() error {
	if l.holds.Add(-1) > 0 || l.array.Release == 0 {
		return nil
	}
	if endedBefore(&l.array) {
		return nil
	}
	return releaseArray(&l.array)
}

// live reports whether the array may be read. An array that was released or moved
// before, which the standard marks, may not be read. An unmarked copy of a gpuframe
// export that has ended may not be read either.
func (l *lease) live() bool { return l.array.Release != 0 && !endedBefore(&l.array) }

// endedBefore reports whether the struct is of a gpuframe export that has ended. The
// memory that it points to is freed.
func endedBefore(array *cabi.Array) bool {
	if array.Release != ownRelease() {
		return false
	}
	_, _, own := array.OwnerOf()
	return !own
}

// ownRelease is the release callback of gpuframe's arrays.
var ownRelease = sync.OnceValue(func() uintptr {
	var array cabi.Array
	tree, ok := cabi.Begin(nil, 0, 1)
	if !ok {
		return 0
	}
	defer tree.Drop()
	tree.OwnArray(&array)
	return array.Release
})
