package selection_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// exact makes a column of an array of a flat type. Its buffers are adjacent in a block
// that ends with the last buffer. Each begins beyond bytes after an aligned address.
func exact(t testing.TB, mgr *memory.Manager, values arrow.Array, beyond int) *column.Column {
	t.Helper()
	data := values.Data()
	var raw [][]byte
	total := 0
	for _, b := range data.Buffers() {
		var bytes []byte
		if b != nil {
			bytes = b.Bytes()
		}
		raw = append(raw, bytes)
		total += (total+63)/64*64 - total + beyond + len(bytes)
	}
	whole, err := memory.NewSlice[uint8](mgr, total, memory.AllocateOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, whole.Release()) }()
	at := 0
	var buffers []column.Bytes
	for _, bytes := range raw {
		at = (at+63)/64*64 + beyond
		part, err := whole.Slice(at, at+len(bytes))
		require.NoError(t, err)
		if len(bytes) > 0 {
			require.NoError(t, part.Upload(t.Context(), nil, bytes))
		} else {
			part = column.Bytes{}
		}
		buffers = append(buffers, part)
		at += len(bytes)
	}
	c, err := column.New(column.Data{
		Type: data.DataType(), Length: data.Len(), Offset: data.Offset(), NullCount: column.UnknownNullCount, Buffers: buffers,
	})
	require.NoError(t, err)
	release(t, c)
	return c
}

// TestImportedMemory uses columns with a foreign layout: without padding, and with byte
// alignment only.
func TestImportedMemory(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for seed, of := range arraytest.FlatTypes() {
			if of.ID() == arrow.NULL {
				continue
			}
			for _, beyond := range []int{0, 1, 4, 8} {
				g := arraytest.NewGenerator(uint64(seed))
				values := g.Array(of, 37)
				defer values.Release()
				seen := array.NewSlice(values, 3, 36)
				defer seen.Release()
				rows := randomRows(g.Rand, 50, seen.Len(), true)
				c := exact(t, mgr, seen, beyond)

				taken, err := selection.TakeColumn(t.Context(), c, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int64, rows), 0, 0))
				if misaligned(of, beyond) {
					require.ErrorIs(t, err, column.ErrInvalid, "%v", of)
					continue
				}
				require.NoError(t, err, "%v", of)
				requireRows(t, download(t, taken), seen, rows)

				made, err := selection.ConcatColumns(t.Context(), []*column.Column{c, c}, kernels.Options{Manager: mgr})
				if of.ID() == arrow.STRING_VIEW || of.ID() == arrow.BINARY_VIEW {
					if beyond == 1 && dev.Kind() != device.Host {
						require.ErrorIs(t, err, column.ErrInvalid)
						continue
					}
				}
				require.NoError(t, err, "%v", of)
				requireRows(t, download(t, made), seen, append(upTo(33), upTo(33)...))
			}
		}
	})
}

// misaligned reports whether offsets are at an address from which a kernel does not
// read them.
func misaligned(of arrow.DataType, beyond int) bool {
	switch of.ID() {
	case arrow.STRING, arrow.BINARY:
		return beyond%4 != 0
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return beyond%8 != 0
	}
	return false
}

func TestMisalignedIndices(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(1)
		values := g.Array(arrow.PrimitiveTypes.Int32, 10)
		defer values.Release()
		indices := exact(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int64, []int{1, 2}), 4)
		_, err := selection.TakeColumn(t.Context(), upload(t, mgr, values, 0, 0), indices)
		require.ErrorIs(t, err, column.ErrInvalid)
		_, err = selection.TakeColumn(t.Context(), upload(t, mgr, values, 0, 0), upload(t, mgr, arrowFloats(t), 0, 0))
		require.ErrorIs(t, err, column.ErrInvalid)
	})
}

func arrowFloats(t testing.TB) arrow.Array {
	values := arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Float64, 2)
	t.Cleanup(values.Release)
	return values
}
