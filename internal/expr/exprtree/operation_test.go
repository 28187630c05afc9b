package exprtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// TestOperationsAreDescribed finds an operation without an entry, and names that two have.
func TestOperationsAreDescribed(t *testing.T) {
	names := map[string]exprtree.Op{}
	for op := exprtree.Column; op < exprtree.Ops; op++ {
		require.NotEqual(t, exprtree.NoFamily, op.Family(), "operation %d", op)
		require.NotContains(t, names, op.String())
		names[op.String()] = op
	}
	require.Equal(t, exprtree.Functions, exprtree.FunctionNamed("degrees").Family())
	require.Equal(t, exprtree.NoFamily, (exprtree.Ops + 1).Family())
}

func TestIntegersThatOthersHold(t *testing.T) {
	require.True(t, exprtree.Int64.Holds(exprtree.Uint32))
	require.True(t, exprtree.Uint8.Holds(exprtree.Uint8))
	require.False(t, exprtree.Uint64.Holds(exprtree.Int8))
	require.False(t, exprtree.Int32.Holds(exprtree.Uint32))
	require.False(t, exprtree.Int16.Holds(exprtree.Int32))
}
