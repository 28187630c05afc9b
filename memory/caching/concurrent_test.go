package caching

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Many goroutines share a few streams and little memory. Work on its streams fills
// every block with a unique number, which the block must keep until it is freed,
// with work on it still enqueued.
func TestManyGoroutinesKeepTheirContents(t *testing.T) {
	for name, mode := range map[string]SegmentMode{"fixed": FixedSegments, "expandable": ExpandableSegments} {
		t.Run(name, func(t *testing.T) {
			SkipFewAddresses(t, mode)
			dev, err := device.Open("host")
			require.NoError(t, err)
			options := smallSegments(mode)
			options.LimitBytes = 24 << 20
			r, err := New(dev, options)
			if errors.Is(err, device.ErrNotSupported) {
				t.Skip("this system cannot map memory")
			}
			require.NoError(t, err)
			c := contents{resource: r}
			for range 8 {
				stream, err := dev.NewStream()
				require.NoError(t, err)
				c.streams = append(c.streams, stream)
			}
			var group errgroup.Group
			for i := range 64 {
				random := rand.New(rand.NewPCG(uint64(i), 11))
				group.Go(func() error {
					for range 60 {
						if err := c.round(random, c.draw(random)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			for i := range 4 { // and more streams are opened and closed than a resource keeps caches for
				random := rand.New(rand.NewPCG(uint64(i), 12))
				group.Go(func() error { return c.passers(dev, random) })
			}
			require.NoError(t, group.Wait())
			require.NoError(t, dev.Synchronize(t.Context()))
			checkBooks(t, r, nil)
			require.Zero(t, r.Stats().InUse)
			require.NotZero(t, c.blocks.Load())
			require.NoError(t, r.Close())
			require.Zero(t, r.Stats().Reserved)
			for _, stream := range c.streams {
				require.NoError(t, stream.Close())
			}
			require.NoError(t, dev.Close())
		})
	}
}

type contents struct {
	resource *Resource
	streams  []*device.Stream
	blocks   atomic.Uint64
}

func (c *contents) draw(random *rand.Rand) *device.Stream {
	return c.streams[random.IntN(len(c.streams))]
}

// passers are streams that are used for one block each.
func (c *contents) passers(dev *device.Device, random *rand.Rand) error {
	for range 40 {
		stream, err := dev.NewStream()
		if err == nil {
			err = c.round(random, stream)
		}
		if err == nil {
			err = stream.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// round allocates a block, uses it and frees it, or trims.
func (c *contents) round(random *rand.Rand, stream *device.Stream) error {
	if random.IntN(20) == 0 {
		_, err := c.resource.Trim(uint64(random.IntN(8)) << 20)
		return err
	}
	size := []uint64{512, 3000, 8 << 10, 20_000, 64 << 10, 200_000}[random.IntN(6)] &^ 3
	allocation, err := c.resource.Allocate(size, stream)
	if errors.Is(err, device.ErrOutOfMemory) {
		return nil
	} else if err != nil {
		return err
	}
	id := uint32(c.blocks.Add(1))
	var further []*device.Stream
	err = c.fill(allocation, id, stream)
	last := stream
	if other := c.draw(random); err == nil && other != stream && random.IntN(2) == 0 {
		id, last, further = ^id, other, append(further, other)
		if err = other.WaitStream(stream); err == nil {
			err = c.fill(allocation, id, other)
		}
	}
	if err == nil && random.IntN(3) > 0 {
		err = c.verify(allocation, id, last)
	}
	if err == nil {
		err = c.fill(allocation, 0xDEAD, last) // this work is still pending when the block is freed
	}
	return errors.Join(err, c.resource.Free(allocation, further))
}

func (c *contents) fill(allocation resource.Allocation, value uint32, stream *device.Stream) error {
	return stream.Enqueue(func(handle backend.Stream) error {
		return c.resource.device.Driver().MemsetAsync(allocation.Pointer, value, 4, allocation.Bytes/4, handle)
	})
}

func (c *contents) verify(allocation resource.Allocation, want uint32, stream *device.Stream) error {
	if err := stream.Synchronize(context.Background()); err != nil {
		return err
	}
	got := make([]byte, allocation.Bytes)
	if err := c.resource.device.Driver().CopyToHost(unsafe.Pointer(&got[0]), allocation.Pointer, allocation.Bytes); err != nil {
		return err
	}
	if value := binary.NativeEndian.Uint32(got); value != want || !bytes.Equal(got[4:], got[:len(got)-4]) {
		return fmt.Errorf("a block of %d bytes holds %#x or more, want %#x", len(got), value, want)
	}
	return nil
}
