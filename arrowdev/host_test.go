//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/memory/mallocator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// inCDataOf reports whether arrow-go's C data interface can carry a type. It panics
// at a struct without fields, and loses parts of extension types.
func inCDataOf(t arrow.DataType) bool {
	for _, lacking := range []string{"view", "run_end", "union", "struct<>", "extension"} {
		if strings.Contains(strings.ToLower(t.String()), lacking) {
			return false
		}
	}
	return true
}

// inC returns an array with buffers in C memory, because arrow-go writes their
// addresses to C structs. The caller releases it.
func inC(a arrow.Array) arrow.Array {
	data := dataInC(a.Data())
	defer data.Release()
	return array.MakeFromData(data)
}

func dataInC(data arrow.ArrayData) *array.Data {
	buffers := make([]*arrowmemory.Buffer, len(data.Buffers()))
	for i, buffer := range data.Buffers() {
		if buffer != nil && buffer.Len() > 0 {
			buffers[i] = arrowmemory.NewResizableBuffer(mallocator.NewMallocator())
			defer buffers[i].Release()
			buffers[i].Resize(buffer.Len())
			copy(buffers[i].Bytes(), buffer.Bytes())
		}
	}
	if dictionary := data.Dictionary(); dictionary.(*array.Data) != nil {
		copied := dataInC(dictionary)
		defer copied.Release()
		return array.NewDataWithDictionary(data.DataType(), data.Len(), buffers, data.NullN(), data.Offset(), copied)
	}
	var children []arrow.ArrayData
	for _, child := range data.Children() {
		copied := dataInC(child)
		defer copied.Release()
		children = append(children, copied)
	}
	return array.NewData(data.DataType(), data.Len(), buffers, children, data.NullN(), data.Offset())
}

// Arrays that arrow-go exports are imported without a copy, and exported to arrow-go
// again.
func TestArrowGoIsTheOracle(t *testing.T) {
	external, err := hostManager()
	require.NoError(t, err)
	m := newHostManager(t)
	for number, dataType := range arraytest.AllTypes() {
		if !inCDataOf(dataType) {
			continue
		}
		t.Run(fmt.Sprint(number, " ", dataType), func(t *testing.T) {
			for _, n := range []int{0, 1, 50} {
				g := arraytest.NewGenerator(uint64(number))
				// For a sliced struct arrow-go exports sliced children and the offset
				// too, so the children are too short.
				g.Sliced = n > 1 && !strings.Contains(dataType.String(), "struct")
				want := recordOf(g.Array(dataType, n), g.Array(arrow.BinaryTypes.String, n))
				in, schema := cabitest.New[cdata.CArrowArray](), cabitest.New[cdata.CArrowSchema]()
				defer cabitest.Free(in)
				defer cabitest.Free(schema)
				copied := []arrow.Array{inC(want.Column(0)), inC(want.Column(1))}
				record := recordOf(copied...)
				cdata.ExportArrowRecordBatch(record, in, nil) // its schemas of dictionaries leak
				require.NoError(t, ExportSchema(want.Schema(), pointerTo(schema)))
				record.Release()
				for _, each := range copied {
					each.Release()
				}
				got, err := ImportRecord(pointerTo(in), pointerTo(schema))
				require.NoError(t, err)
				require.Zero(t, (*cabi.Array)(pointerTo(in)).Release)
				requireRecord(t, want, got)

				table := upload(t, m, got)
				got.Release()
				requireNothingHeld(t, external)
				a, err := Export(table)
				require.NoError(t, err)
				require.NoError(t, table.Release())
				require.NoError(t, a.MoveTo(nil, pointerTo(schema)))
				back, err := cdata.ImportCRecordBatch((*cdata.CArrowArray)(a.Device()), schema)
				require.NoError(t, err)
				requireRecord(t, want, back)
				back.Release()
				require.NoError(t, a.Release())
			}
		})
	}
	requireNothingHeld(t, m)
}

// Plain arrays of every type are imported, as a record and as one array.
func TestPlainArraysOfEveryType(t *testing.T) {
	external, err := hostManager()
	require.NoError(t, err)
	devicetest.Open(t, "host")
	for number, dataType := range arraytest.AllTypes() {
		t.Run(fmt.Sprint(number, " ", dataType), func(t *testing.T) {
			m := newHostManager(t)
			for _, n := range []int{0, 30} {
				g := arraytest.NewGenerator(uint64(number))
				want := recordOf(g.Array(dataType, n))
				table := upload(t, m, want)
				p, a := disguised(t, table)
				got, err := ImportRecord(pointerTo(&p.Device.Array), a.Schema())
				require.NoError(t, err)
				requireRecord(t, want, got)
				got.Release()
				require.Equal(t, 1, p.Ended())
				require.NoError(t, a.Release())

				a, err = ExportColumn(table.Column(0), arrow.Field{Name: "one"})
				require.NoError(t, err)
				one, err := ImportArray(a.Device(), a.Schema())
				require.NoError(t, err)
				require.True(t, array.Equal(want.Column(0), one), "%v\n%v", want.Column(0), one)
				one.Release()
				require.NoError(t, a.Release())
				require.NoError(t, table.Release())
			}
			requireNothingHeld(t, m)
			requireNothingHeld(t, external)
		})
	}
}

// plainInts is another library's struct array of one int32 column in C memory.
func plainInts(t testing.TB, values ...int32) (*producertest.Producer, *Array, *memory.Manager) {
	t.Helper()
	m := newHostManager(t)
	p, a := foreignTable(t, m, recordOf(int32s(values...)))
	t.Cleanup(func() { require.NoError(t, a.Release()) })
	return p, a, m
}

// The memory is freed with the last buffer.
func TestAPlainArrayLivesAsLongAsItsBuffers(t *testing.T) {
	p, a, _ := plainInts(t, 1, 2, 3)
	record, err := ImportRecord(pointerTo(&p.Device.Array), a.Schema())
	require.NoError(t, err)
	buffer := record.Column(0).Data().Buffers()[1]
	buffer.Retain()
	record.Release()
	assert.Zero(t, p.Ended())
	assert.Len(t, buffer.Bytes(), 12)
	buffer.Release()
	assert.Equal(t, 1, p.Ended())
}

func TestPlainArraysThatAreRefused(t *testing.T) {
	p, a, _ := plainInts(t, 1, 2, 3)
	p.Device.Array.NumChildren = 2
	_, err := ImportRecord(pointerTo(&p.Device.Array), a.Schema())
	require.ErrorIs(t, err, ErrInvalid)
	require.EqualError(t, err, "arrowdev: import record: ArrowArray.n_children: 2, expected 1 for struct<a: int32>: invalid struct")
	require.Equal(t, 1, p.Ended())

	_, err = ImportRecord(pointerTo(&p.Device.Array), a.Schema())
	require.ErrorIs(t, err, ErrMoved)
	_, err = ImportArray(nil, nil)
	require.ErrorIs(t, err, ErrInvalid)
}
