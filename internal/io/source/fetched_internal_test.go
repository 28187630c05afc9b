package source

import (
	"context"
	"errors"
	"testing"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
)

// A fetch of a context that is done waits for no turn. Its error has the kind and the cause.
func TestCancelledFetch(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("the user left")
	stop(cause)
	store := &objecttest.Memory{}
	store.Set("mem://bucket/a", make([]byte, 100))
	about, err := store.Stat(t.Context(), "mem://bucket/a")
	require.NoError(t, err)
	r := &objectReader{ctx: ctx, object: &object{store: store, about: about}, about: about, counters: &Counters{}}
	f := &fetched{from: r}
	defer f.release()
	err = f.fetch(ctx, []byteRange{{0, 10}, {50, 10}}, arrowmemory.DefaultAllocator, func() func() {
		t.Fatal("the fetch waits for a turn")
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, err, ErrRead)
}
