package packed_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// wordTypes are types of values that are words of each length.
var wordTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32,
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 30, Scale: 2},
}

// signed are the types that the host packs with the sign of words, by their width.
var signed = map[int]arrow.DataType{
	1: arrow.PrimitiveTypes.Int8, 2: arrow.PrimitiveTypes.Int16, 4: arrow.PrimitiveTypes.Int32, 8: arrow.PrimitiveTypes.Int64,
	16: &arrow.Decimal128Type{Precision: 30, Scale: 2},
}

// onDevice copies bytes to memory of a device.
func onDevice(t require.TestingT, m *memory.Manager, bytes []byte) *memory.Block {
	block, err := m.Allocate(uint64(len(bytes)), memory.AllocateOptions{})
	require.NoError(t, err)
	all, err := memory.View[uint8](block, 0, len(bytes))
	require.NoError(t, err)
	require.NoError(t, memory.Upload(tContext, m.Stream(), all, []memory.Source{{Data: bytes}}))
	require.NoError(t, m.Stream().Synchronize(tContext))
	return block
}

// arrayOf returns an array of bytes.
func arrayOf(dataType arrow.DataType, rows int, bytes []byte) arrow.Array {
	data := array.NewData(dataType, rows, []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(bytes)}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// fromDevice copies the contents of memory.
func fromDevice(t require.TestingT, block *memory.Block) []byte {
	all, err := memory.View[uint8](block, 0, int(block.Bytes()))
	require.NoError(t, err)
	bytes := make([]byte, block.Bytes())
	require.NoError(t, all.Download(tContext, block.Stream(), bytes))
	return bytes
}

// kernelDevices runs a test on each device with kernels, with a manager that finds writes out of bounds and a function
// that allocates pinned memory.
func kernelDevices(t *testing.T, run func(t *testing.T, m *memory.Manager, allocate func(bytes uint64) (*memory.Block, error))) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		host := devicetest.Manager(t, dev, memory.Options{Resource: memory.NewPinnedResource(dev)})
		run(t, guarded(t, dev), func(bytes uint64) (*memory.Block, error) { return host.Allocate(bytes, memory.AllocateOptions{}) })
	})
}

// Blocks of words with other bytes are an error, or other values, the same by both executors.
func TestDamagedWords(t *testing.T) {
	kernelDevices(t, func(t *testing.T, m *memory.Manager, allocate func(bytes uint64) (*memory.Block, error)) {
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			g.Nulls = arraytest.NoneNull
			dataType := rapid.SampledFrom(wordTypes).Draw(r, "type")
			values := numbers(g, dataType, rapid.IntRange(1000, 5000).Draw(r, "rows"), rapid.SampledFrom(shapes[:4]).Draw(r, "shape")(g))
			bytes := values.Data().Buffers()[1].Bytes()
			block := onDevice(t, m, bytes)
			defer func() { require.NoError(t, block.Release()) }()
			words := []spill.Words{{Pointer: block.Pointer(), Bytes: uint64(len(bytes)), Width: len(bytes) / values.Len()}}
			packing, err := packed.WordPacker{}.Measure(t.Context(), m.Stream(), words, allocate)
			require.NoError(r, err)
			if !packing.Packs(0) {
				r.Skip("it is not packed")
			}
			to, err := allocate(packing.Bytes())
			require.NoError(r, err)
			defer func() { require.NoError(t, to.Release()) }()
			require.NoError(r, packing.Pack(t.Context(), m.Stream(), to.Pointer()))
			packedBytes := packed.BlocksOf(packing, to.Pointer())[0][0]
			copy(packedBytes, changed(r, packed.Block{Bytes: packedBytes}).Bytes)
			onHost := make([]byte, len(bytes))
			failure := packing.UnpackOnHost(t.Context(), to.Pointer(), [][]byte{onHost})
			err = packing.Unpack(t.Context(), m.Stream(), to.Pointer(), []device.Pointer{block.Pointer()})
			require.Equal(r, failure == nil, err == nil, "on the host %v, on the device %v", failure, err)
			if err != nil {
				require.ErrorIs(r, err, packed.ErrDamaged)
				return
			}
			require.Equal(r, onHost, fromDevice(r, block))
		})
	})
}

// Random words are packed on the device byte by byte as the host packs them, and unpacked by both.
func TestRandomWords(t *testing.T) {
	kernelDevices(t, func(t *testing.T, m *memory.Manager, allocate func(bytes uint64) (*memory.Block, error)) {
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			g.Nulls = arraytest.NoneNull
			var words []spill.Words
			var want [][]byte
			var columns []packed.Column
			for range rapid.IntRange(1, 3).Draw(r, "columns") {
				dataType := rapid.SampledFrom(wordTypes).Draw(r, "type")
				rows := rapid.SampledFrom([]int{1, 60, 700, packed.TileRows, 5000, packed.BlockRows + 3000}).Draw(r, "rows")
				values := numbers(g, dataType, rows, rapid.SampledFrom(shapes).Draw(r, "shape")(g))
				if rapid.Bool().Draw(r, "wide") {
					values = g.Array(dataType, rows)
				}
				width := dataType.(arrow.FixedWidthDataType).BitWidth() / 8
				offset := values.Data().Offset() * width
				bytes := values.Data().Buffers()[1].Bytes()[offset : offset+rows*width]
				block := onDevice(t, m, bytes)
				defer func() { require.NoError(t, block.Release()) }()
				words = append(words, spill.Words{Pointer: block.Pointer(), Bytes: uint64(len(bytes)), Width: width})
				want = append(want, bytes)
				columns = append(columns, pack(r, signed[width], []arrow.Array{arrayOf(signed[width], rows, bytes)}))
			}
			packing, err := packed.WordPacker{}.Measure(t.Context(), m.Stream(), words, allocate)
			require.NoError(r, err)
			to, err := allocate(packing.Bytes())
			require.NoError(r, err)
			defer func() { require.NoError(t, to.Release()) }()
			require.NoError(r, packing.Pack(t.Context(), m.Stream(), to.Pointer()))
			blocks := packed.BlocksOf(packing, to.Pointer())
			targets, unpacked := make([]device.Pointer, len(words)), make([]*memory.Block, len(words))
			onHost := make([][]byte, len(words))
			for i, w := range words {
				if !packing.Packs(i) {
					require.Greater(r, 8*columns[i].Bytes(), int64(7*w.Bytes)-8)
					continue
				}
				require.Len(r, blocks[i], len(columns[i].Blocks))
				for k, b := range blocks[i] { // but what is behind their data
					require.Equal(r, columns[i].Blocks[k].Bytes[:len(b)-16], b[:len(b)-16])
				}
				block, err := m.Allocate(w.Bytes, memory.AllocateOptions{})
				require.NoError(r, err)
				defer func() { require.NoError(t, block.Release()) }()
				targets[i], unpacked[i] = block.Pointer(), block
				onHost[i] = make([]byte, w.Bytes)
			}
			require.NoError(r, packing.Unpack(t.Context(), m.Stream(), to.Pointer(), targets))
			require.NoError(r, packing.UnpackOnHost(t.Context(), to.Pointer(), onHost))
			for i := range words {
				if packing.Packs(i) {
					require.Equal(r, want[i], fromDevice(r, unpacked[i]))
					require.Equal(r, want[i], onHost[i])
				}
			}
		})
	})
}
