package pages_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// columnIndex has two pages, one with the bounds a and c and one nulls, and offsetIndex their places: 20 bytes from 4 on, and 30 behind
// them with the rows from 7 on.
var (
	columnIndex = []byte{0x19, 0x21, 2, 1, 0x19, 0x28, 1, 'a', 0, 0x19, 0x28, 1, 'c', 0, 0x15, 0, 0x19, 0x26, 2, 6, 0}
	offsetIndex = []byte{0x19, 0x2c, 0x16, 8, 0x15, 40, 0x16, 0, 0, 0x16, 48, 0x15, 60, 0x16, 14, 0, 0}
)

func TestPageIndex(t *testing.T) {
	bounds, err := pages.ColumnIndex(columnIndex)
	require.NoError(t, err)
	require.Equal(t, []pages.Bounds{{Low: []byte("a"), High: []byte("c"), Nulls: 1}, {Low: []byte{}, High: []byte{}, Null: true, Nulls: 3}}, bounds)
	locations, err := pages.OffsetIndex(offsetIndex, 4, 54, 10)
	require.NoError(t, err)
	require.Equal(t, []pages.Location{{Offset: 4, Length: 20}, {Offset: 24, Length: 30, Row: 7}}, locations)
	for _, c := range [][3]int64{{5, 54, 10}, {4, 53, 10}, {4, 54, 6}} {
		_, err := pages.OffsetIndex(offsetIndex, c[0], c[1], c[2])
		require.ErrorIs(t, err, pages.ErrDamaged, "%v", c)
	}
}

// Any bytes give an error, or an index of pages in order and within the column chunk.
func TestDamagedPageIndex(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		change := func(data []byte) []byte {
			data = bytes.Clone(data)
			for range rapid.IntRange(1, 3).Draw(r, "changes") {
				data[rapid.IntRange(0, len(data)-1).Draw(r, "at")] = rapid.Byte().Draw(r, "byte")
			}
			return data[:rapid.IntRange(len(data)/2, len(data)).Draw(r, "length")]
		}
		if bounds, err := pages.ColumnIndex(change(columnIndex)); err == nil {
			for _, b := range bounds {
				require.GreaterOrEqual(r, b.Nulls, int64(-1))
			}
		} else {
			require.ErrorIs(r, err, pages.ErrDamaged)
		}
		locations, err := pages.OffsetIndex(change(offsetIndex), 4, 54, 10)
		if err != nil {
			require.ErrorIs(r, err, pages.ErrDamaged)
			return
		}
		end, row := int64(4), int64(0)
		for _, l := range locations {
			require.True(r, l.Offset >= end && l.Length > 0 && l.Row >= row && l.Row <= 10, "%v", locations)
			end, row = l.Offset+l.Length, l.Row
		}
		require.LessOrEqual(r, end, int64(54))
	})
}
