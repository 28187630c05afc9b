package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Release reports the error of a failing device, and the block is gone.
func TestManagedResourceOnADeviceThatFails(t *testing.T) {
	dev, f := openFaulty(t)
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: memory.NewManagedResource(dev)})
	block, err := mgr.Allocate(100, memory.AllocateOptions{})
	require.NoError(t, err)
	pointer := block.Pointer()
	f.arm(func(int64) error { return errDriver })
	require.ErrorIs(t, block.Release(), errDriver)
	f.disarm()
	assert.Zero(t, mgr.Stats().Blocks)
	require.NoError(t, dev.Driver().Free(pointer), "memory that may be in use is not freed")
}
