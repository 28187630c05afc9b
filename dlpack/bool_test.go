//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

var boolean = cabi.DataType{Code: cabi.CodeBool, Bits: 8, Lanes: 1}

// expanded is the model: a byte of 0 or 1 for each bit.
func expanded(bits []byte, offset, length int) []byte {
	bytes := make([]byte, length)
	for i := range bytes {
		bytes[i] = bits[(offset+i)/8] >> ((offset + i) % 8) & 1
	}
	return bytes
}

func TestExportBoolIsACopy(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		bits := pattern(200)
		for _, each := range []struct{ offset, length int }{{0, 1600}, {0, 1}, {3, 5}, {13, 1003}, {8, 64}} {
			eitherStruct(t, func(t *testing.T, legacy bool) {
				c := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Offset: each.offset, Length: each.length}, nil, bits)
				tensor, err := dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy})
				require.NoError(t, err)
				if !legacy {
					assert.EqualValues(t, cabi.FlagIsCopied, versioned(tensor.Pointer()).Flags)
				}
				require.NoError(t, c.Release())
				assert.EqualValues(t, each.length, m.Stats().InUse, "the copy counts until its deleter")

				described := tensorOf(tensor)
				assert.Equal(t, boolean, described.DataType)
				assert.EqualValues(t, each.length, word(described.Shape, 0))
				assert.Equal(t, expanded(bits, each.offset, each.length), rawBytes(t, m.Device(), described.Data, each.length))
				require.NoError(t, tensor.Release())
				requireNothingHeld(t, m)
			})
		}
	})
}

func TestImportBoolIsACopy(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, length := range []int{0, 1, 7, 8, 9, 512, 1003} {
			eitherStruct(t, func(t *testing.T, legacy bool) {
				bits := pattern(length/8 + 1)
				p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), expanded(bits, 0, length)), boolean, int64(length))
				c, err := importEither(m, p, legacy)
				require.NoError(t, err)
				assert.Equal(t, 1, p.Deleted(), "the bytes have been read")
				assert.Zero(t, m.Stats().ExternalBlocks)
				assert.Equal(t, arrow.BOOL, c.Type().ID())
				require.Equal(t, length, c.Len())
				if length > 0 {
					packed := download(t, c.Buffer(1))
					assert.Zero(t, len(packed)%64)
					assert.Equal(t, expanded(bits, 0, length), expanded(packed, 0, length))
					assert.Equal(t, make([]byte, 8*len(packed)-length), expanded(packed, length, 8*len(packed)-length), "the padding is clear")
				}
				require.NoError(t, c.Release())
				requireNothingHeld(t, m)
			})
		}
	})
}

func TestBoolRoundTrip(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		bits := pattern(100)
		c := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Offset: 11, Length: 700}, nil, bits)
		tensor, err := dlpack.Export(c)
		require.NoError(t, err)
		back, err := dlpack.Import(m, tensor.Detach())
		require.NoError(t, err)
		require.NoError(t, c.Release())
		assert.Equal(t, expanded(bits, 11, 700), expanded(download(t, back.Buffer(1)), 0, 700))
		require.NoError(t, back.Release())
		requireNothingHeld(t, m)
	})
}

func TestExportOfNoBools(t *testing.T) {
	m := hostManager(t)
	c := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Offset: 3}, nil, pattern(1))
	tensor, err := dlpack.Export(c)
	require.NoError(t, err)
	assert.Zero(t, tensorOf(tensor).Data)
	assert.Equal(t, boolean, tensorOf(tensor).DataType)
	require.NoError(t, tensor.Release())
	require.NoError(t, c.Release())
}

func TestBoolsBeyondTheBudget(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 128})

	c := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: 1000}, nil, pattern(125))
	_, err := dlpack.Export(c)
	require.ErrorIs(t, err, memory.ErrBudget)
	require.NoError(t, c.Release())

	p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), make([]byte, 2000)), boolean, 2000)
	requireRefused(t, m, p, false, "data", memory.ErrBudget)
}
