package codegen_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// unpadded copies bytes to foreign memory of exactly that size, at an address that is a
// multiple of eight plus shift.
func unpadded(t *testing.T, mgr *memory.Manager, bytes []byte, shift int) column.Bytes {
	t.Helper()
	driver := mgr.Device().Driver()
	pointer, err := driver.Alloc(uint64(shift + len(bytes)))
	require.NoError(t, err)
	block, err := mgr.Adopt(memory.ForeignMemory{
		Pointer: pointer + device.Pointer(shift), Bytes: uint64(len(bytes)), Kind: device.MemoryDevice, Ordered: true,
		Release: func() error { return driver.Free(pointer) },
	})
	require.NoError(t, err)
	s, err := memory.SliceOf[uint8](block, len(bytes))
	require.NoError(t, err)
	require.NoError(t, s.Upload(t.Context(), nil, bytes))
	return s
}

// TestUnpaddedMemory has bitmaps and strings that end with their memory and begin at
// unaligned addresses. On the emulator a read of one more byte fails.
func TestUnpaddedMemory(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, rows := range []int{1, 7, 8, 9, 31, 33, 300} {
			for shift := range 8 {
				str := arrow.BinaryTypes.String
				v := newValues(uint64(rows))
				arrays := []arrow.Array{v.array(t, bools, rows, 3), v.array(t, str, rows, 3)}
				var columns []*column.Column
				for _, a := range arrays {
					data := column.Data{Type: a.DataType(), Length: rows, NullCount: column.UnknownNullCount}
					for i, buffer := range a.Data().Buffers() {
						n := buffer.Len()
						switch {
						case i == 0 || a.DataType() == bools:
							n = (rows + 7) / 8
						case i == 1:
							n = 4 * (rows + 1)
						}
						at := shift
						if i == 1 && a.DataType() == str {
							at = shift &^ 3 // offsets are aligned
						}
						data.Buffers = append(data.Buffers, unpadded(t, mgr, buffer.Bytes()[:n], at))
					}
					c, err := column.New(data)
					require.NoError(t, err)
					for _, buffer := range data.Buffers {
						require.NoError(t, buffer.Block().Release())
					}
					columns = append(columns, c)
				}
				p := program([]arrow.DataType{bools, str}, node(exprtree.Not, bools, input(0, bools)), node(exprtree.Hash, arrow.PrimitiveTypes.Uint64, input(1, str)),
					node(exprtree.EndsWith, bools, input(1, str), literal(str, "ed")))
				got := compute(t, mgr, p, columns, memory.Slice[int64]{})
				release(t, columns)
				want := run(t, mgr, p, arrays) // in padded memory
				for i := range want {
					require.True(t, array.Equal(want[i], got[i]), "%d rows at %d: %v, not %v", rows, shift, got[i], want[i])
				}
			}
		}
	})
}

// TestRowsOnTheDevice has row counts below, at and beyond the capacity.
func TestRowsOnTheDevice(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const capacity = 3000
		arrays := []arrow.Array{newValues(4).array(t, i64, capacity, 4)}
		columns := upload(t, mgr, arrays, 0)
		defer release(t, columns)
		count, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, count.Release()) }()
		p := program([]arrow.DataType{i64}, node(exprtree.Negate, i64, input(0, i64)), node(exprtree.IsNull, bools, input(0, i64)))
		want := run(t, mgr, p, arrays)
		for _, n := range []int64{-5, 0, 1, 33, 1000, 2048, capacity, capacity + 1, 1 << 62} {
			require.NoError(t, count.Upload(t.Context(), nil, []int64{n}))
			got := compute(t, mgr, p, columns, count)
			rows := max(0, min(n, capacity))
			for i := range want {
				require.Equal(t, capacity, got[i].Len())
				require.True(t, array.SliceEqual(want[i], 0, rows, got[i], 0, rows), "%d rows", n)
			}
		}
	})
}

func TestEmptyDictionary(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		codes := array.NewInt32Builder(arrowmemory.DefaultAllocator)
		codes.AppendNulls(50)
		entries := array.NewStringBuilder(arrowmemory.DefaultAllocator).NewArray()
		arrays := []arrow.Array{array.NewDictionaryArray(dictionary, codes.NewArray(), entries)}
		got := run(t, mgr, program([]arrow.DataType{dictionary}, node(exprtree.Equal, bools, input(0, dictionary), literal(arrow.BinaryTypes.String, "x"))), arrays)
		require.Equal(t, 50, got[0].NullN())
	})
}

// TestAlignment has decimals at multiples of 8, and integers at addresses that are not
// aligned.
func TestAlignment(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		a := newValues(6).array(t, decimals[2], 300, 0)
		p := program([]arrow.DataType{decimals[2]}, node(exprtree.Negate, decimals[2], input(0, decimals[2])))
		want := run(t, mgr, p, []arrow.Array{a})[0]
		for _, shift := range []int{0, 8, 1} {
			values := unpadded(t, mgr, a.Data().Buffers()[1].Bytes()[:300*16], shift)
			c, err := column.New(column.Data{Type: decimals[2], Length: 300, Buffers: []column.Bytes{{}, values}})
			require.NoError(t, err)
			require.NoError(t, values.Block().Release())
			if shift%8 == 0 {
				got := compute(t, mgr, p, []*column.Column{c}, memory.Slice[int64]{})
				require.True(t, array.Equal(want, got[0]))
			} else {
				call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr}, c)
				require.NoError(t, err)
				_, err = codegen.Run(call, p, []*column.Column{c}, memory.Slice[int64]{}, 300)
				require.ErrorIs(t, err, device.ErrInvalidValue)
				require.ErrorContains(t, err, "no multiple of 8")
			}
			require.NoError(t, c.Release())
		}
	})
}

func TestRefusals(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		str := arrow.BinaryTypes.String
		columns := upload(t, mgr, []arrow.Array{newValues(1).array(t, str, 10, 0)}, 0)
		defer release(t, columns)
		call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr}, columns...)
		require.NoError(t, err)
		long := make([]byte, 2000)
		for name, p := range map[string]*exprtree.Program{
			"a string result":     program([]arrow.DataType{str}, input(0, str)),
			"a long literal":      program([]arrow.DataType{str}, node(exprtree.Equal, bools, input(0, str), literal(str, string(long)))),
			"a sum of strings":    program([]arrow.DataType{str}, node(exprtree.Add, str, input(0, str), input(0, str))),
			"an unknown function": program([]arrow.DataType{str}, node(exprtree.Ops, bools, input(0, str))),
		} {
			_, err := codegen.Run(call, p, columns, memory.Slice[int64]{}, 10)
			require.ErrorIs(t, err, device.ErrNotSupported, name)
		}
		_, err = codegen.Run(call, program([]arrow.DataType{str, str}, node(exprtree.IsNull, bools, input(1, str))), columns, memory.Slice[int64]{}, 10)
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}
