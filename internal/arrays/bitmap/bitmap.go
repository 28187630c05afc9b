package bitmap

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Expand writes n bits to the first n bytes of the destination as 0 or 1. The first bit
// is bit bitOffset. A nil stream means that of the destination's block. The two must
// not overlap.
//
// # Waiting
//
// Expand does not wait for work on other streams.
func Expand(stream *device.Stream, destination, bits memory.Slice[uint8], bitOffset, n int) error {
	w, err := check(stream, destination, bits, n)
	switch {
	case err != nil:
	case bitOffset < 0 || uint64(bitOffset)+uint64(n) > 8*bits.Bytes():
		err = fmt.Errorf("bits [%d, %d) of %d bytes: %w", bitOffset, uint64(bitOffset)+uint64(n), bits.Len(), memory.ErrRange)
	case n > destination.Len():
		err = fmt.Errorf("%d bytes do not fit in a destination of %d: %w", n, destination.Len(), memory.ErrRange)
	case n > 0 && w.onHost():
		err = w.onProcessor(func(to, from []byte) { expand(to, from, bitOffset, n) })
	case n > 0:
		err = w.launchExpand(uint64(bitOffset), uint64(n))
	}
	if err != nil {
		return fmt.Errorf("bitmap: expand: %w", err)
	}
	return nil
}

// Pack writes a bit for each of the first n bytes of the source: 1 for those that are
// not zero. It writes ⌈n/8⌉ bytes, with 0 for the bits beyond n. A nil stream means
// that of the destination's block. The two must not overlap.
//
// # Waiting
//
// Pack does not wait for work on other streams.
func Pack(stream *device.Stream, bits, source memory.Slice[uint8], n int) error {
	w, err := check(stream, bits, source, n)
	switch {
	case err != nil:
	case n > source.Len():
		err = fmt.Errorf("%d bytes of a source of %d: %w", n, source.Len(), memory.ErrRange)
	case uint64(n) > 8*bits.Bytes():
		err = fmt.Errorf("%d bits do not fit in a destination of %d bytes: %w", n, bits.Len(), memory.ErrRange)
	case n > 0 && w.onHost():
		err = w.onProcessor(func(to, from []byte) { pack(to, from, n) })
	case n > 0:
		err = w.launchPack(uint64(n))
	}
	if err != nil {
		return fmt.Errorf("bitmap: pack: %w", err)
	}
	return nil
}

// work is one conversion with checked memory and stream.
type work struct {
	stream   *device.Stream
	to, from memory.Slice[uint8]
}

func check(stream *device.Stream, to, from memory.Slice[uint8], n int) (work, error) {
	if n < 0 {
		return work{}, fmt.Errorf("the length %d is negative: %w", n, memory.ErrRange)
	}
	if n == 0 {
		return work{}, nil
	}
	if err := errors.Join(to.Block().Check(), from.Block().Check()); err != nil {
		return work{}, err
	}
	if to.Block().ReadOnly() {
		return work{}, fmt.Errorf("the destination, %v: %w", to.Block(), memory.ErrReadOnly)
	}
	if stream == nil {
		stream = to.Block().Stream()
	}
	for _, dev := range []*device.Device{to.Block().Device(), from.Block().Device()} {
		if !dev.Same(stream.Device()) {
			return work{}, fmt.Errorf("the memory is on %s, the stream on %s: %w", dev, stream.Device(), device.ErrInvalidValue)
		}
	}
	return work{stream: stream, to: to, from: from}, nil
}

func (w work) onHost() bool { return w.stream.Device().Kind() == device.Host }
