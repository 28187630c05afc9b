package memory

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// CopyFrom enqueues a copy of source to s on the stream, after the pending work on both
// blocks; see [Slice.Unordered]. The source must be as long as s and must not overlap
// it. A nil stream means the stream of s's block.
//
// The source may be on another device of the same kind. Between two GPUs that can
// access each other's memory, the copy goes directly, over NVLink if available;
// otherwise the driver copies through page-locked memory. [Connect], or the first copy of
// 1 MiB or more between two managers, opens the memory of each to the other's GPU.
func (s Slice[T]) CopyFrom(stream *device.Stream, source Slice[T]) error {
	if source.length != s.length {
		return fmt.Errorf("memory: copy %d elements to a slice of %d: %w", source.length, s.length, ErrRange)
	}
	if s.length == 0 {
		return nil
	}
	if err := source.block.Check(); err != nil {
		return err
	}
	if stream == nil {
		stream = s.block.Stream()
	}
	if err := source.orderRead(stream); err != nil {
		return fmt.Errorf("memory: copy to slice: order after the work on the source: %w", err)
	}
	from, bytes := source.Pointer(), s.Bytes()
	sourceDevice := source.block.Device()
	if own := s.block.Device(); own.Kind() != sourceDevice.Kind() {
		return fmt.Errorf("memory: copy from %s to %s: use Download and Upload: %w", sourceDevice, own, device.ErrNotSupported)
	}
	peer := source.block.Kind() == device.MemoryDevice && !sourceDevice.Same(s.block.Device())
	if peer {
		connect(s.block, source.block, bytes)
	}
	return s.enqueue(stream, "copy to", func(driver backend.Device, to device.Pointer, handle backend.Stream) error {
		if peer {
			return driver.CopyFromPeerAsync(to, from, sourceDevice.Info().Ordinal, bytes, handle)
		}
		return driver.CopyOnDeviceAsync(to, from, bytes, handle)
	}, source.block)
}

// Fill enqueues a write of the value to every element on the stream, after the pending
// work on the block; see [Slice.Unordered]. A nil stream means the block's stream.
func (s Slice[T]) Fill(stream *device.Stream, value T) error {
	if s.length == 0 {
		return nil
	}
	pattern := address.BytesOf([]T{value})
	count := uint64(s.length)
	return s.enqueue(stream, "fill", func(driver backend.Device, to device.Pointer, handle backend.Stream) error {
		return fill(driver, to, pattern, count, handle)
	})
}

// fill writes a pattern of 1 to 32 bytes count times. The driver can fill with patterns
// of up to four bytes. A longer pattern is written once, word by word, and then doubled
// by copies, which costs one copy of the whole range and needs no kernel.
func fill(driver backend.Device, to device.Pointer, pattern []byte, count uint64, stream backend.Stream) error {
	width := len(pattern)
	var word [4]byte
	copy(word[:], pattern)
	if width <= 4 {
		return driver.MemsetAsync(to, binary.LittleEndian.Uint32(word[:]), width, count, stream)
	}
	words := uint64(width) / 4
	uniform := true
	for i := uint64(1); i < words; i++ {
		uniform = uniform && [4]byte(pattern[4*i:]) == word
	}
	if uniform {
		return driver.MemsetAsync(to, binary.LittleEndian.Uint32(word[:]), 4, count*words, stream)
	}
	for i := range words {
		value := binary.LittleEndian.Uint32(pattern[4*i:])
		if err := driver.MemsetAsync(to.Add(4*i), value, 4, 1, stream); err != nil {
			return err
		}
	}
	total := count * uint64(width)
	for written := uint64(width); written < total; {
		step := min(written, total-written)
		if err := driver.CopyOnDeviceAsync(to.Add(written), to, step, stream); err != nil {
			return err
		}
		written += step
	}
	return nil
}

// enqueue checks that s may be written, calls operation with the stream's handle and
// records the use of s and of the other blocks, which it reads.
func (s Slice[T]) enqueue(stream *device.Stream, name string,
	operation func(driver backend.Device, to device.Pointer, handle backend.Stream) error, others ...*Block,
) error {
	if err := s.block.checkWritable(); err != nil {
		return fmt.Errorf("memory: %s slice: %w", name, err)
	}
	if stream == nil {
		stream = s.block.Stream()
	}
	if !stream.Device().Same(s.block.Device()) {
		return fmt.Errorf("memory: %s slice on %s: the stream belongs to %s: %w", name, s.block.Device(), stream.Device(), device.ErrInvalidValue)
	}
	for _, block := range append(others[:len(others):len(others)], s.block) {
		if err := block.Retain(); err != nil {
			return fmt.Errorf("memory: %s slice: %w", name, err)
		}
		defer block.Release()
	}
	if err := s.Order(stream); err != nil {
		return fmt.Errorf("memory: %s slice: %w", name, err)
	}
	err := stream.Enqueue(func(handle backend.Stream) error {
		return operation(s.block.Device().Driver(), s.Pointer(), handle)
	})
	if err != nil {
		err = fmt.Errorf("memory: %s slice of %d bytes: %w", name, s.Bytes(), err)
	}
	for _, block := range others { // even after an error: part of the work may be enqueued
		err = errors.Join(err, block.RecordRead(stream))
	}
	return errors.Join(err, s.block.RecordUse(stream))
}

func (b *Block) checkWritable() error {
	if err := b.Check(); err != nil {
		return err
	}
	if b.ReadOnly() {
		return fmt.Errorf("%v: %w", b, ErrReadOnly)
	}
	return nil
}
