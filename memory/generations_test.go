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
	other, err := dev.NewStream()
	require.NoError(t, err)
	seen := map[Identity]bool{}
	// A goroutine gets the state of its last block again, unless its stack has moved meanwhile.
	lives, done := map[*blockState]int{}, false
	for round := 0; round < 10 || !done; round++ {
		b, err := m.Allocate(100, AllocateOptions{})
		require.NoError(t, err)
		state, last := b.state, b.generation >= lastGeneration-1
		if last {
			lives[state]++
			require.LessOrEqual(t, lives[state], 2)
			done = done || lives[state] == 2
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
		if !last {
			state.life.Store(newLife(lastGeneration - 1))
		}
	}
	require.NoError(t, other.Close())
	var leak *LeakError
	require.ErrorAs(t, m.Close(), &leak, "the second releases are reported")
	require.Zero(t, leak.Blocks)
	require.NoError(t, dev.Close())
}
