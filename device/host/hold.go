package host

import (
	"sync"

	"github.com/gpuframe/gpuframe/device/backend"
)

// HoldStream keeps what is enqueued on a stream from now on from running until
// release is called, which does nothing a second time. No goroutine waits. It is
// for tests of order, which ask a device for it by an interface of their own.
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
