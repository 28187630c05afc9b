package host

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// TestHammer shares streams, events and pools between goroutines, which destroy them
// while others use them. Every call must succeed or return invalid value.
func TestHammer(t *testing.T) {
	d := open(t)
	var group sync.WaitGroup
	failures := make([]error, 8)
	shared := &sharedHandles{d: d}
	for i := range failures {
		group.Go(func() { failures[i] = shared.hammer(rand.New(rand.NewPCG(1, uint64(i))), 400) })
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
	require.NoError(t, d.Synchronize())
	require.Zero(t, d.unfinished.Load())
}

// TestHammerAcrossClose closes the device while others use it. Each call then succeeds,
// or returns an error for the closed device or the invalid value.
func TestHammerAcrossClose(t *testing.T) {
	for round := range uint64(10) {
		d := open(t)
		var group sync.WaitGroup
		failures := make([]error, 4)
		shared := &sharedHandles{d: d}
		for i := range failures {
			group.Go(func() { failures[i] = shared.hammer(rand.New(rand.NewPCG(round, uint64(i))), 100) })
		}
		group.Go(func() { _ = d.Close() })
		group.Wait()
		for _, err := range failures {
			if err != nil {
				require.ErrorIs(t, err, backend.ErrClosed)
			}
		}
		later := open(t)
		// A call that began before Close may enqueue work after Close has waited, if another
		// Device is open.
		require.NoError(t, later.Synchronize())
		require.Zero(t, later.unfinished.Load(), "no work is lost")
		for _, p := range shared.left {
			require.NoError(t, later.Free(p))
		}
	}
}

// sharedHandles are the handles that the goroutines of a hammer test share.
type sharedHandles struct {
	d  *device
	mu sync.Mutex
	// Other goroutines may have destroyed any of these.
	streams []backend.Stream
	events  []backend.Event
	left    []backend.Pointer
}

func (h *sharedHandles) pick(random *rand.Rand) (s backend.Stream, e backend.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) > 0 {
		s = h.streams[len(h.streams)-1-random.IntN(min(8, len(h.streams)))]
	}
	if len(h.events) > 0 {
		e = h.events[len(h.events)-1-random.IntN(min(8, len(h.events)))]
	}
	return s, e
}

func (h *sharedHandles) hammer(random *rand.Rand, steps int) error {
	for i := range steps {
		if err := h.step(random); err != nil && !errors.Is(err, backend.ErrInvalidValue) {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

func (h *sharedHandles) step(random *rand.Rand) error {
	s, e := h.pick(random)
	d := h.d
	switch random.IntN(12) {
	case 0:
		s, err := d.StreamCreate()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.streams = append(h.streams, s)
		return err
	case 1:
		e, err := d.EventCreate(true)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, e)
		return err
	case 2:
		if random.IntN(4) > 0 {
			return nil
		}
		return errors.Join(d.StreamDestroy(s), d.EventDestroy(e))
	case 3:
		return d.StreamSynchronize(s)
	case 4:
		return d.EventSynchronize(e)
	case 5:
		_, err := d.EventElapsed(e, e)
		return err
	case 6:
		return d.Synchronize()
	case 7, 8:
		return d.EventRecord(e, s)
	case 9:
		return d.StreamWaitEvent(s, e)
	default:
		return h.useMemory(random, s)
	}
}

// useMemory leaves its memory to the test if the device is closed meanwhile: only the
// caller of Close knows then when the fill is done.
func (h *sharedHandles) useMemory(random *rand.Rand, s backend.Stream) error {
	bytes := 1 + random.Uint64N(5000)
	p, err := h.d.AllocAsync(bytes, 0, s)
	if err != nil {
		return err
	}
	err = h.d.MemsetAsync(p, 1, 1, bytes, s)
	if h.d.FreeAsync(p, s) != nil && h.d.Free(p) != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.left = append(h.left, p)
	}
	return err
}
