package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestSpillingOfATenant has the budget of host memory of the parent.
func TestSpillingOfATenant(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	child, err := m.Child("tenant", 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, child.Close()) }()
	parent := &Spilling{Manager: m, Options: spill.Options{HostBudget: 4096}}
	defer func() { require.NoError(t, parent.Close()) }()
	tenant := &Spilling{Manager: child, Options: parent.Options, Parent: parent}
	defer func() { require.NoError(t, tenant.Close()) }()
	own, err := tenant.get()
	require.NoError(t, err)
	require.EqualValues(t, 4096, own.Stats().HostBudget)
	whole, err := parent.get()
	require.NoError(t, err)
	require.NotSame(t, own, whole)
	again, err := tenant.get()
	require.NoError(t, err)
	require.Same(t, own, again)
}
