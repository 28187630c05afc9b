package objectstore_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore"
)

// hedging is a store in which each read takes 10 ms, except for those of the test.
type hedging struct {
	objecttest.Memory
	mu    sync.Mutex
	reads int
	// slow are the numbers of reads that do not take 10 ms.
	slow map[int]func(ctx context.Context) error
	// ended is the number of reads that have ended.
	ended atomic.Int64
}

func (h *hedging) ReadRange(ctx context.Context, object objectstore.Object, into []byte, offset int64) error {
	defer h.ended.Add(1)
	h.mu.Lock()
	h.reads++
	slow := h.slow[h.reads]
	h.mu.Unlock()
	if slow == nil {
		slow = takes(10*time.Millisecond, nil)
	}
	if err := slow(ctx); err != nil {
		return err
	}
	return h.Memory.ReadRange(ctx, object, into, offset)
}

// takes returns what a read does that ends after a time, or with its context.
func takes(d time.Duration, err error) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hedgedRead reads a number of ranges, and returns the error of the last one, its time, and the number of second requests.
func hedgedRead(t *testing.T, h *hedging, retry objectstore.Retry, reads int) (last time.Duration, hedges int64, err error) {
	contents := []byte("contents of an object")
	h.Set("mem://b/a", contents)
	store := objectstore.WithRetry(h, retry)
	about, err := store.Stat(t.Context(), "mem://b/a")
	require.NoError(t, err)
	var tally objectstore.Tally
	for range reads {
		require.NoError(t, err)
		into := make([]byte, 8)
		begin := time.Now()
		err = store.ReadRange(objectstore.WithTally(t.Context(), &tally), about, into, 3)
		last = time.Since(begin)
		require.True(t, err != nil || bytes.Equal(contents[3:11], into))
		require.EqualValues(t, h.reads, h.ended.Load(), "requests that have not ended")
	}
	return last, tally.Hedges.Load(), err
}

// The times of the table are those of synctest's clock.
func TestHedges(t *testing.T) {
	const reads = 40
	unavailable := objectstore.NewError("read", "mem://b/a", objectstore.ErrUnavailable)
	changed := objectstore.NewError("read", "mem://b/a", objectstore.ErrChanged)
	type slow = map[int]func(context.Context) error
	for _, test := range []struct {
		name   string
		slow   slow
		retry  objectstore.Retry
		hedges int64
		last   time.Duration
		err    error
	}{
		{name: "the second answer is the first one", slow: slow{reads: takes(time.Hour, nil)}, hedges: 1, last: 260 * time.Millisecond},
		{name: "a smaller least time", slow: slow{reads: takes(time.Hour, nil)}, retry: objectstore.Retry{HedgeAfter: time.Millisecond}, hedges: 1, last: 30 * time.Millisecond},
		{name: "the first request answers first", slow: slow{reads: takes(300*time.Millisecond, nil), reads + 1: takes(time.Hour, nil)}, hedges: 1, last: 300 * time.Millisecond},
		{name: "both take long", slow: slow{reads: takes(400*time.Millisecond, nil), reads + 1: takes(100*time.Millisecond, nil)}, hedges: 1, last: 350 * time.Millisecond},
		{name: "not slow enough", slow: slow{reads: takes(240*time.Millisecond, nil)}, last: 240 * time.Millisecond},
		{name: "the second request fails", slow: slow{reads: takes(300*time.Millisecond, nil), reads + 1: takes(0, unavailable)}, hedges: 1, last: 300 * time.Millisecond},
		{name: "the first request fails late", slow: slow{reads: takes(255*time.Millisecond, unavailable)}, hedges: 1, last: 260 * time.Millisecond},
		{name: "the object has changed", slow: slow{reads: takes(255*time.Millisecond, changed), reads + 1: takes(time.Hour, nil)}, hedges: 1, last: 255 * time.Millisecond, err: objectstore.ErrChanged},
		{name: "both fail", slow: slow{reads: takes(255*time.Millisecond, unavailable), reads + 1: takes(50*time.Millisecond, unavailable)}, retry: objectstore.Retry{Attempts: 1}, hedges: 1, last: 300 * time.Millisecond, err: objectstore.ErrUnavailable},
		{name: "none", slow: slow{reads: takes(time.Second, nil)}, retry: objectstore.Retry{HedgeAfter: -1}, last: time.Second},
		{name: "too few are known", slow: slow{10: takes(time.Second, nil)}, last: 10 * time.Millisecond},
		{name: "the share", slow: slow{reads - 1: takes(time.Second, nil), reads + 1: takes(time.Second, nil)}, hedges: 1, last: time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				last, hedges, err := hedgedRead(t, &hedging{slow: test.slow}, test.retry, reads)
				if test.err == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, test.err)
				}
				require.Equal(t, test.hedges, hedges)
				require.Equal(t, test.last, last)
			})
		})
	}
	t.Run("switched off", func(t *testing.T) {
		t.Setenv(objectstore.HedgeVariable, "off")
		synctest.Test(t, func(t *testing.T) {
			last, hedges, err := hedgedRead(t, &hedging{slow: slow{reads: takes(time.Second, nil)}}, objectstore.Retry{}, reads)
			require.NoError(t, err)
			require.Zero(t, hedges)
			require.Equal(t, time.Second, last)
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := &hedging{slow: slow{reads: takes(time.Hour, nil), reads + 1: takes(time.Hour, nil)}}
			h.Set("mem://b/a", make([]byte, 10))
			store := objectstore.WithRetry(h, objectstore.Retry{})
			about, err := store.Stat(t.Context(), "mem://b/a")
			require.NoError(t, err)
			for range reads - 1 {
				require.NoError(t, store.ReadRange(t.Context(), about, make([]byte, 4), 0))
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			require.ErrorIs(t, store.ReadRange(ctx, about, make([]byte, 4), 0), context.DeadlineExceeded)
			require.EqualValues(t, reads+1, h.ended.Load())
		})
	})
}
