package codegen_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// isNarrow reports whether a packed kernel takes values of a type.
func isNarrow(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.UINT8, arrow.UINT16, arrow.BOOL:
		return true
	}
	return false
}

// packed uploads arrays from an offset that is a multiple of eight, and requires that a
// packed kernel computes the program.
func packed(t *testing.T, mgr *memory.Manager, p *exprtree.Program, arrays []arrow.Array, offset int) {
	t.Helper()
	columns := upload(t, mgr, arrays, offset)
	require.True(t, codegen.Packs(p, columns))
	release(t, columns)
	check(t, mgr, p, arrays, offset)
}

// TestPackedOperations computes every operation of narrow columns with narrow results.
func TestPackedOperations(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		found := 0
		for i, o := range operations() {
			narrow, bools := isNarrow(o.result), true
			for _, of := range o.operands {
				narrow, bools = narrow && isNarrow(of), bools && of.ID() == arrow.BOOL
			}
			if !narrow || bools {
				continue
			}
			found++
			t.Run(fmt.Sprintf("%v/%v/%v", o.op, o.operands, o.result), func(t *testing.T) {
				v := newValues(uint64(i))
				const rows = 3003
				arrays := make([]arrow.Array, len(o.operands))
				arguments := make([]*exprtree.Node, len(o.operands))
				for a, dt := range o.operands {
					arrays[a] = v.array(t, dt, rows, []int{0, 3, 5 * (a % 2)}[i%3])
					arguments[a] = input(a, dt)
				}
				packed(t, mgr, program(o.operands, node(o.op, o.result, arguments...)), arrays, []int{0, 16}[i%2])
			})
		}
		require.Greater(t, found, 100)
	})
}

// TestPackedSizes has sizes around groups, bytes of bits and chunks, and several outputs
// of both widths.
func TestPackedSizes(t *testing.T) {
	i8, u16 := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16
	types := []arrow.DataType{i8, u16, bools, i8, u16, i8}
	several := program(types, node(exprtree.Negate, i8, input(0, i8)), node(exprtree.BitNot, u16, input(1, u16)),
		node(exprtree.And, bools, input(2, bools), node(exprtree.Greater, bools, input(0, i8), input(3, i8))),
		node(exprtree.Divide, i8, input(3, i8), input(5, i8)), node(exprtree.IsNull, bools, input(4, u16)))
	one := program(types[:1], node(exprtree.Abs, i8, input(0, i8)))
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		sizes := []int{1, 7, 8, 9, 31, 33, 255, 256, 257, 1023, 1024, 1025, 4099}
		if !devicetest.Emulated(dev) {
			sizes = append(sizes, 10_000_003)
		}
		for i, rows := range sizes {
			for _, offset := range []int{0, 8, 64} {
				v := newValues(uint64(rows))
				arrays := make([]arrow.Array, len(types))
				for a, dt := range types {
					arrays[a] = v.array(t, dt, rows+offset, []int{0, 4}[(a+i)%2])
				}
				if offset%16 == 0 {
					packed(t, mgr, several, arrays, offset)
				} else {
					check(t, mgr, several, arrays, offset) // the values of two bytes are not aligned
				}
				packed(t, mgr, one, arrays[:1], offset)
			}
		}
	})
}

// TestUnpackedColumns has columns that a packed kernel cannot read: groups that are not
// aligned or that end behind their memory, bits within a byte, and wider types.
func TestUnpackedColumns(t *testing.T) {
	i8, u16 := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, test := range []struct {
			of                  arrow.DataType
			rows, shift, offset int
			packs               bool
		}{
			{i8, 64, 0, 0, true}, {i8, 61, 0, 0, false}, {i8, 64, 1, 0, false}, {i8, 64, 8, 0, true}, {i8, 64, 0, 8, true}, {i8, 64, 0, 4, false},
			{u16, 64, 8, 0, false}, {u16, 64, 16, 8, true}, {u16, 63, 0, 0, false},
		} {
			a := newValues(uint64(test.rows)).array(t, test.of, test.rows, 0)
			width := test.of.(arrow.FixedWidthDataType).Bytes()
			values := unpadded(t, mgr, a.Data().Buffers()[1].Bytes()[:test.rows*width], test.shift)
			whole, err := column.New(column.Data{Type: test.of, Length: test.rows, Buffers: []column.Bytes{{}, values}})
			require.NoError(t, err)
			require.NoError(t, values.Block().Release())
			c, err := whole.Slice(test.offset, test.rows-test.offset)
			require.NoError(t, err)
			require.NoError(t, whole.Release())
			p := program([]arrow.DataType{test.of}, node(exprtree.Negate, test.of, input(0, test.of)))
			require.Equal(t, test.packs, codegen.Packs(p, []*column.Column{c}), "%+v", test)
			want := run(t, mgr, p, []arrow.Array{a})[0]
			got := compute(t, mgr, p, []*column.Column{c}, memory.Slice[int64]{})
			require.True(t, array.SliceEqual(want, int64(test.offset), int64(test.rows), got[0], 0, int64(c.Len())), "%+v", test)
			require.NoError(t, c.Release())
		}
		wide := program([]arrow.DataType{i8}, node(exprtree.Cast, i64, input(0, i8)))
		columns := upload(t, mgr, []arrow.Array{newValues(1).array(t, i8, 64, 0)}, 0)
		defer release(t, columns)
		require.False(t, codegen.Packs(wide, columns))
	})
}

// TestPackedRowsOnTheDevice has row counts below, at and beyond the capacity.
func TestPackedRowsOnTheDevice(t *testing.T) {
	i8 := arrow.PrimitiveTypes.Int8
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const capacity = 3000
		arrays := []arrow.Array{newValues(4).array(t, i8, capacity, 4)}
		columns := upload(t, mgr, arrays, 0)
		defer release(t, columns)
		count, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, count.Release()) }()
		p := program([]arrow.DataType{i8}, node(exprtree.Negate, i8, input(0, i8)), node(exprtree.Less, bools, input(0, i8), literal(i8, int64(3))))
		for _, n := range []int64{-5, 0, 1, 33, 1000, 2048, capacity, capacity + 1, 1 << 62} {
			require.NoError(t, count.Upload(t.Context(), nil, []int64{n}))
			compute(t, mgr, p, columns, count) // compares with the kernel for few rows
		}
	})
}
