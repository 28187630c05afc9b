package pinned_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/pinned"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// counter counts the pinned memory of a device. It fails with the errors that are set.
type counter struct {
	backend.Device
	mu        sync.Mutex
	live      map[unsafe.Pointer]uint64
	pinning   int
	hostAlloc error
	hostFree  error
}

func (c *counter) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hostAlloc != nil {
		return nil, c.hostAlloc
	}
	pointer, err := c.Device.HostAlloc(bytes)
	if err == nil {
		c.live[pointer] = bytes
		c.pinning++
	}
	return pointer, err
}

func (c *counter) HostFree(pointer unsafe.Pointer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hostFree != nil {
		return c.hostFree
	}
	delete(c.live, pointer)
	return c.Device.HostFree(pointer)
}

func (c *counter) pinned() (total uint64) {
	for _, bytes := range c.live {
		total += bytes
	}
	return total
}

func open(t *testing.T) (*pinned.Pool, *counter) {
	t.Helper()
	dev, c := launchtest.OpenWrapped(t, func(below backend.Device) *counter {
		return &counter{Device: below, live: map[unsafe.Pointer]uint64{}}
	})
	pool, err := pinned.Of(dev)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := pool.Trim(0)
		assert.NoError(t, err)
		assert.Zero(t, pool.Stats().Pinned)
		assert.Empty(t, c.live)
	})
	return pool, c
}

func memoryOf(b pinned.Buffer) []byte { return unsafe.Slice((*byte)(b.Pointer()), b.Bytes()) }

// TestModel takes, returns, unpins and trims buffers at random and checks their contents
// and the statistics.
func TestModel(t *testing.T) {
	pool, c := open(t)
	property.Check(t, func(t *rapid.T) {
		type held struct {
			pinned.Buffer
			whole bool
			mark  byte
		}
		var live []held
		inUse := uint64(0)
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			action := rapid.SampledFrom([]string{"take", "take", "whole", "put", "unpin", "trim"}).Draw(t, "action")
			switch {
			case action == "trim":
				keep := uint64(rapid.IntRange(0, 12<<20).Draw(t, "keep"))
				before := pool.Stats().Pinned
				released, err := pool.Trim(keep)
				require.NoError(t, err)
				require.Equal(t, before-released, pool.Stats().Pinned)
			case action == "take" || action == "whole" || len(live) == 0:
				size := rapid.SampledFrom([]uint64{1, 8, 64, 65, 1000, 40_000, 512 << 10, 600_000, 4 << 20}).Draw(t, "size")
				take, want := pool.Take, pinned.Round(size)
				if action == "whole" {
					take, want = pool.TakeWhole, size
				}
				b, err := take(size)
				require.NoError(t, err)
				require.Equal(t, want, b.Bytes())
				require.Zero(t, uintptr(b.Pointer())%64)
				h := held{b, action == "whole", byte(step)}
				for i, m := 0, memoryOf(b); i < len(m); i++ {
					m[i] = h.mark
				}
				inUse += want
				live = append(live, h)
			default:
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				h := live[i]
				live = append(live[:i], live[i+1:]...)
				require.Equal(t, int(h.Bytes()), bytes.Count(memoryOf(h.Buffer), []byte{h.mark}), "nobody else has written to the buffer")
				inUse -= h.Bytes()
				switch {
				case action == "put":
					pool.Put(h.Buffer)
				case h.whole:
					require.NoError(t, pool.UnpinAt(h.Pointer()))
				default:
					require.NoError(t, pool.Unpin(h.Buffer))
				}
			}
			stats := pool.Stats()
			require.Equal(t, inUse, stats.InUse)
			require.Equal(t, c.pinned(), stats.Pinned)
		}
		for _, h := range live {
			pool.Put(h.Buffer)
		}
		_, err := pool.Trim(0)
		require.NoError(t, err)
		require.Zero(t, pool.Stats())
	})
}

// TestLinesGrow checks that one word pins a page and that many words pin few slabs.
func TestLinesGrow(t *testing.T) {
	pool, c := open(t)
	var lines []pinned.Buffer
	for i := range 4096/64 + 1 {
		b, err := pool.Take(8)
		require.NoError(t, err)
		lines = append(lines, b)
		if i == 0 {
			require.EqualValues(t, 4096, pool.Stats().Pinned)
		}
	}
	require.Equal(t, 2, c.pinning)
	for _, b := range lines {
		pool.Put(b)
	}
}

// TestCallersShareSlab has concurrent callers of one size pin one slab.
func TestCallersShareSlab(t *testing.T) {
	pool, c := open(t)
	var users sync.WaitGroup
	for range 16 {
		users.Go(func() {
			b, err := pool.Take(1000)
			if assert.NoError(t, err) {
				pool.Put(b)
			}
		})
	}
	users.Wait()
	require.Equal(t, 1, c.pinning)
}

func TestLimitUnpinsIdleMemoryFirst(t *testing.T) {
	pool, _ := open(t)
	idle, err := pool.TakeWhole(6 << 20)
	require.NoError(t, err)
	pool.Put(idle)
	require.NoError(t, pool.Limit(8<<20))
	used, err := pool.TakeWhole(5 << 20)
	require.NoError(t, err)
	require.Equal(t, pinned.Stats{Limit: 8 << 20, Pinned: 5 << 20, InUse: 5 << 20}, pool.Stats())
	_, err = pool.TakeWhole(4 << 20)
	require.ErrorIs(t, err, device.ErrOutOfMemory)
	_, err = pool.TakeWhole(9 << 20)
	require.ErrorContains(t, err, "9.0 MiB more exceed the limit of 8.0 MiB")
	pool.Put(used)
	require.NoError(t, pool.Limit(1<<20))
	require.Zero(t, pool.Stats().Pinned, "above the new limit")
	require.NoError(t, pool.Limit(0))
}

// TestDriverFails checks that nothing is lost if the driver cannot pin or unpin memory.
func TestDriverFails(t *testing.T) {
	pool, c := open(t)
	c.hostAlloc = errors.New("no memory to pin")
	_, err := pool.Take(100)
	require.ErrorIs(t, err, c.hostAlloc)
	require.Zero(t, pool.Stats())
	c.hostAlloc = nil

	c.hostFree = errors.New("the driver does not unpin")
	for _, take := range []func(uint64) (pinned.Buffer, error){pool.Take, pool.TakeWhole} {
		b, err := take(1000)
		require.NoError(t, err)
		before := pool.Stats()
		require.ErrorIs(t, pool.Unpin(b), c.hostFree)
		require.Equal(t, before, pool.Stats(), "the buffer belongs to its user")
		other, err := take(1000)
		require.NoError(t, err)
		require.NotEqual(t, b.Pointer(), other.Pointer())
		pool.Put(b)
		pool.Put(other)
		_, err = pool.Trim(0)
		require.ErrorIs(t, err, c.hostFree)
	}
	c.hostFree = nil
	require.ErrorIs(t, pool.UnpinAt(unsafe.Pointer(pool)), device.ErrInvalidValue)
	_, err = pinned.Of(nil)
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

// TestPutAfter reuses a buffer when its event has completed.
func TestPutAfter(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		pool, err := pinned.Of(dev)
		require.NoError(t, err)
		before := pool.Stats().InUse
		b, err := pool.Take(8)
		require.NoError(t, err)
		event, err := dev.DefaultStream().Record()
		require.NoError(t, err)
		require.NoError(t, event.Wait(t.Context()))
		pool.PutAfter(b, event)
		again, err := pool.Take(8)
		require.NoError(t, err)
		require.Equal(t, b, again)
		pool.Put(again)
		require.Equal(t, before, pool.Stats().InUse)
	})
}
