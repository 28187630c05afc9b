package staging

import (
	"errors"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/pinned"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// chunk is a buffer of the device's pinned memory and the event of its last copy.
type chunk struct {
	pool    *pinned.Pool
	buffer  pinned.Buffer
	pointer unsafe.Pointer
	memory  []byte
	event   *device.Event
	// done is set by the holder that has waited for the event.
	done bool
}

func newChunk(dev *device.Device, bytes uint64) (*chunk, error) {
	pool, err := pinned.Of(dev)
	if err != nil {
		return nil, err
	}
	buffer, err := pool.TakeWhole(bytes)
	if err != nil {
		return nil, err
	}
	event, err := dev.NewEvent()
	if err != nil {
		return nil, errors.Join(err, pool.Unpin(buffer))
	}
	pointer := buffer.Pointer()
	return &chunk{pool: pool, buffer: buffer, pointer: pointer, memory: unsafe.Slice((*byte)(pointer), bytes), event: event}, nil
}

type direction bool

const (
	toDevice   direction = true
	fromDevice direction = false
)

// enqueue enqueues the copies between the chunk and the device memory of a range of the
// sequence, and records the chunk's event after them. If copies were enqueued but the
// event cannot be recorded, it returns a [*device.UnmarkedError].
func (c *chunk) enqueue(stream *device.Stream, s *sequence, position, bytes uint64, driver backend.Device, way direction) error {
	c.done = false
	return streamwork.EnqueueMarked(stream, c.event, func(handle backend.Stream) error {
		enqueued := false
		for each := range s.within(position, bytes) {
			host, at := unsafe.Add(c.pointer, each.at), each.base.Add(each.offset)
			var err error
			if way == toDevice {
				err = driver.CopyToDeviceAsync(at, host, each.bytes, handle)
			} else {
				err = driver.CopyToHostAsync(host, at, each.bytes, handle)
			}
			if err != nil && enqueued {
				return &device.UnmarkedError{Err: err}
			}
			if err != nil {
				return err
			}
			enqueued = true
		}
		return nil
	})
}

// free unpins the memory. If that fails, freed is false and the chunk is unchanged.
func (c *chunk) free() (freed bool, err error) {
	if err := c.pool.Unpin(c.buffer); err != nil {
		return false, err
	}
	return true, c.event.Close()
}
