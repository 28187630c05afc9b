package columntest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// CheckEstimate compares the estimate of an operator with the memory of the manager that
// a run uses. The operator must take its manager from its input or from the options.
func CheckEstimate[Result interface{ Release() error }](t *testing.T, mgr *memory.Manager, name string, run func(kernels.Options) (Result, error)) {
	t.Helper()
	estimate, peak, inUse := measure(t, mgr, name, run)
	assert.Equal(t, estimate.Peak(), peak, "%s: result and scratch", name)
	assert.Equal(t, estimate.Result, inUse, "%s: result", name)
}

// CheckBound is [CheckEstimate] for an operator with an estimate that is an upper bound.
// It exceeds the memory that a run uses by at most slack bytes.
func CheckBound[Result interface{ Release() error }](t *testing.T, mgr *memory.Manager, name string, slack uint64, run func(kernels.Options) (Result, error)) {
	t.Helper()
	estimate, peak, inUse := measure(t, mgr, name, run)
	assert.GreaterOrEqual(t, estimate.Peak(), peak, "%s: result and scratch", name)
	assert.LessOrEqual(t, estimate.Peak(), peak+slack, "%s: result and scratch", name)
	assert.GreaterOrEqual(t, estimate.Result, inUse, "%s: result", name)
	assert.LessOrEqual(t, estimate.Result, inUse+slack, "%s: result", name)
}

// measure returns the estimate of an operator, the most memory that a run uses, and the
// memory of its result.
func measure[Result interface{ Release() error }](t *testing.T, mgr *memory.Manager, name string, run func(kernels.Options) (Result, error)) (estimate kernels.Estimate, peak, inUse uint64) {
	t.Helper()
	counted, err := mgr.Child("counted", 0)
	require.NoError(t, err)
	options := kernels.Options{Manager: counted}
	estimate, err = kernels.EstimateOf(func(o kernels.Options) (Result, error) {
		o.Manager = counted
		return run(o)
	})
	require.NoError(t, err, name)
	require.Zero(t, counted.Stats().Peak, "%s: an estimate allocates nothing", name)
	result, err := run(options)
	require.NoError(t, err, name)
	stats := counted.Stats()
	require.NoError(t, result.Release())
	require.NoError(t, counted.Close())
	return estimate, stats.Peak, stats.InUse
}
