package device

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPollRepeatsUntilDone(t *testing.T) {
	for _, needed := range []int{1, 2, polledWithoutYield, polledWithoutYield + 5, 1500} {
		asked := 0
		require.NoError(t, poll(t.Context(), func() (bool, error) {
			asked++
			return asked == needed, nil
		}))
		assert.Equal(t, needed, asked)
	}
}

func TestPollReturnsErrors(t *testing.T) {
	lost := errors.New("lost")
	require.Equal(t, lost, poll(t.Context(), func() (bool, error) { return false, lost }))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, lost, poll(ctx, func() (bool, error) { return false, lost }))
	require.NoError(t, poll(ctx, func() (bool, error) { return true, nil }), "what is done needs no wait")
}

func TestPollEndsWithTheContext(t *testing.T) {
	cause := errors.New("the user left")
	for _, after := range []int{1, 2, polledWithoutYield, polledWithoutYield + 1, 1500} {
		ctx, cancel := context.WithCancelCause(t.Context())
		asked := 0
		err := poll(ctx, func() (bool, error) {
			if asked++; asked == after {
				cancel(cause)
			}
			return false, nil
		})
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, context.Canceled)
		// A pause may end at the same moment as the context.
		assert.LessOrEqual(t, after, asked)
	}
}
