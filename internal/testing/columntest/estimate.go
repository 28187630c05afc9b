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
	counted, err := mgr.Child("counted", 0)
	require.NoError(t, err)
	options := kernels.Options{Manager: counted}
	estimate, err := kernels.EstimateOf(func(o kernels.Options) (Result, error) {
		o.Manager = counted
		return run(o)
	})
	require.NoError(t, err, name)
	require.Zero(t, counted.Stats().Peak, "%s: an estimate allocates nothing", name)
	result, err := run(options)
	require.NoError(t, err, name)
	stats := counted.Stats()
	assert.Equal(t, estimate.Peak(), stats.Peak, "%s: result and scratch", name)
	assert.Equal(t, estimate.Result, stats.InUse, "%s: result", name)
	require.NoError(t, result.Release())
	require.NoError(t, counted.Close())
}
