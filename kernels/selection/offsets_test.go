package selection_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// lowOffset is the number that 32-bit offsets reach to in tests of more bytes and elements.
const lowOffset = 20

// TestConcatWidensOffsets concatenates arrays with more bytes or elements than offsets reach to, and
// arrays that differ in the width of their offsets.
func TestConcatWidensOffsets(t *testing.T) {
	eachType(t, 3, func(t *testing.T, mgr *memory.Manager, of arrow.DataType, seed uint64) {
		ctx, g := strategy.WithMaximumOffset(t.Context(), lowOffset), arraytest.NewGenerator(seed)
		var columns []*column.Column
		var seen []arrow.Array
		for range 2 + g.IntN(3) {
			g.Nulls = arraytest.Nulls(g.IntN(3))
			piece, c := slice(t, mgr, g, of, []int{0, 1, 33, 70}[g.IntN(4)])
			columns, seen = append(columns, c), append(seen, piece)
		}
		made, err := selection.ConcatColumns(ctx, columns, kernels.Options{Manager: mgr})
		if hasNoWideType(err, of) {
			return
		}
		require.NoError(t, err)
		requireOffsets(t, made, of, textBytes(seen...))

		both, err := selection.ConcatColumns(t.Context(), []*column.Column{columns[0], made, columns[1]}, kernels.Options{Manager: mgr})
		require.NoError(t, err)
		require.True(t, arrow.TypeEqual(made.Type(), both.Type()), "%v and %v", made.Type(), both.Type())
		release(t, made)
		order := append(append([]arrow.Array{seen[0]}, seen...), seen[1])
		requireNarrowed(t, both, of, order...)
	})
}

// TestTakeWidensOffsets takes rows several times, so that they have more bytes or elements than
// offsets reach to.
func TestTakeWidensOffsets(t *testing.T) {
	eachType(t, 2, func(t *testing.T, mgr *memory.Manager, of arrow.DataType, seed uint64) {
		ctx, g := strategy.WithMaximumOffset(t.Context(), lowOffset), arraytest.NewGenerator(seed)
		seen, c := slice(t, mgr, g, of, 12)
		rows := randomRows(g.Rand, 70, 12, seed%2 == 0 && !isDense(of))
		indices := indicesOf(t, arrow.PrimitiveTypes.Int32, rows)

		taken, err := selection.TakeColumn(ctx, c, upload(t, mgr, indices, 0, 0))

		if hasNoWideType(err, of) {
			return
		}
		require.NoError(t, err)
		var pieces []arrow.Array
		for _, row := range rows {
			if row >= 0 {
				piece := array.NewSlice(seen, int64(row), int64(row)+1)
				defer piece.Release()
				pieces = append(pieces, piece)
			}
		}
		requireOffsets(t, taken, of, textBytes(pieces...))
		narrow := narrowed(t, taken, of)
		requireRows(t, narrow, seen, rows)
	})
}

// hasNoWideType reports whether a concatenation failed because Arrow has no wider type.
func hasNoWideType(err error, of arrow.DataType) bool {
	return errors.Is(err, memory.ErrOverflow) && (strings.Contains(of.String(), "map") || strings.Contains(of.String(), "extension"))
}

// textBytes returns the bytes of strings, or −1 for other arrays.
func textBytes(arrays ...arrow.Array) int {
	total := 0
	for _, a := range arrays {
		b, ok := a.(array.BinaryLike)
		if !ok {
			return -1
		}
		for i := range a.Len() {
			if a.IsValid(i) {
				total += b.ValueLen(i)
			}
		}
	}
	return total
}

// requireOffsets checks that a column of strings has 64-bit offsets exactly if it needs them.
func requireOffsets(t *testing.T, made *column.Column, of arrow.DataType, bytes int) {
	t.Helper()
	wide, ok := layout.Wide(of)
	if bytes < 0 || !ok {
		return
	}
	want := of
	if bytes > lowOffset {
		want = wide
	}
	require.True(t, arrow.TypeEqual(want, made.Type()), "%v of %d bytes", made.Type(), bytes)
}

// narrowed returns a column, which it releases, as an array of a type.
func narrowed(t *testing.T, c *column.Column, of arrow.DataType) arrow.Array {
	t.Helper()
	table := tableOf(t, c.Manager(), int64(c.Len()), false, c)
	require.NoError(t, c.Release())
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: of, Nullable: true}}, nil)
	made, err := selection.Narrow(t.Context(), table, schema)
	require.NoError(t, err)
	release(t, made)
	require.True(t, arrow.TypeEqual(of, made.Column(0).Type()), "%v, expected %v", made.Column(0).Type(), of)
	values, err := made.Column(0).Array(t.Context())
	require.NoError(t, err)
	t.Cleanup(values.Release)
	return values
}

// requireNarrowed checks that a column, which it releases, has the rows of arrays.
func requireNarrowed(t *testing.T, c *column.Column, of arrow.DataType, arrays ...arrow.Array) {
	t.Helper()
	got, at := narrowed(t, c, of), 0
	for _, a := range arrays {
		for j := range a.Len() {
			requireRow(t, got, at, a, j)
			at++
		}
	}
	require.Equal(t, at, got.Len())
}

// TestNarrowRefusesTooMuchText: the caller narrows parts.
func TestNarrowRefusesTooMuchText(t *testing.T) {
	eachType(t, 1, func(t *testing.T, mgr *memory.Manager, of arrow.DataType, seed uint64) {
		wide, ok := layout.Wide(of)
		if !ok {
			return
		}
		g := arraytest.NewGenerator(seed)
		values := g.Array(wide, 70)
		defer values.Release()
		table := tableOf(t, mgr, 70, false, upload(t, mgr, values, 0, 0))
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: of, Nullable: true}}, nil)
		_, err := selection.Narrow(strategy.WithMaximumOffset(t.Context(), 1), table, schema)
		require.ErrorIs(t, err, memory.ErrOverflow)
	})
}

// TestRecordsWidenOffsets loads records with more text together than offsets reach to.
func TestRecordsWidenOffsets(t *testing.T) {
	eachType(t, 2, func(t *testing.T, mgr *memory.Manager, of arrow.DataType, seed uint64) {
		g := arraytest.NewGenerator(seed)
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: of, Nullable: true}}, nil)
		var records []arrow.Record
		var seen []arrow.Array
		for range 2 + g.IntN(3) {
			g.Nulls = arraytest.Nulls(g.IntN(3))
			ahead := g.IntN(10)
			values := g.Array(of, ahead+40)
			defer values.Release()
			piece := array.NewSlice(values, int64(ahead), int64(ahead+40))
			defer piece.Release()
			record := array.NewRecord(schema, []arrow.Array{piece}, 40)
			defer record.Release()
			records, seen = append(records, record), append(seen, piece)
		}
		table, err := buffer.FromRecords(strategy.WithMaximumOffset(t.Context(), lowOffset), mgr, records, buffer.LoadOptions{})
		require.NoError(t, err)
		defer table.Release()
		c := table.Column(0)
		require.NoError(t, c.Retain())
		requireOffsets(t, c, of, textBytes(seen...))
		requireNarrowed(t, c, of, seen...)
	})
}
