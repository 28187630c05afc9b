package staging

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
)

// Callers that wait for a chunk get an error if none can be created.
func TestRingWithoutPinnedMemory(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	r := newRing(host, 1<<62, 1)
	failures := make(chan error, 8)
	for range cap(failures) {
		go func() {
			_, err := r.take(context.Background())
			failures <- err
		}()
	}
	for range cap(failures) {
		require.ErrorIs(t, <-failures, device.ErrOutOfMemory)
	}
	require.NoError(t, r.close())
	_, err = r.take(context.Background())
	require.ErrorIs(t, err, device.ErrClosed)
}

// A caller that receives the signal but takes no chunk passes the signal on.
func TestRingSignalIsPassedOn(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	r := newRing(host, 64, 1)
	only, err := r.take(context.Background())
	require.NoError(t, err)

	patient := make(chan *chunk, 1)
	go func() {
		c, err := r.take(context.Background())
		assert.NoError(t, err)
		patient <- c
	}()
	reason := errors.New("the impatient one left")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	for range 100 {
		// The call may see the signal or its context first; in both cases the other
		// call must be able to continue.
		_, err := r.take(ctx)
		require.ErrorIs(t, err, reason)
	}
	r.put(only)
	require.Same(t, only, <-patient)
	r.put(only)
	require.NoError(t, r.close())
}

// slowPinning is a device that blocks the pinning of memory until the test releases it.
type slowPinning struct {
	backend.Device
	begun, proceed chan struct{}
}

func (s *slowPinning) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	s.begun <- struct{}{}
	<-s.proceed
	return s.Device.HostAlloc(bytes)
}

func openSlow(t *testing.T) (*device.Device, *slowPinning) {
	t.Helper()
	return launchtest.OpenWrapped(t, func(below backend.Device) *slowPinning {
		return &slowPinning{Device: below, begun: make(chan struct{}), proceed: make(chan struct{})}
	})
}

// A chunk that is being created when the ring is closed is freed after its creation.
func TestRingClosesDuringGrowth(t *testing.T) {
	for _, warm := range []bool{false, true} {
		dev, slow := openSlow(t)
		r := newRing(dev, 64, 3)
		warmed := make(chan error, 1)
		if warm {
			go func() { warmed <- r.warm(t.Context()) }()
		} else {
			c, err := r.tryTake(true)
			require.NoError(t, err)
			require.Nil(t, c)
		}
		<-slow.begun
		require.Equal(t, Stats{Limit: 192, Pinned: 64}, r.stats())
		released, err := r.trim(0)
		require.NoError(t, err)
		require.Zero(t, released)
		r.mu.Lock()
		ended := r.growth.ended
		r.mu.Unlock()
		require.NoError(t, r.close())
		close(slow.proceed)
		if warm {
			require.ErrorIs(t, <-warmed, device.ErrClosed)
		} else {
			<-ended
		}
		require.Zero(t, r.stats().Pinned)
	}
}

// After a transfer has ended, no chunk is being created.
func TestTransferEndsItsGrowth(t *testing.T) {
	dev, slow := openSlow(t)
	r := newRing(dev, 64, 3)
	require.NoError(t, r.during(func() error {
		_, err := r.tryTake(true)
		<-slow.begun
		close(slow.proceed)
		return err
	}))
	r.mu.Lock()
	require.Zero(t, r.making)
	require.Nil(t, r.growth.ended)
	r.mu.Unlock()
	require.EqualValues(t, 64, r.stats().Pinned)
	require.NoError(t, r.close())
}
