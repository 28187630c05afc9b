package observe_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

func TestFailuresAreKeptAndLogged(t *testing.T) {
	var log bytes.Buffer
	r, mgr := newRecorder(t, observe.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))}, 1000)
	child, err := mgr.Child("tenant", 0)
	require.NoError(t, err)
	for i := range 105 {
		_, err := child.Allocate(5000, memory.AllocateOptions{Tag: fmt.Sprint("tag ", i)})
		require.Error(t, err)
	}
	list := r.Failures()
	require.Len(t, list, 100)
	assert.Equal(t, "tag 104", list[0].Tag)
	assert.Equal(t, "tag 5", list[99].Tag)
	assert.Equal(t, "service", list[0].Manager)
	assert.Equal(t, "tenant", list[0].Tenant)
	assert.Equal(t, "budget", list[0].Reason)
	assert.EqualValues(t, 5000, list[0].Bytes)
	assert.Contains(t, list[0].Error, "raise")
	assert.Contains(t, log.String(), `"tenant":"tenant","tag":"tag 0","bytes":5000,"reason":"budget"`)
	require.NoError(t, child.Close())
}

func TestWaitsAreMeasured(t *testing.T) {
	r, mgr := newRecorder(t, observe.Options{}, 1000)
	held := loadPrices(t, mgr, 800, "")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := mgr.AllocateWait(ctx, 500, memory.AllocateOptions{})
		ended <- err
	}()
	await.Until(t, func() bool { return mgr.Stats().Waiting == 1 }, "the request waits")
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	assert.EqualValues(t, 1, r.Waits().Count())
	assert.Positive(t, r.Waits().Sum)
	assert.Equal(t, "cancelled", r.Failures()[0].Reason)
	require.NoError(t, held.Release())
}
