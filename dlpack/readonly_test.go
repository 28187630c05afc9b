//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/elementwise"
	"github.com/gpuframe/gpuframe/memory"
)

// writers are all of gpuframe's ways to write to a column's memory.
func writers(t *testing.T, m *memory.Manager, values column.Bytes) map[string]func() error {
	n := values.Len()
	ctx := t.Context()
	other := upload(t, m, pattern(8*n))
	t.Cleanup(func() { require.NoError(t, other.Release()) })
	same, err := other.Slice(0, n)
	require.NoError(t, err)
	floats, err := memory.Reinterpret[float64](values)
	require.NoError(t, err)
	words, err := memory.Reinterpret[uint32](values)
	require.NoError(t, err)
	part, err := values.Slice(8, 16)
	require.NoError(t, err)
	addends, err := memory.Reinterpret[float64](same)
	require.NoError(t, err)
	whole, err := memory.View[uint8](values.Block(), 0, n)
	require.NoError(t, err)
	return map[string]func() error{
		"Upload":                     func() error { return values.Upload(ctx, nil, make([]byte, n)) },
		"UploadRange":                func() error { return values.UploadRange(ctx, nil, 3, []byte{1}) },
		"UploadPadded":               func() error { return values.UploadPadded(ctx, nil, []byte{1}, 2) },
		"UploadPadded with a word":   func() error { return words.UploadPadded(ctx, nil, []uint32{1}, 0x01020304) },
		"UploadPadded, padding only": func() error { return words.UploadPadded(ctx, nil, nil, 0x01020304) },
		"Upload of a part":           func() error { return part.Upload(ctx, nil, make([]byte, 8)) },
		"Upload of pieces": func() error {
			return memory.Upload(ctx, nil, values, []memory.Source{{Offset: 4, Data: []byte{1, 2}}})
		},
		"Upload of computed values": func() error {
			return memory.Upload(ctx, nil, values, []memory.Source{{Bytes: 8, Fill: func(to []byte, _ uint64) { clear(to) }}})
		},
		"Upload of padding only": func() error { return memory.UploadPadded(ctx, nil, values, nil, 7) },
		"Fill":                   func() error { return values.Fill(nil, 1) },
		"Fill with a pattern":    func() error { return floats.Fill(nil, 1.5) },
		"Fill on another stream": func() error { return values.Fill(m.Device().DefaultStream(), 1) },
		"CopyFrom":               func() error { return values.CopyFrom(nil, same) },
		"a view of the block":    func() error { return whole.Fill(nil, 1) },
		"a Batch":                func() error { return memory.AddUpload(new(memory.Batch), values, make([]byte, n)) },
		"bitmap.Expand":          func() error { return bitmap.Expand(nil, values, other, 0, n) },
		"bitmap.Pack":            func() error { return bitmap.Pack(nil, values, other, 8*n) },
		"elementwise.Add":        func() error { return elementwise.Add(ctx, nil, floats, addends, addends) },
	}
}

// Every writer refuses a read-only tensor.
func TestReadOnlyImportsRefuseEveryWriter(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		pointer := devicetest.Foreign(t, m.Device(), pattern(80))
		p := newProducer(t, m.Device(), pointer, cabi.DataType{Code: cabi.CodeFloat, Bits: 64, Lanes: 1}, 10)
		p.Versioned.Flags = cabi.FlagReadOnly
		c, err := importEither(m, p, false)
		require.NoError(t, err)
		for name, write := range writers(t, m, c.Buffer(1)) {
			t.Run(name, func(t *testing.T) {
				require.ErrorIs(t, write(), memory.ErrReadOnly)
				require.NoError(t, m.Device().Synchronize(t.Context()))
				assert.Equal(t, pattern(80), rawBytes(t, m.Device(), uintptr(pointer), 80))
			})
		}
		require.NoError(t, c.Release())
		assert.Equal(t, 1, p.Deleted())

		// The same writers accept other memory.
		own := newOf(t, m, arrow.PrimitiveTypes.Float64, 0, 10, pattern(80))
		for name, write := range writers(t, m, own.Buffer(1)) {
			require.NoError(t, write(), name)
		}
		require.NoError(t, own.Release())
	})
}
