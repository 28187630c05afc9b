package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// Releasing or retaining a view is an error, and its owner stays usable.
func TestViewsHoldNoReference(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s, err := memory.NewSlice[int32](mgr, 100, memory.AllocateOptions{})
		require.NoError(t, err)
		assert.False(t, s.IsView())
		assert.False(t, s.Unordered().IsView())

		part, err := s.Slice(0, 10)
		require.NoError(t, err)
		whole, err := s.Slice(0, s.Len())
		require.NoError(t, err)
		ofBlock, err := memory.View[int32](s.Block(), 0, s.Len())
		require.NoError(t, err)
		floats, err := memory.Reinterpret[float32](s)
		require.NoError(t, err)
		for name, view := range map[string]interface {
			IsView() bool
			Retain() error
			Release() error
		}{
			"part": part, "whole": whole, "view of a block": ofBlock, "reinterpreted": floats, "bytes": s.AsBytes(),
			"view": s.View(), "view of a view": part.View(), "unordered view": part.Unordered(), "part of bytes": part.AsBytes(),
		} {
			assert.True(t, view.IsView(), name)
			require.ErrorIs(t, view.Release(), memory.ErrView, name)
			require.ErrorIs(t, view.Retain(), memory.ErrView, name)
		}
		assert.ErrorContains(t, part.Release(), "release 10 elements of owned block of 400 B")
		require.Equal(t, 1, s.Block().References())
		require.NoError(t, s.Fill(nil, 7))
		require.NoError(t, s.Release())
		assert.Zero(t, mgr.Stats().DoubleReleases)
	})
}

// Own keeps a view valid after its original slice is released.
func TestOwnKeepsAView(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s, err := memory.NewSlice[int32](mgr, 100, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, s.Fill(nil, 7))
		part, err := s.Slice(50, 53)
		require.NoError(t, err)
		kept, err := part.Own()
		require.NoError(t, err)
		assert.False(t, kept.IsView())
		assert.True(t, part.IsView())
		require.NoError(t, kept.Retain())
		require.NoError(t, kept.Release())
		require.NoError(t, s.Release())
		got := make([]int32, 3)
		require.NoError(t, kept.Download(t.Context(), nil, got))
		assert.Equal(t, []int32{7, 7, 7}, got)
		require.NoError(t, kept.Release())
		_, err = part.Own()
		require.ErrorIs(t, err, memory.ErrReleased)

		var zero memory.Slice[int32]
		none, err := zero.Own()
		require.NoError(t, err)
		require.NoError(t, none.Release())
		require.NoError(t, zero.Retain())
		assert.True(t, zero.IsView())
	})
}

// SliceOf takes over the reference of a block. After an error the caller keeps it.
func TestSliceOf(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		block, err := mgr.Allocate(64, memory.AllocateOptions{})
		require.NoError(t, err)
		tooLong, err := memory.SliceOf[uint64](block, 9)
		require.ErrorIs(t, err, memory.ErrRange)
		require.NoError(t, tooLong.Release())
		require.Equal(t, 1, block.References())
		s, err := memory.SliceOf[uint64](block, 8)
		require.NoError(t, err)
		assert.Equal(t, 8, s.Len())
		require.NoError(t, s.Release())
		require.ErrorIs(t, block.Check(), memory.ErrReleased)
		_, err = memory.SliceOf[uint64](block, 8)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}
