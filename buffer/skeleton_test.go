package buffer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestTablesAreRebuilt(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		record := flights(t, 50)
		for name, table := range map[string]*buffer.Buffer{
			"whole": upload(t, mgr, record), "without columns": upload(t, mgr, emptyOf(50)), "counted": counted(t, mgr, record, 50),
		} {
			skeleton, blocks, err := table.Skeleton()
			require.NoError(t, err, name)
			seen := make(map[*memory.Block]bool)
			for _, block := range blocks {
				require.False(t, seen[block], "each block once")
				seen[block] = true
			}
			assert.Same(t, table.Schema(), skeleton.Schema())
			rebuilt, err := skeleton.Buffer(blocks)
			require.NoError(t, err, name)
			assert.Equal(t, table.String(), rebuilt.String())
			if name == "without columns" {
				requireRecord(t, emptyOf(50), rebuilt)
			} else {
				requireRecord(t, record, rebuilt)
			}
			_, known := rebuilt.HostRows()
			require.True(t, known)
			require.NoError(t, rebuilt.Release())
			require.ErrorIs(t, rebuilt.Check(), memory.ErrReleased)

			skeleton.Learn(rebuilt)
			again, err := skeleton.Buffer(blocks)
			require.NoError(t, err)
			rows, known := again.HostRows()
			require.True(t, known, "%s: it was fetched before", name)
			require.EqualValues(t, 50, rows)
			require.NoError(t, again.Release())
		}
	})
}

func TestRebuildingATableChecksTheBlocks(t *testing.T) {
	mgr := hostManager(t)
	table := counted(t, mgr, flights(t, 5), 5)
	skeleton, blocks, err := table.Skeleton()
	require.NoError(t, err)
	require.Len(t, blocks, 2)
	references := blocks[0].References()
	_, err = skeleton.Buffer(blocks[:1])
	require.ErrorIs(t, err, memory.ErrRange)
	require.ErrorContains(t, err, "row count")
	_, err = skeleton.Buffer([]*memory.Block{blocks[1], blocks[1]})
	require.ErrorIs(t, err, memory.ErrRange)
	require.ErrorContains(t, err, `"delay"`)
	require.Equal(t, references, blocks[0].References())

	var none *buffer.Buffer
	_, _, err = none.Skeleton()
	require.ErrorIs(t, err, memory.ErrReleased)
}
