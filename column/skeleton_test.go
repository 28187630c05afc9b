package column_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// moved copies blocks to new ones.
func moved(t *testing.T, blocks []*memory.Block) []*memory.Block {
	t.Helper()
	var others []*memory.Block
	for _, block := range blocks {
		other, err := block.Manager().Allocate(block.Bytes(), memory.AllocateOptions{})
		require.NoError(t, err)
		others = append(others, other)
		if block.Bytes() == 0 {
			continue
		}
		require.NoError(t, block.OrderBefore(other.Stream()))
		require.NoError(t, other.Stream().Enqueue(func(handle backend.Stream) error {
			return block.Device().Driver().CopyOnDeviceAsync(other.Pointer(), block.Pointer(), block.Bytes(), handle)
		}))
		require.NoError(t, block.RecordUse(other.Stream()))
	}
	return others
}

// Columns of every type, and their slices, are unchanged in other blocks.
func TestColumnsAreRebuiltElsewhere(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for seed, dataType := range arraytest.AllTypes() {
			c := rowsOf(t, mgr, uint64(seed), dataType)
			want, err := column.ToArrays(t.Context(), []*column.Column{c}, column.DownloadOptions{})
			require.NoError(t, err)

			var blocks []*memory.Block
			skeleton, err := c.Skeleton(func(block *memory.Block) int {
				blocks = []*memory.Block{block}
				return 0
			})
			require.NoError(t, err)
			others := moved(t, blocks)
			require.NoError(t, c.Release())
			rebuilt, err := skeleton.Column(others)
			require.NoError(t, err, dataType)
			for _, block := range others {
				require.NoError(t, block.Release())
			}
			requireTidyReferences(t, mgr, rebuilt)

			got, err := column.ToArrays(t.Context(), []*column.Column{rebuilt}, column.DownloadOptions{})
			require.NoError(t, err)
			require.Equal(t, plains(want[0]), plains(got[0]), "%v", dataType)
			require.Equal(t, c.String(), rebuilt.String())
			require.Equal(t, c.Offset(), rebuilt.Offset())
			require.NoError(t, rebuilt.Release())
			require.Zero(t, mgr.Stats().Blocks, "%v", dataType)
		}
	})
}

// requireTidyReferences requires that a column holds references to its memory, and
// that no others exist.
func requireTidyReferences(t *testing.T, mgr *memory.Manager, c *column.Column) {
	t.Helper()
	references := 0
	for block := range c.Blocks {
		references++
		require.NoError(t, block.Check())
	}
	for block := range c.Blocks {
		require.Equal(t, references, block.References())
	}
	require.LessOrEqual(t, mgr.Stats().Blocks, uint64(1))
}

func TestRebuildingAColumnChecksTheBlocks(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	nested := arrow.StructOf(arrow.Field{Name: "list", Type: arrow.ListOf(dictionary)})
	c, err := column.FromArray(t.Context(), mgr, arraytest.NewGenerator(1).Array(nested, 20), column.UploadOptions{})
	require.NoError(t, err)
	skeleton, err := c.Skeleton(func(*memory.Block) int { return 0 })
	require.NoError(t, err)
	_, err = skeleton.Column(nil)
	require.ErrorIs(t, err, memory.ErrRange)

	short, err := mgr.Allocate(c.Child(0).Buffer(1).Bytes(), memory.AllocateOptions{})
	require.NoError(t, err)
	_, err = skeleton.Column([]*memory.Block{short})
	require.ErrorIs(t, err, memory.ErrRange)
	require.Equal(t, 1, short.References(), "what was retained on the way is not any more")
	require.NoError(t, short.Release())

	require.NoError(t, c.Release())
	_, err = skeleton.Column([]*memory.Block{short})
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = c.Skeleton(func(*memory.Block) int { return 0 })
	require.ErrorIs(t, err, memory.ErrReleased)
}
