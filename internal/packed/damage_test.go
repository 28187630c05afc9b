package packed_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// guarded returns a manager that finds writes beyond the memory of an allocation.
func guarded(t testing.TB, dev *device.Device) *memory.Manager {
	guard := adaptor.NewGuard(memory.NewDriverResource(dev), adaptor.GuardOptions{RedZone: 256})
	return devicetest.Manager(t, dev, memory.Options{Resource: guard})
}

// changed returns a block with other bytes.
func changed(r *rapid.T, b packed.Block) packed.Block {
	b.Bytes = bytes.Clone(b.Bytes)
	for range rapid.IntRange(1, 4).Draw(r, "changes") {
		at := rapid.IntRange(0, len(b.Bytes)-1).Draw(r, "at")
		if rapid.Bool().Draw(r, "header") {
			at = rapid.IntRange(0, min(63, len(b.Bytes)-1)).Draw(r, "at")
		}
		b.Bytes[at] = rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff})).Draw(r, "byte")
	}
	return b
}

// unpackDamaged unpacks a column that may be damaged, behind one that is not: with the host's result on each device.
func unpackDamaged(t require.TestingT, m *memory.Manager, c, other packed.Column, want []arrow.Array) {
	onHost, failure := c.Array(tContext, arrowmemory.DefaultAllocator)
	list, err := packed.Unpack(tContext, m, []packed.Column{other, c}, packed.Options{})
	require.Equal(t, failure == nil, err == nil, "on the host %v, on the device %v", failure, err)
	if err != nil {
		require.ErrorIs(t, err, packed.ErrDamaged)
		damage, ok := errors.AsType[*packed.Error](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, 1, damage.Column)
		return
	}
	for i, c := range list {
		got, err := c.Array(tContext) // which checks offsets
		require.NoError(t, err)
		require.NoError(t, c.Release())
		if i == 0 {
			requireSame(t, want, got)
			continue
		}
		require.Equal(t, onHost.Len(), got.Len())
		for row := range got.Len() {
			require.True(t, arraytest.Same(onHost, row, got, row), "row %d of %v", row, got.DataType())
		}
	}
}

// Blocks with other bytes are an error, or other values. Nothing is read or written out of bounds.
func TestDamagedBlocks(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		sound := []arrow.Array{arraytest.NewGenerator(1).Array(arrow.BinaryTypes.String, 40)}
		other := pack(t, arrow.BinaryTypes.String, sound)
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			dataType := rapid.SampledFrom(types()).Draw(r, "type")
			c := pack(r, dataType, []arrow.Array{drawArray(t, r, g, dataType, rapid.IntRange(1, 2*packed.TileRows).Draw(r, "rows"))})
			c.Blocks[0] = changed(r, c.Blocks[0])
			unpackDamaged(r, m, c, other, sound)
		})
	})
}

// FuzzUnpack: any bytes of a block give the host's result on the emulator.
func FuzzUnpack(f *testing.F) {
	g := arraytest.NewGenerator(17)
	var columns []packed.Column
	for i, dataType := range types() {
		g.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull}[i%2]
		c := pack(f, dataType, []arrow.Array{g.Array(dataType, 100)})
		f.Add(c.Blocks[0].Bytes, byte(len(columns)))
		columns = append(columns, c)
	}
	m := guarded(f, kerneltest.Open(f))
	f.Fuzz(func(t *testing.T, block []byte, number byte) {
		c := columns[int(number)%len(columns)]
		c.Blocks = slices.Clone(c.Blocks)
		c.Blocks[0].Bytes = append(make([]byte, 0, len(block)+8), block...)
		sound := []arrow.Array{arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int64, 40)}
		unpackDamaged(t, m, c, pack(t, arrow.PrimitiveTypes.Int64, sound), sound)
	})
}
