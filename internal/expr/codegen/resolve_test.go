package codegen_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// coded makes a dictionary array of words, one of which is null.
func coded(v values, n int) arrow.Array {
	entries := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	entries.AppendNull()
	entries.AppendValues(words, nil)
	codes := array.NewInt16Builder(arrowmemory.DefaultAllocator)
	for range n {
		if v.IntN(5) == 0 {
			codes.AppendNull()
		} else {
			codes.Append(int16(v.IntN(len(words) + 1)))
		}
	}
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	return array.NewDictionaryArray(t, codes.NewArray(), entries.NewArray())
}

// TestResolve resolves dictionaries that are short enough, and expects the same results
// as from the evaluation of each row.
func TestResolve(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const rows = 1<<16 + 77
		arrays := []arrow.Array{coded(newValues(2), rows), newValues(3).array(t, f32, rows, 4)}
		types := []arrow.DataType{arrays[0].DataType(), f32}
		asks := func(op exprtree.Op, value string) *exprtree.Node {
			return node(op, bools, input(0, types[0]), literal(arrow.BinaryTypes.String, value))
		}
		either := node(exprtree.Or, bools, asks(exprtree.Equal, "delay"), asks(exprtree.StartsWith, "1234"))
		p := program(types, either, asks(exprtree.NotEqual, "a"), node(exprtree.IsNull, bools, asks(exprtree.EndsWith, "d")),
			node(exprtree.AndStrict, bools, either, node(exprtree.Less, bools, input(1, f32), literal(f32, 1.0))), node(exprtree.IsNull, bools, input(0, types[0])),
			node(exprtree.Hash, arrow.PrimitiveTypes.Uint64, input(0, types[0])))
		columns := upload(t, mgr, arrays, 0)
		defer release(t, columns)
		call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr}, columns...)
		require.NoError(t, err)

		resolved, inputs, done, err := codegen.Resolve(call, p, columns, rows)
		require.NoError(t, err)
		require.Len(t, inputs, 5, "the answers to three questions beside the two inputs")
		require.Len(t, resolved.Outputs, 6)
		require.NoError(t, done())
		same, inputs, done, err := codegen.Resolve(call, p, columns, 1000)
		require.NoError(t, err)
		require.Same(t, p, same)
		require.Len(t, inputs, 2)
		require.NoError(t, done())

		want := exprtest.Model(p, arrays, rows)
		for i, got := range compute(t, mgr, p, columns, memory.Slice[int64]{}) {
			exprtest.CompareModel(t, want[i], got, 0)
		}
	})
}

// TestResolveNumbers resolves integers and dates of the strings of a dictionary: the
// results that are looked up have the type of the subexpression.
func TestResolveNumbers(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const rows = 1<<16 + 77
		a := coded(newValues(4), rows)
		x, integer := input(0, a.DataType()), arrow.PrimitiveTypes.Int64
		length := node(exprtree.LengthChars, integer, x)
		p := program([]arrow.DataType{a.DataType()}, length,
			node(exprtree.ParseInteger, arrow.PrimitiveTypes.Uint64, x),
			node(exprtree.Cast, arrow.PrimitiveTypes.Int8, node(exprtree.ParseInteger, integer, x)),
			node(exprtree.ParseDate, arrow.FixedWidthTypes.Date32, x),
			node(exprtree.Cast, f32, node(exprtree.Add, integer, length, literal(integer, int64(1)))),
			node(exprtree.Equal, bools, length, literal(integer, int64(5))))
		columns := upload(t, mgr, []arrow.Array{a}, 0)
		defer release(t, columns)
		call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr}, columns...)
		require.NoError(t, err)
		_, inputs, done, err := codegen.Resolve(call, p, columns, rows)
		require.NoError(t, err)
		require.Len(t, inputs, 7, "the answers to six questions beside the input")
		require.NoError(t, done())

		want := exprtest.Model(p, []arrow.Array{a}, rows)
		for i, got := range compute(t, mgr, p, columns, memory.Slice[int64]{}) {
			exprtest.CompareModel(t, want[i], got, 0)
		}
	})
}

// TestTypesThatKeysDoNotTell tests for nulls in types that support no other operation
// and share one key.
func TestTypesThatKeysDoNotTell(t *testing.T) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range []arrow.DataType{
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: f64},
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int64, ValueType: arrow.PrimitiveTypes.Int8},
			arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.MonthInterval, arrow.ListOf(f32), arrow.FixedWidthTypes.DayTimeInterval,
		} {
			a := exprtest.NewValues(5).Array(of, 100)
			p := program([]arrow.DataType{of, f32}, node(exprtree.IsNull, bools, input(0, of)), node(exprtree.Negate, f32, input(1, f32)))
			got := run(t, mgr, p, []arrow.Array{a, newValues(1).array(t, f32, 100, 0)})[0].(*array.Boolean)
			for i := range 100 {
				require.Equal(t, a.IsNull(i), got.Value(i), "%v, row %d", of, i)
			}
		}
	})
}
