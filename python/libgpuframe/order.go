//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory"
)

// streamNumbered returns the stream of a device for a number of the Python protocols. 1
// is the legacy default stream. 2 is the default stream of the calling thread and returns
// the same stream, because a wait for one is a wait for both. Other numbers are handles,
// which are not used after the call.
func streamNumbered(dev *device.Device, number int64) *device.Stream {
	if number <= 2 {
		return dev.DefaultStream()
	}
	return dev.WrapStream(backend.Stream(number))
}

// gpuframe_order makes a consumer's stream wait, on the device, until a table or a column
// is complete.
//
//export gpuframe_order
func gpuframe_order(h C.uint64_t, stream C.int64_t) *C.char {
	return guarded(func() error {
		object, err := heldObject(handle(h))
		if err != nil {
			return err
		}
		defer object.Release()
		blocks := func(yield func(*memory.Block) bool) {}
		switch typed := object.(type) {
		case *series:
			blocks = typed.Blocks
		case *buffer.Buffer:
			blocks = blocksOf(typed)
		}
		seen := map[*memory.Block]bool{}
		for block := range blocks {
			if seen[block] {
				continue
			}
			seen[block] = true
			if block.Device().Kind() == device.Host {
				return fmt.Errorf("stream=%d: the data is on %v, which has no streams; leave stream out: %w", stream, block.Device(), errArgument)
			}
			if err := block.OrderBefore(streamNumbered(block.Device(), int64(stream))); err != nil {
				return errors.Join(fmt.Errorf("stream=%#x", uint64(stream)), err)
			}
		}
		return nil
	})
}

// blocksOf returns the blocks of a table's columns.
func blocksOf(b *buffer.Buffer) func(yield func(*memory.Block) bool) {
	return func(yield func(*memory.Block) bool) {
		for i := range b.NumColumns() {
			for block := range b.Column(i).Blocks {
				if !yield(block) {
					return
				}
			}
		}
	}
}
