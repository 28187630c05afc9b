package cancel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

func TestErrorKeepsBothTheKindAndTheCause(t *testing.T) {
	require.NoError(t, cancel.Error(t.Context()))

	plain, stop := context.WithCancel(t.Context())
	stop()
	assert.Equal(t, context.Canceled, cancel.Error(plain))

	cause := errors.New("the user left")
	caused, stopWith := context.WithCancelCause(t.Context())
	stopWith(cause)
	err := cancel.Error(caused)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, cause)

	late, stopLate := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), cause)
	defer stopLate()
	err = cancel.Error(late)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorIs(t, err, cause)
}
