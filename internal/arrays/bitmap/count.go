package bitmap

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed count.ptx
var countCode []byte

var loadedCount perdevice.Cache[backend.Function]

func loadCount(dev *device.Device) (backend.Function, error) {
	driver := dev.Driver()
	module, err := driver.ModuleLoad(countCode)
	if err != nil {
		return 0, fmt.Errorf("load the kernel: %w", err)
	}
	function, err := driver.ModuleFunction(module, "bitmap_count")
	if err != nil {
		return 0, errors.Join(err, driver.ModuleUnload(module))
	}
	return function, nil
}

// bytesCountedBy1 is the number of bytes that a thread of the kernel reads at a time.
const bytesCountedBy1 = 16

// Count returns the number of one bits among n bits. The first bit is bit bitOffset.
//
// # Waiting
//
// Count waits for the pending work on the bits and, on a GPU, for its kernel, until the
// context ends. On a GPU it allocates a word under the tag.
func Count(ctx context.Context, bits memory.Slice[uint8], bitOffset, n int, tag string) (int, error) {
	count, err := countBits(ctx, bits, bitOffset, n, tag)
	if err != nil {
		return 0, fmt.Errorf("bitmap: count: %w", err)
	}
	return count, nil
}

func countBits(ctx context.Context, bits memory.Slice[uint8], bitOffset, n int, tag string) (int, error) {
	switch {
	case n < 0 || bitOffset < 0 || uint64(bitOffset)+uint64(n) > 8*bits.Bytes():
		return 0, fmt.Errorf("%d bits from %d on of %d bytes: %w", n, bitOffset, bits.Len(), memory.ErrRange)
	case n == 0:
		return 0, nil
	}
	block := bits.Block()
	if err := block.Check(); err != nil {
		return 0, err
	}
	if block.Device().Kind() == device.Host {
		if err := block.Synchronize(ctx); err != nil {
			return 0, err
		}
		bytes, err := bits.Host()
		if err != nil {
			return 0, err
		}
		return countOnHost(bytes, bitOffset, n), nil
	}
	return countOnGPU(ctx, bits, bitOffset, n, tag)
}

func countOnGPU(ctx context.Context, bits memory.Slice[uint8], bitOffset, n int, tag string) (count int, err error) {
	block := bits.Block()
	stream := block.WorkStream()
	function, err := loadedCount.Get(block.Device(), loadCount)
	if err != nil {
		return 0, err
	}
	sum, err := memory.NewSlice[uint64](block.Manager(), 1, memory.AllocateOptions{Stream: stream, Tag: tag})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sum.Release()) }()
	if err := sum.Fill(stream, 0); err != nil {
		return 0, err
	}
	if err := block.OrderRead(stream); err != nil {
		return 0, err
	}
	w := work{stream: stream, to: sum.AsBytes(), from: bits}
	if err := w.launch(function, uint64(n/8+1), bytesCountedBy1, uint64(bitOffset), uint64(n)); err != nil {
		return 0, err
	}
	var ones [1]uint64
	if err := sum.Download(ctx, stream, ones[:]); err != nil {
		return 0, err
	}
	return int(ones[0]), nil
}

// countOnHost counts all bytes whole and subtracts the excess bits of the first and the
// last.
func countOnHost(bytes []byte, bitOffset, n int) int {
	bytes, bitOffset = bytes[bitOffset/8:], bitOffset%8
	bytes = bytes[:(bitOffset+n+7)/8]
	count := 0
	for _, b := range bytes {
		count += bits.OnesCount8(b)
	}
	last := len(bytes) - 1
	over := 8*len(bytes) - bitOffset - n
	count -= bits.OnesCount8(bytes[0] & (1<<bitOffset - 1))
	return count - bits.OnesCount8(bytes[last]>>(8-over))
}
