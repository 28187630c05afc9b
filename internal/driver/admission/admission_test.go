package admission_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/admission"
)

func fixed(bytes uint64) func() uint64 { return func() uint64 { return bytes } }

// job is a call of Enter on another goroutine, that waits.
type job struct {
	turn chan *admission.Turn
	err  chan error
}

// waiting starts a job that has to wait, and returns when it does.
func waiting(ctx context.Context, l *admission.Level, request admission.Request) job {
	j := job{make(chan *admission.Turn, 1), make(chan error, 1)}
	waits := make(chan struct{})
	request.Waiting = func() { close(waits) }
	go func() {
		turn, err := l.Enter(ctx, request)
		if err != nil {
			j.err <- err
			return
		}
		j.turn <- turn
	}()
	<-waits
	return j
}

func enter(t *testing.T, l *admission.Level, bytes uint64) *admission.Turn {
	t.Helper()
	turn, err := l.Enter(t.Context(), admission.Request{Bytes: bytes, NoWait: true})
	require.NoError(t, err)
	return turn
}

func refused(t *testing.T, l *admission.Level, request admission.Request) {
	t.Helper()
	request.NoWait = true
	_, err := l.Enter(t.Context(), request)
	require.ErrorIs(t, err, admission.ErrBusy)
}

func TestOrderOfArrival(t *testing.T) {
	all := admission.New(fixed(10))
	first := enter(t, all, 6)
	large := waiting(t.Context(), all, admission.Request{Bytes: 7})
	small := waiting(t.Context(), all, admission.Request{Bytes: 3})
	refused(t, all, admission.Request{Bytes: 1})
	first.Leave()
	turn := <-large.turn
	other := <-small.turn
	turn.Leave()
	other.Leave()
	enter(t, all, 11).Leave()
}

// TestExpectedBytes admits jobs when the bytes fit that they are expected to use.
func TestExpectedBytes(t *testing.T) {
	all := admission.New(fixed(10))
	first := enter(t, all, 1)
	second, err := all.Enter(t.Context(), admission.Request{Bytes: 1, Expected: 9})
	require.NoError(t, err)
	third := waiting(t.Context(), all, admission.Request{Bytes: 1, Expected: 5})
	first.Leave()
	require.Empty(t, third.turn)
	second.Leave()
	turn := <-third.turn
	enter(t, all, 9).Leave() // the least bytes of both fit
	refused(t, all, admission.Request{Bytes: 10})
	turn.Leave()
}

// TestStalledJobs admits a job with the least bytes if no turn begins or ends for some time.
func TestStalledJobs(t *testing.T) {
	all := admission.New(fixed(10))
	first, err := all.Enter(t.Context(), admission.Request{Bytes: 1, Expected: 9})
	require.NoError(t, err)
	clock, asked := make(chan time.Time), make(chan struct{}, 9)
	waits := waiting(t.Context(), all, admission.Request{Bytes: 1, Expected: 9, Stalled: func() <-chan time.Time {
		asked <- struct{}{}
		return clock
	}})
	<-asked
	small, err := all.Child(fixed(10)).Enter(t.Context(), admission.Request{NoWait: true})
	require.ErrorIs(t, err, admission.ErrBusy, "others wait before it")
	require.Nil(t, small)
	other := waiting(t.Context(), all, admission.Request{Bytes: 9, Expected: 10})
	clock <- time.Time{}
	turn := <-waits.turn // 2 of 10 bytes are needed
	later := make(chan time.Time)
	refused(t, all, admission.Request{Bytes: 1})
	third := waiting(t.Context(), all, admission.Request{Bytes: 1, Expected: 9, Stalled: func() <-chan time.Time {
		asked <- struct{}{}
		return later
	}})
	<-asked
	turn.Leave()
	later <- time.Time{}
	<-asked // a turn has ended, so it waits again
	require.Empty(t, third.turn)
	first.Leave()
	(<-other.turn).Leave()
	(<-third.turn).Leave()
}

func TestAlone(t *testing.T) {
	all := admission.New(fixed(10))
	a, b := all.Child(fixed(5)), all.Child(fixed(5))
	first := enter(t, a, 1)
	other := enter(t, b, 1)
	alone := waiting(t.Context(), a, admission.Request{Bytes: 9, Alone: a})
	refused(t, a, admission.Request{Bytes: 1})
	require.True(t, first.Shared(all))
	require.False(t, first.Shared(a))
	enter(t, b, 1).Leave()
	first.Leave()
	turn := <-alone.turn
	refused(t, a, admission.Request{})
	require.False(t, turn.Shared(a))
	require.True(t, turn.Shared(all))
	everywhere := waiting(t.Context(), b, admission.Request{Alone: all})
	refused(t, b, admission.Request{})
	refused(t, all, admission.Request{})
	turn.Leave()
	other.Leave()
	(<-everywhere.turn).Leave()
	later := enter(t, a, 1)
	require.False(t, later.Shared(a))
	enter(t, a, 1).Leave()
	require.True(t, later.Shared(a), "others have run since")
	later.Leave()
}

func TestCancelledJobLetsOthersPass(t *testing.T) {
	all := admission.New(fixed(10))
	first := enter(t, all, 6)
	ctx, cancel := context.WithCancelCause(t.Context())
	large := waiting(ctx, all, admission.Request{Bytes: 7})
	small := waiting(t.Context(), all, admission.Request{Bytes: 3})
	reason := errors.New("reason")
	cancel(reason)
	err := <-large.err
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, reason)
	(<-small.turn).Leave()
	first.Leave()
	_, err = all.Enter(ctx, admission.Request{})
	require.ErrorIs(t, err, reason)
}

func TestClose(t *testing.T) {
	all := admission.New(fixed(10))
	a := all.Child(fixed(5))
	first := enter(t, a, 5)
	second := waiting(t.Context(), a, admission.Request{Bytes: 1})
	closed := make(chan struct{})
	go func() {
		a.Close()
		close(closed)
	}()
	require.ErrorIs(t, <-second.err, device.ErrClosed)
	select {
	case <-closed:
		t.Fatal("a job is running")
	default:
	}
	first.Leave()
	<-closed
	_, err := a.Enter(t.Context(), admission.Request{})
	require.ErrorIs(t, err, device.ErrClosed)
	enter(t, all, 1).Leave()
	all.Close()
	all.Close()
}

// TestEveryJobEnds runs random jobs on a tree of levels. Some enter again to run
// alone, and some are cancelled.
func TestEveryJobEnds(t *testing.T) {
	const budget, jobs, workers = 100, 400, 16
	all := admission.New(fixed(budget))
	levels := []*admission.Level{all, all.Child(fixed(40)), all.Child(fixed(70))}
	levels = append(levels, levels[1].Child(fixed(20)))
	above := map[*admission.Level][]*admission.Level{levels[0]: {all}, levels[1]: {levels[1], all}, levels[2]: {levels[2], all}, levels[3]: {levels[3], levels[1], all}}
	running := map[*admission.Level]*atomic.Int64{}
	for _, l := range levels {
		running[l] = new(atomic.Int64)
	}
	var inUse atomic.Int64
	var left atomic.Int64
	left.Store(jobs)
	run := func(ctx context.Context, l *admission.Level, request admission.Request) {
		turn, err := l.Enter(ctx, request)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return
		}
		if now := inUse.Add(int64(request.Bytes)); now > budget {
			t.Errorf("%d bytes are promised", now)
		}
		for _, at := range above[l] {
			running[at].Add(1)
		}
		runtime.Gosched()
		if request.Alone != nil && running[request.Alone].Load() != 1 {
			t.Error("a job is not alone")
		}
		for _, at := range above[l] {
			running[at].Add(-1)
		}
		inUse.Add(-int64(request.Bytes))
		turn.Leave()
	}
	var group sync.WaitGroup
	for worker := range uint64(workers) {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, worker))
			for left.Add(-1) >= 0 {
				l := levels[random.IntN(len(levels))]
				request := admission.Request{Bytes: uint64(random.IntN(20))}
				run(t.Context(), l, request)
				if random.IntN(2) == 0 {
					request.Alone = above[l][random.IntN(len(above[l]))]
				}
				ctx, cancel := context.WithCancel(t.Context())
				if random.IntN(4) == 0 {
					request.Waiting = cancel
				}
				run(ctx, l, request)
				cancel()
			}
		})
	}
	group.Wait()
	for _, l := range levels {
		enter(t, l, 1000).Leave()
	}
	all.Close()
}
