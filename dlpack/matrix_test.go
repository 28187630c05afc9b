//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// sharedColumns makes columns of a block that begin at the given bytes.
func sharedColumns(t testing.TB, bytes column.Bytes, dataType arrow.DataType, rows, width int, offsets ...int) []*column.Column {
	t.Helper()
	columns := make([]*column.Column, len(offsets))
	for i, offset := range offsets {
		values, err := bytes.Slice(offset, offset+rows*width)
		require.NoError(t, err)
		columns[i], err = column.New(column.Data{Type: dataType, Length: rows, Buffers: []column.Bytes{{}, values}})
		require.NoError(t, err)
	}
	return columns
}

func releaseColumns(t testing.TB, columns []*column.Column) {
	t.Helper()
	for _, c := range columns {
		require.NoError(t, c.Release())
	}
}

// matrixBytes reads a tensor column by column, following its strides.
func matrixBytes(t testing.TB, dev *device.Device, described *cabi.Tensor) (columns [][]byte) {
	t.Helper()
	shape, strides := shapeOf(described)
	width := int64(described.DataType.Bits) / 8
	require.Len(t, shape, 2)
	require.EqualValues(t, 1, strides[0])
	for i := range shape[1] {
		at := described.Data + uintptr(described.ByteOffset) + uintptr(i*strides[1]*width)
		columns = append(columns, rawBytes(t, dev, at, int(shape[0]*width)))
	}
	return columns
}

func TestExportMatrixIsAViewIfPossible(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const rows = 5
		for name, each := range map[string]struct {
			offsets  []int
			distance int64 // 0 for a copy
		}{
			"side by side":      {[]int{0, 20, 40, 60}, 5},
			"with gaps":         {[]int{64, 128, 192}, 16},
			"one":               {[]int{40}, 5},
			"to the very end":   {[]int{36, 236}, 50},
			"backwards":         {[]int{40, 20, 0}, 0},
			"the same twice":    {[]int{20, 20}, 0},
			"overlapping":       {[]int{0, 16}, 0},
			"another distance":  {[]int{0, 20, 60}, 0},
			"overlapping later": {[]int{0, 40, 20}, 0},
		} {
			t.Run(name, func(t *testing.T) {
				values := pattern(256)
				bytes := upload(t, m, values)
				columns := sharedColumns(t, bytes, arrow.PrimitiveTypes.Float32, rows, 4, each.offsets...)
				tensor, err := dlpack.ExportMatrix(columns)
				require.NoError(t, err)
				assert.Equal(t, each.distance == 0, tensor.Copied())
				described := tensorOf(tensor)
				shape, strides := shapeOf(described)
				assert.Equal(t, []int64{rows, int64(len(columns))}, shape)
				flags := versioned(tensor.Pointer()).Flags
				if each.distance != 0 {
					assert.Equal(t, []int64{1, each.distance}, strides)
					assert.EqualValues(t, columns[0].Pointer(), described.Data)
					assert.Zero(t, flags)
					assert.EqualValues(t, 256, m.Stats().InUse)
				} else {
					assert.Equal(t, []int64{1, rows}, strides)
					assert.EqualValues(t, cabi.FlagIsCopied, flags)
					assert.EqualValues(t, 256+rows*4*len(columns), m.Stats().InUse)
				}
				releaseColumns(t, columns)
				require.NoError(t, bytes.Release())
				require.NoError(t, m.Device().Synchronize(t.Context()))
				for i, got := range matrixBytes(t, m.Device(), described) {
					assert.Equal(t, values[each.offsets[i]:each.offsets[i]+rows*4], got)
				}
				require.NoError(t, tensor.Release())
				requireNothingHeld(t, m)
			})
		}
	})
}

// A distance that is not a whole number of elements has no stride.
func TestExportMatrixOfAnOddDistance(t *testing.T) {
	m := hostManager(t)
	bytes := upload(t, m, pattern(256))
	columns := sharedColumns(t, bytes, dlpack.BFloat16, 4, 2, 0, 9)
	tensor, err := dlpack.ExportMatrix(columns)
	require.NoError(t, err)
	assert.True(t, tensor.Copied())
	require.NoError(t, tensor.Release())
	releaseColumns(t, columns)
	require.NoError(t, bytes.Release())
	requireNothingHeld(t, m)
}

// Columns that a consumer could not read in place are gathered.
func TestExportMatrixOfMisalignedColumns(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		bytes := upload(t, m, pattern(84))
		for _, offsets := range [][]int{{4}, {4, 44}} {
			var columns []*column.Column
			for _, parts := range sharedColumns(t, bytes, arrow.PrimitiveTypes.Float32, 10, 4, offsets...) {
				columns = append(columns, newLists(t, dlpack.Complex64, 0, 5, parts))
			}
			_, err := dlpack.Export(columns[0])
			require.ErrorIs(t, err, dlpack.ErrUnsupported)
			tensor, err := dlpack.ExportMatrix(columns)
			require.NoError(t, err)
			assert.True(t, tensor.Copied())
			require.NoError(t, m.Device().Synchronize(t.Context()))
			for i, got := range matrixBytes(t, m.Device(), tensorOf(tensor)) {
				assert.Equal(t, pattern(84)[offsets[i]:offsets[i]+40], got)
			}
			require.NoError(t, tensor.Release())
			releaseColumns(t, columns)
		}
		require.NoError(t, bytes.Release())
		requireNothingHeld(t, m)
	})
}

// The matrix has the contents of the columns, for any columns.
func TestExportMatrixOfAnything(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		types := append(allTypes(), numeric{arrow.FixedWidthTypes.Boolean, boolean})
		property.Check(t, func(r *rapid.T) {
			each := rapid.SampledFrom(types).Draw(r, "type")
			rows := rapid.IntRange(0, 20).Draw(r, "rows")
			var columns []*column.Column
			var want [][]byte
			for i := range rapid.IntRange(1, 6).Draw(r, "columns") {
				if i > 0 && rapid.IntRange(0, 3).Draw(r, "again") == 0 {
					require.NoError(r, columns[i-1].Retain())
					columns, want = append(columns, columns[i-1]), append(want, want[i-1])
					continue
				}
				offset := rapid.IntRange(0, 9).Draw(r, "offset")
				if each.arrow.ID() == arrow.BOOL {
					bits := pattern((offset+rows)/8 + 1 + i)[i:]
					columns = append(columns, newOf(t, m, each.arrow, offset, rows, bits))
					want = append(want, expanded(bits, offset, rows))
				} else {
					width := each.width()
					values := pattern((offset+rows)*width + i)[i:]
					columns = append(columns, newOf(t, m, each.arrow, offset, rows, values))
					want = append(want, values[offset*width:])
				}
			}
			tensor, err := dlpack.ExportMatrix(columns, dlpack.ExportOptions{Aligned: rapid.Bool().Draw(r, "aligned")})
			require.NoError(r, err)
			described := tensorOf(tensor)
			require.Equal(r, each.dlpack, described.DataType)
			require.Equal(r, dlDevice(m.Device()), described.Device)
			require.Equal(r, rows == 0, described.Data == 0)
			require.NoError(r, m.Device().Synchronize(t.Context()))
			if rows > 0 {
				require.Equal(r, want, matrixBytes(t, m.Device(), described))
			}
			releaseColumns(t, columns)

			back, err := dlpack.ImportMatrix(m, tensor.Detach())
			require.NoError(r, err)
			require.Len(r, back, len(columns))
			for i, c := range back {
				require.True(r, arrow.TypeEqual(each.arrow, c.Type()))
				require.Equal(r, rows, c.Len())
				if each.arrow.ID() != arrow.BOOL {
					require.Equal(r, want[i], leafBytes(t, c, each.width()))
				} else if rows > 0 {
					require.Equal(r, want[i], expanded(download(t, c.Buffer(1)), 0, rows))
				}
			}
			releaseColumns(t, back)
			requireNothingHeld(t, m)
		})
	})
}

func TestExportMatrixRefuses(t *testing.T) {
	m := hostManager(t)
	ints, short := newInts(t, m, 8), newInts(t, m, 7)
	floats := newOf(t, m, arrow.PrimitiveTypes.Float32, 0, 8, pattern(32))
	nulls := newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 8, NullCount: 1}, []byte{0xfe}, pattern(32))
	lists := newLists(t, arrow.FixedSizeListOf(1, arrow.PrimitiveTypes.Int32), 0, 8, newInts(t, m, 8))
	released := newInts(t, m, 8)
	require.NoError(t, released.Release())
	for name, each := range map[string]struct {
		columns []*column.Column
		field   string
		reason  error
	}{
		"none":        {nil, "columns", device.ErrInvalidValue},
		"nil":         {[]*column.Column{nil}, "columns[0]", memory.ErrReleased},
		"released":    {[]*column.Column{ints, released}, "columns[1]", memory.ErrReleased},
		"two types":   {[]*column.Column{ints, ints, floats}, "columns[2]", dlpack.ErrUnsupported},
		"two lengths": {[]*column.Column{ints, short}, "columns[1]", device.ErrInvalidValue},
		"nulls":       {[]*column.Column{ints, nulls}, "columns[1]", dlpack.ErrNulls},
		"lists":       {[]*column.Column{lists}, "columns[0]", dlpack.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			tensor, err := dlpack.ExportMatrix(each.columns)
			require.ErrorIs(t, err, each.reason)
			assert.Nil(t, tensor)
			var typed *dlpack.Error
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, "export matrix", typed.Operation)
			assert.Equal(t, each.field, typed.Field)
		})
	}
	_, err := dlpack.ExportMatrix([]*column.Column{ints}, dlpack.ExportOptions{}, dlpack.ExportOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	releaseColumns(t, []*column.Column{ints, short, floats, nulls, lists})
	requireNothingHeld(t, m)
}

func TestExportMatrixOfTwoDevices(t *testing.T) {
	gpu, host := newManager(t, devicetest.Open(t, "cuda:0")), hostManager(t)
	columns := []*column.Column{newInts(t, gpu, 4), newInts(t, host, 4)}
	_, err := dlpack.ExportMatrix(columns)
	require.ErrorIs(t, err, dlpack.ErrDevice)
	releaseColumns(t, columns)
}

func TestExportMatrixReadOnly(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), pattern(48)), float32Type, 4, 3)
		p.Versioned.Flags = cabi.FlagReadOnly
		p.Strides[0], p.Strides[1] = 1, 4
		columns, err := dlpack.ImportMatrix(m, pointerTo(p))
		require.NoError(t, err)
		view, err := dlpack.ExportMatrix(columns)
		require.NoError(t, err)
		assert.False(t, view.Copied())
		assert.EqualValues(t, cabi.FlagReadOnly, versioned(view.Pointer()).Flags)
		require.NoError(t, view.Release())

		columns[0], columns[1] = columns[1], columns[0]
		copied, err := dlpack.ExportMatrix(columns)
		require.NoError(t, err)
		assert.EqualValues(t, cabi.FlagIsCopied, versioned(copied.Pointer()).Flags, "the copy is the consumer's own")
		require.NoError(t, copied.Release())
		marked, err := dlpack.ExportMatrix(columns, dlpack.ExportOptions{ReadOnly: true})
		require.NoError(t, err)
		assert.EqualValues(t, cabi.FlagIsCopied|cabi.FlagReadOnly, versioned(marked.Pointer()).Flags)
		cabitest.Delete(marked.Detach(), false)
		releaseColumns(t, columns)
		assert.Equal(t, 1, p.Deleted())
		requireNothingHeld(t, m)
	})
}

// The gathered matrix is in the budget of the first column's manager.
func TestExportMatrixBeyondTheBudget(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 1000})
	columns := []*column.Column{newInts(t, m, 100), newInts(t, m, 100)}
	_, err := dlpack.ExportMatrix(columns)
	require.ErrorIs(t, err, memory.ErrBudget)
	releaseColumns(t, columns)
	requireNothingHeld(t, m)
}
