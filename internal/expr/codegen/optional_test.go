package codegen_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
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

// TestManyNullableInputs computes a program of eight columns that have bitmaps at
// random. There are two kernels: one for no bitmaps, and one for all others. An output
// has a bitmap only if one of its operands has.
func TestManyNullableInputs(t *testing.T) {
	i8, f32, str := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float32, arrow.BinaryTypes.String
	dictionary := &arrow.DictionaryType{IndexType: i8, ValueType: str}
	types := []arrow.DataType{i8, i8, i64, i64, f32, bools, str, dictionary}
	p := program(types,
		node(exprtree.Add, i8, input(0, i8), input(1, i8)),
		node(exprtree.Negate, i64, input(2, i64)),
		node(exprtree.Coalesce, i64, input(2, i64), input(3, i64)),
		node(exprtree.Multiply, f32, input(4, f32), input(4, f32)),
		node(exprtree.And, bools, input(5, bools), node(exprtree.Equal, bools, input(6, str), literal(str, "delay"))),
		node(exprtree.IsNull, bools, input(7, dictionary)),
		node(exprtree.Equal, bools, input(7, dictionary), literal(str, "a")))
	operands := [][]int{{0, 1}, {2}, {2, 3}, {4}, {5, 6}, nil, nil}
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		keys := map[string]bool{}
		for trial := range 16 {
			v := newValues(uint64(trial))
			const rows = 300
			arrays := make([]arrow.Array, len(types))
			for i, of := range types {
				nullEvery := 0
				if trial > 1 && v.IntN(2) == 0 || trial == 1 {
					nullEvery = 3
				}
				arrays[i] = v.array(t, of, rows, nullEvery)
			}
			check(t, mgr, p, arrays, trial%5)
			columns := upload(t, mgr, arrays, 0)
			keys[codegen.KeyOf(p, columns)] = true
			call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr}, columns...)
			require.NoError(t, err)
			results, err := codegen.Run(call, p, columns, memory.Slice[int64]{}, rows)
			require.NoError(t, err)
			for i, inputs := range operands {
				if inputs == nil {
					continue
				}
				some, all := false, true
				for _, input := range inputs {
					some, all = some || op.Nullable(columns[input]), all && op.Nullable(columns[input])
				}
				want := some
				if i == 2 { // Coalesce
					want = all
				}
				require.Equal(t, want, op.Nullable(results[i]), "trial %d, output %d", trial, i)
			}
			release(t, results)
			release(t, columns)
		}
		require.Len(t, keys, 2)
	})
}

// TestManyInputsInForeignMemory has a bitmap that is read by bytes, and decimals at
// multiples of eight, among others that are not.
func TestManyInputsInForeignMemory(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const rows = 77
		types := []arrow.DataType{bools, bools, decimals[2], decimals[2], i64}
		v := newValues(3)
		var arrays []arrow.Array
		for i, of := range types {
			arrays = append(arrays, v.array(t, of, rows, 4*(i%2)))
		}
		p := program(types, node(exprtree.Xor, bools, input(0, bools), input(1, bools)),
			node(exprtree.Negate, decimals[2], input(2, decimals[2])), node(exprtree.Abs, decimals[2], input(3, decimals[2])), node(exprtree.Negate, i64, input(4, i64)))
		want := run(t, mgr, p, arrays)
		columns := upload(t, mgr, arrays, 0)
		defer func() { release(t, columns) }()
		for _, i := range []int{0, 2} {
			bytes, shift := (rows+7)/8, 1
			if i == 2 {
				bytes, shift = 16*rows, 8
			}
			values := unpadded(t, mgr, arrays[i].Data().Buffers()[1].Bytes()[:bytes], shift)
			c, err := column.New(column.Data{Type: types[i], Length: rows, Buffers: []column.Bytes{{}, values}})
			require.NoError(t, err)
			require.NoError(t, values.Block().Release())
			require.NoError(t, columns[i].Release())
			columns[i] = c
		}
		for i, got := range compute(t, mgr, p, columns, memory.Slice[int64]{}) {
			compare(t, p.Outputs[i], arrays, want[i], got)
		}
	})
}
