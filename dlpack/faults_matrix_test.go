//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// exportingMatrix exports columns and checks the contents of the tensor.
func exportingMatrix(name string, requests int, legacy bool, prepare func(t testing.TB, m *memory.Manager) (columns []*column.Column, want []byte)) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "dlpack: export matrix", Requests: requests, Kernels: bitmapKernels(), Waits: requests > 0,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			columns, want := prepare(t, m)
			t.Cleanup(func() { releaseColumns(t, columns) })
			references := columns[0].Buffer(1).Block().References()
			return func(ctx context.Context) (func(testing.TB), error) {
				tensor, err := dlpack.ExportMatrix(columns, dlpack.ExportOptions{Legacy: legacy, Context: ctx})
				if err != nil {
					assert.Nil(t, tensor)
					assert.Equal(t, references, columns[0].Buffer(1).Block().References())
					return nil, err
				}
				return func(t testing.TB) {
					require.NoError(t, m.Device().Synchronize(t.Context()))
					assert.Equal(t, want, rawBytes(t, m.Device(), tensorOf(tensor).Data, len(want)))
					require.NoError(t, tensor.Release())
					assert.Equal(t, references, columns[0].Buffer(1).Block().References())
				}, nil
			}
		},
	}
}

// importingMatrix imports another library's tensor of three columns.
func importingMatrix(name string, requests, early int, legacy bool, dataType cabi.DataType, values []byte, rows int64) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "dlpack: import matrix", Requests: requests, Kernels: bitmapKernels(), Waits: requests > 0,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			pointer := devicetest.Foreign(t, m.Device(), values)
			return func(ctx context.Context) (func(testing.TB), error) {
				p := newProducer(t, m.Device(), pointer, dataType, rows, 3)
				p.Strides[0], p.Strides[1] = 1, rows
				columns, err := importMatrix(m, p, legacy, dlpack.ImportOptions{Context: ctx})
				if err != nil {
					assert.Nil(t, columns)
					assert.Equal(t, 1, p.Deleted(), "the tensor is consumed in every case")
					return nil, err
				}
				return func(t testing.TB) {
					require.Len(t, columns, 3)
					require.Equal(t, early, p.Deleted())
					releaseColumns(t, columns)
					require.Equal(t, 1, p.Deleted())
				}, nil
			}
		},
	}
}

func matrices(legacy bool) []faulttest.Operation {
	beside := func(t testing.TB, m *memory.Manager) ([]*column.Column, []byte) {
		bytes := upload(t, m, pattern(400))
		defer bytes.Release()
		return sharedColumns(t, bytes, arrow.PrimitiveTypes.Int32, 50, 4, 0, 200), pattern(400)
	}
	backwards := func(t testing.TB, m *memory.Manager) ([]*column.Column, []byte) {
		columns, want := beside(t, m)
		columns[0], columns[1] = columns[1], columns[0]
		return columns, append(want[200:], pattern(200)...)
	}
	apart := func(t testing.TB, m *memory.Manager) ([]*column.Column, []byte) {
		return []*column.Column{newInts(t, m, 50), newInts(t, m, 50), newInts(t, m, 50)}, append(append(pattern(200), pattern(200)...), pattern(200)...)
	}
	bools := func(t testing.TB, m *memory.Manager) ([]*column.Column, []byte) {
		bits := pattern(200)
		newBits := func() *column.Column {
			return newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Offset: 13, Length: faultyBools}, nil, bits)
		}
		want := expanded(bits, 13, faultyBools)
		return []*column.Column{newBits(), newBits()}, append(want, want...)
	}
	return []faulttest.Operation{
		exportingMatrix("ExportMatrix of a view", 0, legacy, beside),
		exportingMatrix("ExportMatrix of a block", 1, legacy, backwards),
		exportingMatrix("ExportMatrix of blocks", 1, legacy, apart),
		exportingMatrix("ExportMatrix of booleans", 1, legacy, bools),
		importingMatrix("ImportMatrix", 0, 0, legacy, float32Type, pattern(1200), 100),
		importingMatrix("ImportMatrix of nothing", 0, 1, legacy, float32Type, nil, 0),
		importingMatrix("ImportMatrix of booleans", 3, 1, legacy, boolean, expanded(pattern(400), 0, 3*faultyBools), faultyBools),
	}
}

// lists are operations on tensors with more dimensions and of types that are lists
// themselves.
func lists(legacy bool) []faulttest.Operation {
	take := dlpack.Import
	if legacy {
		take = dlpack.ImportLegacy
	}
	there := func(c func(t testing.TB, m *memory.Manager) *column.Column) func(t testing.TB, m *memory.Manager) *column.Column {
		return func(t testing.TB, m *memory.Manager) *column.Column {
			made := c(t, m)
			t.Cleanup(func() { require.NoError(t, made.Release()) })
			return made
		}
	}
	back := func(ctx context.Context, _ testing.TB, m *memory.Manager, c *column.Column) error {
		tensor, err := dlpack.Export(c, dlpack.ExportOptions{Legacy: legacy})
		if err != nil {
			return err
		}
		again, err := take(m, unsafe.Pointer(tensor.Detach()), dlpack.ImportOptions{Context: ctx})
		if err != nil {
			return err
		}
		return again.Release()
	}
	return []faulttest.Operation{
		together("lists there and back", 0, there(func(t testing.TB, m *memory.Manager) *column.Column {
			return newLists(t, arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Int32), 1, 3, newInts(t, m, 16))
		}), back),
		together("complex numbers there and back", 0, there(func(t testing.TB, m *memory.Manager) *column.Column {
			return newOf(t, m, dlpack.Complex128, 1, 20, pattern(21*16))
		}), back),
		together("lists of booleans there and back", 2, there(func(t testing.TB, m *memory.Manager) *column.Column {
			bits := newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Offset: 13, Length: 1000}, nil, pattern(200))
			return newLists(t, arrow.FixedSizeListOf(10, arrow.FixedWidthTypes.Boolean), 1, 99, bits)
		}), back),
	}
}
