package stall

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/await"
)

// limit is the longest time that a gate may stay closed. Only wrong tests reach it;
// correct tests open their gates long before.
const limit = await.Limit

// Gates makes stalls on the streams of one device. It allocates what they need in
// advance, because a stalled device cannot allocate.
type Gates struct {
	t    testing.TB
	make maker
	// report is the action of the watchdog.
	report func(format string, arguments ...any)
}

// maker blocks a stream until open is called, once.
type maker func(stream *device.Stream) (open func(), err error)

// New makes gates for the device until the end of the test. The device must not be
// closed before.
func New(t testing.TB, dev *device.Device) *Gates {
	t.Helper()
	g := &Gates{t: t, report: t.Errorf}
	if hold, ok := holderOf(dev.Driver()); ok {
		g.make = func(stream *device.Stream) (open func(), err error) {
			err = stream.Enqueue(func(handle backend.Stream) error {
				open, err = hold.HoldStream(handle)
				return err
			})
			return open, err
		}
		return g
	}
	g.make = newKernels(t, dev)
	return g
}

// Stall is a gate on a stream.
type Stall struct {
	stream *device.Stream
	open   func()
	dog    *time.Timer
	once   sync.Once
	opened atomic.Bool
}

// Hold makes later work on the stream wait until Release is called. The end of the test
// calls it if the test did not.
func (g *Gates) Hold(stream *device.Stream) *Stall {
	g.t.Helper()
	open, err := g.make(stream)
	require.NoError(g.t, err)
	s := &Stall{stream: stream, open: open}
	s.dog = time.AfterFunc(limit, func() {
		s.release(func() {
			g.report("stall: %v was held up for %v: something waits for it on the host", stream, limit)
		})
	})
	g.t.Cleanup(s.Release)
	return s
}

// Release lets the stream continue. Further calls do nothing.
func (s *Stall) Release() {
	s.dog.Stop()
	s.release(func() {})
}

func (s *Stall) release(note func()) {
	s.once.Do(func() {
		s.opened.Store(true)
		note()
		s.open()
	})
}

// Holding reports whether the stream is still blocked. If it is blocked after a call,
// the call has not waited for the stream.
func (s *Stall) Holding() bool { return !s.opened.Load() }

// Finish releases the stall and waits for the work on the stream.
func (s *Stall) Finish(ctx context.Context) error {
	s.Release()
	return s.stream.Synchronize(ctx)
}
