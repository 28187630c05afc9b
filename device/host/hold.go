package host

import (
	"sync"

	"github.com/gpuframe/gpuframe/device/backend"
)

// HoldStream blocks work that is enqueued on a stream after the call until release is
// called; a second call of release does nothing. No goroutine waits. HoldStream is for
// tests of order, which find it by a private interface.
func (d *device) HoldStream(handle backend.Stream) (release func(), err error) {
	s, err := d.stream("HoldStream", handle)
	if err != nil {
		return nil, err
	}
	gate := &mark{}
	if err := d.enqueue("HoldStream", handle, s, &step{wait: gate}); err != nil {
		return nil, err
	}
	return sync.OnceFunc(gate.reach), nil
}
