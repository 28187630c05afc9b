//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

// requireRecord compares the contents of two records.
func requireRecord(t require.TestingT, want, got arrow.Record) {
	require.Equal(t, want.NumRows(), got.NumRows())
	require.Equal(t, want.NumCols(), got.NumCols())
	for i := range want.Columns() {
		if !array.Equal(want.Column(i), got.Column(i)) {
			require.Failf(t, "columns differ", "want %v\n got %v", want.Column(i), got.Column(i))
		}
	}
}

// Every type returns unchanged, through gpuframe's own structs and through another
// library's.
func TestRoundTripOfEveryType(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for number, dataType := range arraytest.AllTypes() {
			t.Run(fmt.Sprint(number, " ", dataType), func(t *testing.T) {
				for _, n := range []int{0, 1, 40} {
					for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
						g := arraytest.NewGenerator(uint64(number))
						g.Nulls, g.Sliced = nulls, n == 40
						thereAndBack(t, m, recordOf(g.Array(dataType, n), g.Array(arrow.PrimitiveTypes.Int32, n)))
					}
				}
			})
		}
	})
}

func thereAndBack(t *testing.T, m *memory.Manager, record arrow.Record) {
	t.Helper()
	table := upload(t, m, record)
	cuts := []struct{ offset, length int64 }{{0, record.NumRows()}}
	if record.NumRows() > 20 {
		cuts = append(cuts, struct{ offset, length int64 }{3, 13}, struct{ offset, length int64 }{8, 0})
	}
	for _, cut := range cuts {
		part, err := table.Slice(cut.offset, cut.length)
		require.NoError(t, err)
		want := record.NewSlice(cut.offset, cut.offset+cut.length)
		requireRecord(t, want, download(t, throughOwn(t, m, part)))
		for _, options := range []ImportOptions{{}, {Unchecked: true}} {
			requireRecord(t, want, download(t, throughForeign(t, m, part, options)))
		}
		require.NoError(t, part.Release())
	}
	require.NoError(t, table.Release())
	requireNothingHeld(t, m)
}

// throughOwn exports and imports a table, which has to be recognised.
func throughOwn(t *testing.T, m *memory.Manager, table *buffer.Buffer) *buffer.Buffer {
	t.Helper()
	a, err := Export(table)
	require.NoError(t, err)
	back, err := Import(m, a.Device(), a.Schema())
	require.NoError(t, err)
	for i := range table.NumColumns() {
		require.Same(t, table.Column(i), back.Column(i))
	}
	require.NoError(t, a.Release())
	require.True(t, table.Schema().Equal(back.Schema()), "%v\n%v", table.Schema(), back.Schema())
	return back
}

// throughForeign exports a table and imports other structs with the same contents.
func throughForeign(t *testing.T, m *memory.Manager, table *buffer.Buffer, options ImportOptions) *buffer.Buffer {
	t.Helper()
	p, a := disguised(t, table)
	back, err := Import(m, pointerTo(p.Device), a.Schema(), options)
	require.NoError(t, err)
	require.NoError(t, a.Release())
	assert.Zero(t, p.Device.Array.Release)
	require.Equal(t, 1, p.Ended(), "the memory is ours, and the array over with")
	require.Zero(t, p.Live())
	return back
}
