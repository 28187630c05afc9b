package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// A state is not reused after its last generation, and the use list works in its last
// generations too.
func TestLastGenerations(t *testing.T) {
	dev, err := device.Open("host")
	require.NoError(t, err)
	m, err := NewManager(dev, Options{Budget: 1 << 20})
	require.NoError(t, err)
	first, err := m.Allocate(100, AllocateOptions{})
	require.NoError(t, err)
	state := first.state
	require.NoError(t, first.Release())
	state.life.Store(newLife(lastGeneration - 1))

	other, err := dev.NewStream()
	require.NoError(t, err)
	seen := map[Identity]bool{}
	lives := 0
	for range 10 {
		b, err := m.Allocate(100, AllocateOptions{})
		require.NoError(t, err)
		if b.state == state {
			lives++
		}
		require.False(t, seen[b.Identity()])
		seen[b.Identity()] = true
		release, err := dev.Driver().(interface {
			HoldStream(backend.Stream) (func(), error)
		}).HoldStream(other.Handle())
		require.NoError(t, err)
		require.NoError(t, b.RecordUse(other))
		idle, err := b.Idle()
		require.NoError(t, err)
		require.False(t, idle, "generation %d", b.generation)
		release()
		require.NoError(t, b.Synchronize(t.Context()))
		require.NoError(t, b.Release())
		require.ErrorIs(t, b.Release(), ErrReleased)
	}
	require.Equal(t, 2, lives)
	require.NoError(t, other.Close())
	var leak *LeakError
	require.ErrorAs(t, m.Close(), &leak, "the second releases are reported")
	require.Zero(t, leak.Blocks)
	require.NoError(t, dev.Close())
}
