//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func pointerTo(p *cabitest.Producer) unsafe.Pointer { return unsafe.Pointer(p.Versioned) }

func importMatrix(m *memory.Manager, p *cabitest.Producer, legacy bool, options ...dlpack.ImportOptions) ([]*column.Column, error) {
	if legacy {
		return dlpack.ImportMatrixLegacy(m, unsafe.Pointer(p.Legacy), options...)
	}
	return dlpack.ImportMatrix(m, unsafe.Pointer(p.Versioned), options...)
}

func TestImportMatrixSharesTheMemory(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		values := pattern(4096)
		pointer := devicetest.Foreign(t, m.Device(), values)
		for name, each := range map[string]struct {
			shape, strides []int64
			distance       int // in bytes
		}{
			"side by side":         {[]int64{5, 3}, []int64{1, 5}, 20},
			"with gaps":            {[]int64{5, 3}, []int64{1, 64}, 256},
			"one row":              {[]int64{1, 3}, []int64{3, 1}, 4},
			"one row, any stride":  {[]int64{1, 3}, []int64{-77, 2}, 8},
			"one column":           {[]int64{5, 1}, []int64{1, 1}, 20},
			"one column, no sense": {[]int64{5, 1}, []int64{1, -9}, 20},
		} {
			t.Run(name, func(t *testing.T) {
				eitherStruct(t, func(t *testing.T, legacy bool) {
					p := newProducer(t, m.Device(), pointer, float32Type, each.shape...)
					copy(p.Strides, each.strides)
					columns, err := importMatrix(m, p, legacy)
					require.NoError(t, err)
					require.Len(t, columns, int(each.shape[1]))
					block := columns[0].Buffer(1).Block()
					for i, c := range columns {
						require.Same(t, block, c.Buffer(1).Block())
						require.Equal(t, pointer.Add(uint64(i*each.distance)), c.Pointer())
						require.Equal(t, values[i*each.distance:][:4*each.shape[0]], valueBytes(t, c, 4))
					}
					assert.EqualValues(t, len(columns), block.References())
					for _, c := range columns {
						require.Zero(t, p.Deleted(), "the deleter is the last column's")
						require.NoError(t, c.Release())
					}
					require.Equal(t, 1, p.Deleted())
					requireNothingHeld(t, m)
				})
			})
		}
	})
}

func TestImportMatrixOfEveryType(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, each := range allTypes() {
			width := each.width()
			values := pattern(40 * width)
			p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), values), each.dlpack, 10, 4)
			p.Strides[0], p.Strides[1] = 1, 10
			columns, err := importMatrix(m, p, false)
			require.NoError(t, err)
			for i, c := range columns {
				require.True(t, arrow.TypeEqual(each.arrow, c.Type()))
				require.Equal(t, values[i*10*width:(i+1)*10*width], leafBytes(t, c, width))
			}
			releaseColumns(t, columns)
			requireNothingHeld(t, m)
		}
	})
}

func TestImportMatrixOfBools(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		bits := pattern(20)
		p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), expanded(bits, 0, 160)), boolean, 70, 2)
		p.Strides[0], p.Strides[1] = 1, 80
		columns, err := importMatrix(m, p, false)
		require.NoError(t, err)
		assert.Equal(t, 1, p.Deleted(), "the bytes have been read")
		for i, c := range columns {
			require.Equal(t, expanded(bits, 80*i, 70), expanded(download(t, c.Buffer(1)), 0, 70))
		}
		releaseColumns(t, columns)
		requireNothingHeld(t, m)
	})
}

func TestImportMatrixOfNothing(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, shape := range [][]int64{{0, 3}, {3, 0}, {0, 0}, {math.MaxInt64, 0}} {
			p := newProducer(t, m.Device(), 0, float32Type, shape...)
			columns, err := importMatrix(m, p, false)
			require.NoError(t, err)
			assert.Len(t, columns, int(shape[1]))
			assert.Equal(t, 1, p.Deleted())
			releaseColumns(t, columns)
			requireNothingHeld(t, m)
		}
	})
}

func TestImportMatrixRefuses(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		pointer := devicetest.Foreign(t, m.Device(), pattern(4096))
		for name, each := range map[string]struct {
			shape, strides []int64
			field          string
			reason         error
		}{
			"one dimension":       {[]int64{4}, []int64{1}, "ndim", dlpack.ErrUnsupported},
			"three":               {[]int64{4, 1, 1}, []int64{1, 1, 1}, "ndim", dlpack.ErrUnsupported},
			"row by row":          {[]int64{4, 3}, []int64{3, 1}, "strides[0]", dlpack.ErrUnsupported},
			"rows backwards":      {[]int64{4, 3}, []int64{-1, 4}, "strides[0]", dlpack.ErrUnsupported},
			"overlapping columns": {[]int64{4, 3}, []int64{1, 3}, "strides[1]", dlpack.ErrUnsupported},
			"one column for all":  {[]int64{4, 3}, []int64{1, 0}, "strides[1]", dlpack.ErrUnsupported},
			"columns backwards":   {[]int64{4, 3}, []int64{1, -4}, "strides[1]", dlpack.ErrUnsupported},
			"columns far apart":   {[]int64{4, 3}, []int64{1, math.MaxInt64}, "strides[1]", dlpack.ErrInvalid},
			"columns beyond":      {[]int64{4, 1 << 20}, []int64{1, math.MaxInt64}, "strides[1]", dlpack.ErrInvalid},
			"columns at the end":  {[]int64{4, 2}, []int64{1, 1 << 61}, "shape[0]", dlpack.ErrInvalid},
			"too many columns":    {[]int64{0, 1 << 60}, []int64{1, 1}, "shape[1]", dlpack.ErrUnsupported},
			"a negative number":   {[]int64{4, -1}, []int64{1, 4}, "shape[1]", dlpack.ErrInvalid},
		} {
			t.Run(name, func(t *testing.T) {
				p := newProducer(t, m.Device(), pointer, float32Type, each.shape...)
				copy(p.Strides, each.strides)
				columns, err := importMatrix(m, p, false)
				require.ErrorIs(t, err, each.reason)
				assert.Nil(t, columns)
				var typed *dlpack.Error
				require.ErrorAs(t, err, &typed)
				assert.Equal(t, "import matrix", typed.Operation)
				assert.Equal(t, each.field, typed.Field)
				assert.Equal(t, 1, p.Deleted())
				requireNothingHeld(t, m)
			})
		}
		t.Run("no strides", func(t *testing.T) {
			p := newProducer(t, m.Device(), pointer, float32Type, 4, 3)
			p.Versioned.Tensor.Strides = 0
			_, err := importMatrix(m, p, false)
			require.ErrorIs(t, err, dlpack.ErrUnsupported)
			require.ErrorContains(t, err, "transpose")
		})
	})
}

// A matrix that gpuframe exported is recognised.
func TestOwnMatrixIsRecognised(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		bytes := upload(t, m, pattern(256))
		columns := sharedColumns(t, bytes, arrow.PrimitiveTypes.Int32, 5, 4, 64, 128, 192)
		require.NoError(t, bytes.Release())
		tensor, err := dlpack.ExportMatrix(columns, dlpack.ExportOptions{Aligned: true})
		require.NoError(t, err)
		back, err := dlpack.ImportMatrix(m, tensor.Detach())
		require.NoError(t, err)
		for i := range columns {
			assert.Same(t, columns[i].Block(), back[i].Block())
			assert.Equal(t, columns[i].Pointer(), back[i].Pointer())
		}
		assert.Zero(t, m.Stats().ExternalBlocks)
		releaseColumns(t, columns)
		releaseColumns(t, back)
		requireNothingHeld(t, m)
	})
}
