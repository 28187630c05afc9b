package exchange_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// encoded returns a table with a column of the given codes of a dictionary.
func encoded(t testing.TB, mgr *memory.Manager, values []string, codes []int32) (*buffer.Buffer, []arrow.Array) {
	t.Helper()
	words := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	words.AppendValues(values, nil)
	dictionary := words.NewArray()
	defer dictionary.Release()
	numbers := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	numbers.AppendValues(codes, nil)
	indices := numbers.NewArray()
	defer indices.Release()
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	in := array.NewDictionaryArray(of, indices, dictionary)
	t.Cleanup(in.Release)
	c, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
	require.NoError(t, err)
	table := columntest.TableOf(t, mgr, -1, c)
	require.NoError(t, c.Release())
	return table, []arrow.Array{in}
}

// Equal dictionaries of several devices become one, others are concatenated.
func TestDictionariesOfSeveralDevices(t *testing.T) {
	eachMachine(t, 3, func(t *testing.T, managers []*memory.Manager) {
		one, first := encoded(t, managers[0], []string{"b", "a", ""}, []int32{2, 0, 1, 1})
		same, second := encoded(t, managers[1], []string{"b", "a", ""}, []int32{0, 0})
		other, third := encoded(t, managers[2], []string{"a", "c", "b"}, []int32{1, 2, 0})

		made, err := exchange.Gather(t.Context(), []*buffer.Buffer{one, same}, managers[1])
		require.NoError(t, err)
		require.Equal(t, 3, made.Column(0).Dictionary().Len())
		columntest.RequireRows(t, made, first, second)

		made, err = exchange.Gather(t.Context(), []*buffer.Buffer{one, same, other}, managers[2])
		require.NoError(t, err)
		columntest.RequireRows(t, made, first, second, third)
	})
}

// Two columns with one dictionary share it at their destination.
func TestADictionaryMovesOnce(t *testing.T) {
	eachMachine(t, 2, func(t *testing.T, managers []*memory.Manager) {
		table, want := encoded(t, managers[0], []string{"b", "a"}, []int32{0, 1, 1})
		c := table.Column(0)
		both := columntest.TableOf(t, managers[0], -1, c, c)
		made, err := exchange.Copy(t.Context(), both, managers[1])
		require.NoError(t, err)
		require.Same(t, made.Column(0).Dictionary(), made.Column(1).Dictionary())
		columntest.RequireRows(t, made, []arrow.Array{want[0], want[0]})
	})
}

// Dictionaries that differ in bits only, as 0 and -0 do, are not taken for equal.
func TestDictionariesThatDifferInBits(t *testing.T) {
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Float64}
	eachMachine(t, 2, func(t *testing.T, managers []*memory.Manager) {
		want := []float64{0, math.Copysign(0, -1)}
		tables := make([]*buffer.Buffer, len(managers))
		for i, mgr := range managers {
			values := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
			values.Append(want[i])
			dictionary := values.NewArray()
			codes := array.NewInt32Builder(arrowmemory.DefaultAllocator)
			codes.Append(0)
			indices := codes.NewArray()
			in := array.NewDictionaryArray(of, indices, dictionary)
			c, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
			require.NoError(t, err)
			tables[i] = columntest.TableOf(t, mgr, -1, c)
			require.NoError(t, c.Release())
			in.Release()
			indices.Release()
			dictionary.Release()
		}
		made, err := exchange.Gather(t.Context(), tables, managers[1])
		require.NoError(t, err)
		got, err := made.Column(0).Array(t.Context())
		require.NoError(t, err)
		require.NoError(t, made.Release())
		defer got.Release()
		encoded := got.(*array.Dictionary)
		for i := range want {
			value := encoded.Dictionary().(*array.Float64).Value(encoded.GetValueIndex(i))
			require.Equal(t, math.Float64bits(want[i]), math.Float64bits(value), "row %d", i)
		}
	})
}
