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
)

// limit is how long a gate may stay closed. It bounds tests that are wrong; those
// that are right open their gates long before.
const limit = 30 * time.Second

// Gates makes stalls on the streams of one device. What they need of the device is
// made beforehand, for a device that is held up cannot give it.
type Gates struct {
	t    testing.TB
	make maker
	// limit is the watchdog's, and report what it does.
	limit  time.Duration
	report func(format string, arguments ...any)
}

// maker holds a stream up until open is called, once.
type maker func(stream *device.Stream) (open func(), err error)

// New makes gates for the device until the end of the test, before which it must
// not be closed.
func New(t testing.TB, dev *device.Device) *Gates {
	t.Helper()
	g := &Gates{t: t, limit: limit, report: t.Errorf}
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

// Hold makes later work on the stream wait until Release is called, which at the
// latest the end of the test does.
func (g *Gates) Hold(stream *device.Stream) *Stall {
	g.t.Helper()
	open, err := g.make(stream)
	require.NoError(g.t, err)
	s := &Stall{stream: stream, open: open}
	s.dog = time.AfterFunc(g.limit, func() {
		s.release(func() {
			g.report("stall: %v was held up for %v: something waits for it on the host", stream, g.limit)
		})
	})
	g.t.Cleanup(s.Release)
	return s
}

// Release lets the stream go on. Further calls do nothing.
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

// Holding reports whether the stream is still held up. That it is after a call
// shows that the call has not waited for the stream.
func (s *Stall) Holding() bool { return !s.opened.Load() }

// Finish releases the stall and waits until what was on the stream is done.
func (s *Stall) Finish(ctx context.Context) error {
	s.Release()
	return s.stream.Synchronize(ctx)
}
