package memory_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestRetriesAreCountedApart counts requests that are repeated apart from failures, and reports none of
// them.
func TestRetriesAreCountedApart(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 100})
	var reported []memory.Failure
	defer mgr.Observe(memory.Observer{Failed: func(f memory.Failure) { reported = append(reported, f) }})()
	_, err := mgr.AllocateContext(memory.Retrying(t.Context()), 200, memory.AllocateOptions{})
	require.ErrorIs(t, err, memory.ErrBudget)
	_, err = mgr.Allocate(200, memory.AllocateOptions{Retried: true})
	require.ErrorIs(t, err, memory.ErrBudget)
	require.EqualValues(t, 2, mgr.Stats().Retries)
	require.Zero(t, mgr.Stats().Failures)
	require.Empty(t, reported)
	lost := errors.New("lost")
	mgr.ReportFailure(200, "query", lost)
	require.EqualValues(t, 1, mgr.Stats().Failures)
	require.Equal(t, []memory.Failure{{Manager: mgr, Tag: "query", Bytes: 200, Err: lost}}, reported)
	mgr.ResetCounts()
	require.Zero(t, mgr.Stats().Retries)
}
