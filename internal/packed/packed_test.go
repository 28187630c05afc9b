package packed_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

var tContext = context.Background()

// Random columns of every type are the same rows when they are unpacked, by the host and by kernels, all in one call.
func TestRandomColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			var columns []packed.Column
			var want [][]arrow.Array
			for range rapid.IntRange(1, 3).Draw(r, "columns") {
				dataType := rapid.SampledFrom(types()).Draw(r, "type")
				var arrays []arrow.Array
				rows := 0
				for range rapid.IntRange(1, 3).Draw(r, "arrays") {
					a := drawArray(t, r, g, dataType, rapid.SampledFrom([]int{0, 1, 60, 700, packed.TileRows, 5000}).Draw(r, "rows"))
					arrays, rows = append(arrays, a), rows+a.Len()
				}
				c := pack(r, dataType, arrays)
				require.EqualValues(r, rows, c.Rows)
				if rapid.Bool().Draw(r, "cut") {
					first := rapid.IntRange(0, rows).Draw(r, "first")
					c.First, c.Rows = int64(first), int64(rapid.IntRange(0, rows-first).Draw(r, "left"))
					arrays = cut(t, arrays, c.First, c.Rows)
				}
				columns, want = append(columns, c), append(want, arrays)
				onHost, err := c.Array(t.Context(), arrowmemory.DefaultAllocator)
				require.NoError(r, err)
				requireSame(r, arrays, onHost)
			}
			list, err := packed.Unpack(t.Context(), m, columns, packed.Options{Tag: "test"})
			require.NoError(r, err)
			for i, c := range list {
				got, err := c.Array(t.Context())
				require.NoError(r, err)
				require.NoError(r, c.Release())
				requireSame(r, want[i], got)
			}
		})
	})
}

// Strings by their dictionary, short ones and such that a warp has more than its shared memory.
func TestDictionaryStrings(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			longest := rapid.SampledFrom([]int{1, 4, 9, 40, 900}).Draw(r, "longest")
			words := make([]string, rapid.IntRange(1, 40).Draw(r, "words"))
			for i := range words {
				words[i] = string(g.Random(g.IntN(longest + 1)))
			}
			rows := rapid.IntRange(4*len(words), 4*len(words)+packed.TileRows+300).Draw(r, "rows")
			nulls := rapid.Bool().Draw(r, "nulls")
			builder := array.NewBinaryBuilder(arrowmemory.DefaultAllocator, rapid.SampledFrom([]arrow.BinaryDataType{arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary}).Draw(r, "type"))
			for range rows {
				if nulls && g.IntN(3) == 0 {
					builder.AppendNull()
				} else {
					builder.AppendString(words[g.IntN(len(words))])
				}
			}
			values := builder.NewArray()
			c := pack(r, values.DataType(), []arrow.Array{values})
			require.True(r, c.Blocks[0].Coded)
			list, err := packed.Unpack(t.Context(), m, []packed.Column{c}, packed.Options{})
			require.NoError(r, err)
			got, err := list[0].Array(t.Context())
			require.NoError(r, err)
			require.NoError(r, list[0].Release())
			requireSame(r, []arrow.Array{values}, got)
		})
	})
}

// cut returns rows of arrays.
func cut(t testing.TB, arrays []arrow.Array, first, rows int64) []arrow.Array {
	if len(arrays) == 0 {
		return nil
	}
	whole, err := array.Concatenate(arrays, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	return []arrow.Array{array.NewSlice(whole, first, first+rows)}
}

// Columns of several blocks, packed by two calls: one stream copies them, another one unpacks them.
func TestBlocks(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		copies, err := dev.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, copies.Close()) }()
		g := arraytest.NewGenerator(7)
		g.Nulls = arraytest.SomeNull
		const rows = packed.BlockRows + 3000
		words := []string{"", "rail", "truck", "a longer string, which has more than some bytes", "ship"}
		builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
		for i := range packed.BlockRows + rows {
			builder.Append(words[i*i%len(words)])
		}
		text := builder.NewArray()
		integers := numbers(g, arrow.PrimitiveTypes.Int64, packed.BlockRows+rows, shapes[2](g))
		var columns []packed.Column
		for _, a := range []arrow.Array{text, integers} {
			c := pack(t, a.DataType(), []arrow.Array{array.NewSlice(a, 0, packed.BlockRows)}, []arrow.Array{array.NewSlice(a, packed.BlockRows, int64(a.Len()))})
			require.Len(t, c.Blocks, 3)
			columns = append(columns, c)
		}
		require.True(t, columns[0].Blocks[2].Coded)
		b, err := packed.Copy(t.Context(), m, columns, packed.Options{CopyStream: copies})
		require.NoError(t, err)
		defer func() { require.NoError(t, b.Release()) }()
		for range 2 {
			list, err := b.Unpack(t.Context())
			require.NoError(t, err)
			for i, want := range []arrow.Array{text, integers} {
				got, err := list[i].Array(t.Context())
				require.NoError(t, err)
				require.NoError(t, list[i].Release())
				requireSame(t, []arrow.Array{want}, got)
			}
		}
	})
}

// The forms take as many bits as they should.
func TestSizes(t *testing.T) {
	const rows = packed.BlockRows
	for _, c := range []struct {
		name     string
		dataType arrow.DataType
		number   func(i int) int64
		bits     float64 // for each row, without the headers
	}{
		{"constant", arrow.PrimitiveTypes.Int64, func(int) int64 { return 1 << 50 }, 0},
		{"quantities", &arrow.Decimal128Type{Precision: 15, Scale: 2}, func(i int) int64 { return int64(i*i%50+1) * 100 }, 6},
		{"ascending keys", arrow.PrimitiveTypes.Int64, func(i int) int64 { return int64(i/4*32 + i%4) }, 5},
		{"an arithmetic series", arrow.PrimitiveTypes.Int64, func(i int) int64 { return int64(i) * 12345 }, 0},
		{"runs", arrow.PrimitiveTypes.Int64, func(i int) int64 { return int64(i/50*7919) % 1_000_003 }, 1.3},
		{"prices", arrow.PrimitiveTypes.Float64, func(i int) int64 { return int64(i*7919%10000 + 90000) }, 14},
		{"dates", arrow.FixedWidthTypes.Date32, func(i int) int64 { return int64(i * 7919 % 2526) }, 12},
	} {
		g := arraytest.NewGenerator(1)
		g.Nulls = arraytest.NoneNull
		column := pack(t, c.dataType, []arrow.Array{numbers(g, c.dataType, rows, c.number)})
		bits := float64(8*column.Bytes()) / rows
		assert.LessOrEqual(t, bits, c.bits+0.2, c.name)
		assert.GreaterOrEqual(t, bits, c.bits, c.name)
	}
}

// Blocks have the bounds of their values, without nulls and NaN.
func TestBounds(t *testing.T) {
	g := arraytest.NewGenerator(1)
	g.Nulls = arraytest.NoneNull
	ascending := func(i int) int64 { return int64(i) - 5 }
	for _, dataType := range []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Date32, &arrow.Decimal128Type{Precision: 9, Scale: 2}} {
		c := pack(t, dataType, []arrow.Array{numbers(g, dataType, 3000, ascending)})
		require.True(t, c.Blocks[0].Bounded)
		assert.EqualValues(t, -5, c.Blocks[0].Low, dataType)
		assert.EqualValues(t, 2994, c.Blocks[0].High, dataType)
	}
	c := pack(t, arrow.PrimitiveTypes.Uint64, []arrow.Array{numbers(g, arrow.PrimitiveTypes.Uint64, 3000, ascending)})
	assert.False(t, c.Blocks[0].Bounded, "small and very large numbers")
}

// Types that are not packed, and blocks that are not blocks.
func TestRefusals(t *testing.T) {
	assert.False(t, packed.Packable(arrow.Null))
	_, err := packed.NewPacker([]arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.ListOf(arrow.PrimitiveTypes.Int8)}, arrowmemory.DefaultAllocator)
	require.ErrorIs(t, err, packed.ErrType)
	assert.Contains(t, err.Error(), "column 1")
	_, err = packed.Column{Type: arrow.PrimitiveTypes.Int8, Rows: 1}.Array(t.Context(), arrowmemory.DefaultAllocator)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = packed.Column{Type: arrow.PrimitiveTypes.Int8, Blocks: []packed.Block{{Rows: 1}}, Rows: 1}.Array(t.Context(), arrowmemory.DefaultAllocator)
	require.ErrorIs(t, err, packed.ErrDamaged)

	stopped, stop := context.WithCancel(t.Context())
	stop()
	p, err := packed.NewPacker([]arrow.DataType{arrow.PrimitiveTypes.Int8}, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	_, _, err = p.Pack(stopped, [][]arrow.Array{{arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int8, 10)}})
	require.ErrorIs(t, err, context.Canceled)
}
