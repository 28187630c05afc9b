package memory_test

import (
	"context"
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

// countingReclaimer counts its calls.
type countingReclaimer struct{ calls int }

func (r *countingReclaimer) Reclaim(context.Context, uint64) (uint64, error) {
	r.calls++
	return 0, nil
}

// TestSpareMemoryIsNotReclaimed checks that a request of spare memory calls no reclaimer, and is no failure.
func TestSpareMemoryIsNotReclaimed(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 100})
	reclaimer := &countingReclaimer{}
	defer mgr.AddReclaimer(reclaimer)()
	block, err := mgr.Allocate(60, memory.AllocateOptions{Spare: true})
	require.NoError(t, err)
	_, err = mgr.Allocate(60, memory.AllocateOptions{Spare: true})
	require.ErrorIs(t, err, memory.ErrBudget)
	require.Zero(t, reclaimer.calls)
	require.Zero(t, mgr.Stats().Failures)
	_, err = mgr.Allocate(60, memory.AllocateOptions{})
	require.ErrorIs(t, err, memory.ErrBudget)
	require.Positive(t, reclaimer.calls)
	require.NoError(t, block.Release())
}
