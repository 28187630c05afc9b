package share

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
)

// Whatever the columns, the new places are distinct, aligned, and as long as the old
// ones; equal ones stay equal, and there are not too many blocks.
func TestLayOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.Custom(func(t *rapid.T) column.Place {
			if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
				return column.Place{Block: -1}
			}
			return column.Place{
				Block: rapid.IntRange(0, 3).Draw(t, "block"), Offset: rapid.Uint64Range(0, 1<<20).Draw(t, "offset"),
				Bytes: rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 1<<40)).Draw(t, "bytes"),
			}
		})
		column := rapid.Custom(func(t *rapid.T) column.Description {
			d := column.Description{Buffers: rapid.SliceOfN(place, 0, 3).Draw(t, "buffers")}
			if rapid.Bool().Draw(t, "nested") {
				d.Children = []column.Description{{Buffers: rapid.SliceOfN(place, 0, 2).Draw(t, "child")}}
			}
			return d
		})
		columns := rapid.SliceOfN(column, 0, 200).Draw(t, "columns")
		var before []columnPlace
		for i := range columns {
			for place := range columns[i].Places {
				before = append(before, *place)
			}
		}
		large := rapid.Uint64Range(1, 1<<30).Draw(t, "large")
		p := &plan{columns: columns}
		p.layOut(large)

		require.LessOrEqual(t, len(p.groups), mostBlocks)
		ends := make([]uint64, len(p.groups))
		for _, move := range p.moves { // in ascending order
			require.Equal(t, move.from.Bytes, move.to.Bytes)
			require.GreaterOrEqual(t, move.to.Offset, ends[move.to.Block])
			require.Zero(t, move.to.Offset%alignment)
			ends[move.to.Block] = move.to.Offset + uint64(move.to.Bytes)
			require.LessOrEqual(t, ends[move.to.Block], p.groups[move.to.Block])
		}
		moved := make(map[columnPlace]columnPlace)
		for _, move := range p.moves {
			require.NotContains(t, moved, move.from)
			moved[move.from] = move.to
		}
		n := 0
		for i := range p.columns {
			for place := range p.columns[i].Places {
				want := before[n]
				if want.Block >= 0 {
					want = moved[want]
				}
				require.Equal(t, want, *place)
				n++
			}
		}
		require.Equal(t, len(before), n)
	})
}

type columnPlace = column.Place

// A large column can be mapped by itself, and small ones take one block together.
func TestLargeColumnsLieApart(t *testing.T) {
	of := func(block, bytes int) column.Description {
		return column.Description{Buffers: []column.Place{{Block: block, Bytes: bytes}}}
	}
	p := &plan{columns: []column.Description{of(0, 10), of(1, 20), of(2, 5000), of(3, 30), of(4, 6000), of(5, 10)}}
	p.layOut(4096)
	var blocks []int
	for _, described := range p.columns {
		blocks = append(blocks, described.Buffers[0].Block)
	}
	require.Equal(t, []int{0, 0, 1, 2, 3, 4}, blocks)
	require.Equal(t, []uint64{512, 5120, 256, 6144, 256}, p.groups)
}
