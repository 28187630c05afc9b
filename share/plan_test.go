package share

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// For all columns the contents do not overlap, are aligned and are whole. Columns with a
// common content share it, and the number of blocks is limited.
func TestLayOut(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 1<<28)), 1, 200).Draw(t, "sizes")
		p := &plan{}
		for _, bytes := range sizes {
			p.contents = append(p.contents, content{bytes: bytes})
		}
		place := rapid.Custom(func(t *rapid.T) column.Place {
			if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
				return absent
			}
			n := rapid.IntRange(0, len(sizes)-1).Draw(t, "content")
			return column.Place{Block: n, Bytes: sizes[n]}
		})
		columns := rapid.Custom(func(t *rapid.T) column.Description {
			d := column.Description{Buffers: rapid.SliceOfN(place, 0, 3).Draw(t, "buffers")}
			if rapid.Bool().Draw(t, "nested") {
				d.Children = []column.Description{{Buffers: rapid.SliceOfN(place, 0, 2).Draw(t, "child")}}
			}
			return d
		})
		p.columns = rapid.SliceOfN(columns, 0, 200).Draw(t, "columns")
		var before []column.Place
		for i := range p.columns {
			for place := range p.columns[i].Places {
				before = append(before, *place)
			}
		}
		p.layOut(rapid.Uint64Range(1, 1<<30).Draw(t, "large"))

		require.LessOrEqual(t, len(p.groups), mostBlocks)
		ends := make([]uint64, len(p.groups))
		laid := make(map[int]column.Place)
		n := 0
		for i := range p.columns {
			for place := range p.columns[i].Places {
				from := before[n]
				n++
				if from.Block < 0 {
					require.Equal(t, absent, *place)
					continue
				}
				require.Equal(t, from.Bytes, place.Bytes)
				require.Equal(t, p.places[from.Block], *place)
				if _, met := laid[from.Block]; met {
					continue
				}
				laid[from.Block] = *place // in ascending order
				require.GreaterOrEqual(t, place.Offset, ends[place.Block])
				require.Zero(t, place.Offset%alignment)
				ends[place.Block] = place.Offset + uint64(place.Bytes)
				require.LessOrEqual(t, ends[place.Block], p.groups[place.Block])
			}
		}
		require.Equal(t, len(before), n)
	})
}

// A large column can be mapped by itself, and small ones take one block together.
func TestLargeColumnsLieApart(t *testing.T) {
	of := func(block, bytes int) column.Description {
		return column.Description{Buffers: []column.Place{{Block: block, Bytes: bytes}}}
	}
	p := &plan{contents: make([]content, 6), columns: []column.Description{of(0, 10), of(1, 20), of(2, 5000), of(3, 30), of(4, 6000), of(5, 10)}}
	p.layOut(4096)
	var blocks []int
	for _, described := range p.columns {
		blocks = append(blocks, described.Buffers[0].Block)
	}
	require.Equal(t, []int{0, 0, 1, 2, 3, 4}, blocks)
	require.Equal(t, []uint64{512, 5120, 256, 6144, 256}, p.groups)
}
