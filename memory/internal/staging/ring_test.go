package staging

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

// Whoever waits for a chunk learns that none can be made, instead of waiting for
// ever.
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

// A signal that somebody took without taking a chunk reaches the next.
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
		// It may see the signal or its context first; both leave the other able
		// to go on.
		_, err := r.take(ctx)
		require.ErrorIs(t, err, reason)
	}
	r.put(only)
	require.Same(t, only, <-patient)
	r.put(only)
	require.NoError(t, r.close())
}
