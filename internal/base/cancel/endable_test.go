package cancel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// early is a context with an error that comes before its children learn of it.
type early struct {
	context.Context
	ended context.Context
}

func (e early) Err() error        { return e.ended.Err() }
func (e early) Value(key any) any { return e.ended.Value(key) }

func TestEndable(t *testing.T) {
	cause := errors.New("the user left")
	ctx, end := cancel.Endable(t.Context())
	require.NoError(t, cancel.Error(ctx))
	end(cause)
	require.ErrorIs(t, cancel.Error(ctx), cause)
	require.ErrorIs(t, cancel.Error(ctx), context.Canceled)

	parent, endParent := context.WithCancelCause(t.Context())
	ctx, end = cancel.Endable(early{t.Context(), parent})
	defer end(nil)
	require.NoError(t, cancel.Error(ctx))
	endParent(cause)
	require.ErrorIs(t, cancel.Error(ctx), cause)
	<-ctx.Done()
}
