package selection_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

func TestConcatOfEveryType(t *testing.T) {
	eachType(t, 6, concatSome)
}

// concatSome concatenates random arrays, sliced and with or without nulls, and compares
// the result row by row.
func concatSome(t *testing.T, mgr *memory.Manager, dataType arrow.DataType, seed uint64) {
	g := arraytest.NewGenerator(seed)
	var columns []*column.Column
	var seen []arrow.Array
	for range 1 + g.IntN(4) {
		g.Nulls = arraytest.Nulls(g.IntN(3))
		g.Sliced = g.IntN(3) == 0
		piece, c := slice(t, mgr, g, dataType, []int{0, 1, 31, 32, 70}[g.IntN(5)])
		columns, seen = append(columns, c), append(seen, piece)
	}

	made, err := selection.ConcatColumns(t.Context(), columns, kernels.Options{Manager: mgr})

	require.NoError(t, err)
	got, at := download(t, made), 0
	for _, piece := range seen {
		for j := range piece.Len() {
			requireRow(t, got, at, piece, j)
			at++
		}
	}
	require.Equal(t, at, got.Len())
}

func TestConcatOfTables(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(3)
		numbers, texts := g.Array(arrow.PrimitiveTypes.Int16, 40), g.Array(arrow.BinaryTypes.String, 40)
		defer numbers.Release()
		defer texts.Release()
		c, d := upload(t, mgr, numbers, 0, 0), upload(t, mgr, texts, 0, 0)
		one, two := tableOf(t, mgr, 40, false, c, d), tableOf(t, mgr, 7, true, c, d)

		made, err := selection.Concat(t.Context(), []*buffer.Buffer{two, one, two})

		require.NoError(t, err)
		rows := append(append(upTo(7), upTo(40)...), upTo(7)...)
		requireTable(t, made, rows, numbers, texts)

		alone, err := selection.Concat(t.Context(), []*buffer.Buffer{two})
		require.NoError(t, err)
		requireTable(t, alone, upTo(7), numbers, texts)

		_, err = selection.Concat(t.Context(), nil)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = selection.Concat(t.Context(), []*buffer.Buffer{one, tableOf(t, mgr, 40, false, d, c)})
		require.ErrorIs(t, err, column.ErrInvalid)
		_, err = selection.Concat(t.Context(), []*buffer.Buffer{one, tableOf(t, mgr, 40, false, d)})
		require.ErrorIs(t, err, buffer.ErrSchema)
	})
}

func TestConcatSharesADictionary(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		narrow := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}
		g := arraytest.NewGenerator(3)
		values := g.Array(narrow, 30)
		defer values.Release()
		c := upload(t, mgr, values, 0, 0)
		many := make([]*column.Column, 100) // too many values for the indices if they were not shared
		for i := range many {
			many[i] = c
		}
		made, err := selection.ConcatColumns(t.Context(), many)
		require.NoError(t, err)
		require.Same(t, c.Dictionary(), made.Dictionary())
		require.NoError(t, made.Release())

		for i := range many {
			other := g.Array(narrow, 30)
			defer other.Release()
			many[i] = upload(t, mgr, other, 0, 0)
		}
		_, err = selection.ConcatColumns(t.Context(), many)
		require.ErrorIs(t, err, memory.ErrOverflow)
	})
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
