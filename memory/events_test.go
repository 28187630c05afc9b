package memory_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestEventsOfOneGoroutine(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Name: "top", Budget: 1 << 20})
		child, err := mgr.Child("tenant", 0)
		require.NoError(t, err)
		ring, stop := mgr.RecordEvents(1000)
		first, err := child.Allocate(100, memory.AllocateOptions{Tag: "a"})
		require.NoError(t, err)
		memory.SeparateEvents(ring)
		empty, err := child.Allocate(0, memory.AllocateOptions{Tag: "a"})
		require.NoError(t, err)
		second, err := mgr.Allocate(200, memory.AllocateOptions{})
		require.NoError(t, err)
		memory.SeparateEvents(ring)
		identity, pointer := first.Identity(), first.Pointer()
		require.NoError(t, first.Release())
		require.NoError(t, empty.Release())
		_, err = child.Allocate(2<<20, memory.AllocateOptions{Tag: "large"})
		require.ErrorIs(t, err, memory.ErrBudget)
		require.NoError(t, second.ReleaseLater())
		stop()
		stop()
		last, err := mgr.Allocate(300, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, last.Release())

		events := ring.Events()
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprint(e.Kind, " ", e.Manager.Name(), " ", e.Tag, " ", e.Bytes))
		}
		require.Equal(t, []string{"1 tenant a 100", "1 top  200", "2 tenant a 100", "3 tenant large 2097152", "2 top  200"}, got)
		assert.Equal(t, pointer, events[0].Pointer)
		assert.Equal(t, pointer, events[2].Pointer)
		assert.Equal(t, identity.Number, events[2].Number)
		assert.Equal(t, identity.Generation, events[0].Generation)
		assert.Same(t, mgr.Stream(), events[0].Stream)
		assert.EqualValues(t, 1<<20-200, events[3].Remaining)
		assert.Zero(t, events[3].Pointer)
		for i := range events[1:] {
			assert.False(t, events[i+1].Time.Before(events[i].Time))
		}
		require.NoError(t, child.Close())
	})
}

// A ring keeps the last events, and is as large as the largest use of it.
func TestEventRingKeepsTheLast(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	small, stopSmall := mgr.RecordEvents(10)
	large, stopLarge := mgr.RecordEvents(1000)
	require.Same(t, small, large)
	stopSmall()
	for i := range 3000 {
		// All blocks have one address, so each release follows its allocation.
		block, err := mgr.Allocate(uint64(1+i%500), memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, block.Release())
		if i == 5 {
			require.Len(t, large.Events(), 12)
		}
	}
	events := large.Events()
	require.Len(t, events, 1000)
	for i, e := range events {
		if i%2 == 1 {
			require.Equal(t, events[i-1].Bytes, e.Bytes)
			require.Equal(t, events[i-1].Number, e.Number)
			require.Equal(t, events[i-1].Generation, e.Generation)
		}
	}
	stopLarge()
	fresh, stop := mgr.RecordEvents(10)
	defer stop()
	require.Empty(t, fresh.Events())
}

// Goroutines allocate and release while others read: each history must be possible.
func TestEventsOfManyGoroutines(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const last = 3000
	ring, stop := mgr.RecordEvents(last)
	defer stop()
	var workers sync.WaitGroup
	for worker := range uint64(8) {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(worker, 1))
			stream, err := dev.NewStream()
			if !assert.NoError(t, err) {
				return
			}
			var held []*memory.Block
			for range 1500 {
				if len(held) == 0 || len(held) < 10 && random.IntN(2) == 0 {
					block, err := mgr.Allocate(uint64(1+random.IntN(4096)), memory.AllocateOptions{Stream: stream, Tag: fmt.Sprint(worker)})
					if !assert.NoError(t, err) {
						return
					}
					held = append(held, block)
					continue
				}
				at := random.IntN(len(held))
				assert.NoError(t, held[at].Release())
				held[at] = held[len(held)-1]
				held = held[:len(held)-1]
			}
			for _, block := range held {
				assert.NoError(t, block.Release())
			}
			assert.NoError(t, stream.Close())
		})
	}
	for range 10 {
		requirePossible(t, ring.Events())
	}
	workers.Wait()
	events := ring.Events()
	require.Len(t, events, last)
	requirePossible(t, events)
}

// requirePossible requires that no address has two blocks at a time.
func requirePossible(t *testing.T, events []memory.Event) {
	type identity struct{ number, generation uint64 }
	holder := make(map[device.Pointer]identity)
	for i, e := range events {
		has, held := holder[e.Pointer]
		switch e.Kind {
		case memory.Allocated:
			require.False(t, held, "event %d of %d", i, len(events))
			holder[e.Pointer] = identity{e.Number, e.Generation}
		case memory.Released:
			require.True(t, !held || has == identity{e.Number, e.Generation}, "event %d of %d", i, len(events))
			delete(holder, e.Pointer)
		}
	}
}
