package host

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Work enqueued behind a hold runs after its release, and not before.
func TestHoldStream(t *testing.T) {
	d := open(t)
	s, err := d.StreamCreate()
	require.NoError(t, err)
	release, err := d.HoldStream(s)
	require.NoError(t, err)
	ran := make(chan struct{})
	run(t, d, s, func() { close(ran) })
	done, err := d.StreamQuery(s)
	require.NoError(t, err)
	require.False(t, done)
	select {
	case <-ran:
		t.Fatal("the hold does not hold")
	default:
	}
	release()
	release()
	<-ran
	require.NoError(t, d.StreamSynchronize(s))
	require.NoError(t, d.StreamDestroy(s))
	_, err = d.HoldStream(s)
	require.True(t, errors.Is(err, backend.ErrInvalidValue), err)
}
