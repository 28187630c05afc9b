package exchange_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Each row is in the part that the hash of its keys names, in the order of the table.
func TestPartitionByHash(t *testing.T) {
	eachMachine(t, 1, func(t *testing.T, managers []*memory.Manager) {
		mgr := managers[0]
		g := arraytest.NewGenerator(5)
		for _, rows := range shorter([]int{0, 100}, []int{0, 1, 100, 3000}) {
			keys := columntest.Repeated(t, g, arrow.PrimitiveTypes.Int32, 40, rows)
			words := columntest.Repeated(t, g, arrow.BinaryTypes.String, 5, rows)
			rest := g.Array(arrow.ListOf(arrow.BinaryTypes.String), rows)
			defer rest.Release()
			var columns []*column.Column
			for _, in := range []arrow.Array{keys, words, rest} {
				c, err := column.FromArray(t.Context(), mgr, in, column.UploadOptions{})
				require.NoError(t, err)
				columns = append(columns, c)
			}
			table := columntest.TableOf(t, mgr, -1, columns...)
			for _, c := range columns {
				require.NoError(t, c.Release())
			}
			by := []expr.Expr{expr.Col("a"), expr.Col("b")}
			hashes := hashesOf(t, table, by)
			for _, n := range shorter([]int{1, 3, 5}, []int{1, 2, 3, 5, 64}) {
				parts, err := exchange.PartitionByHash(t.Context(), table, by, n)
				require.NoError(t, err)
				require.Len(t, parts, n)
				for p, part := range parts {
					require.Equal(t, table.Schema(), part.Schema())
					var want []arrow.Array
					for i := range rows {
						if partOf(hashes[i], n) == p {
							want = append(want, array.NewSlice(keys, int64(i), int64(i+1)), array.NewSlice(words, int64(i), int64(i+1)), array.NewSlice(rest, int64(i), int64(i+1)))
						}
					}
					var rowsOf [][]arrow.Array
					for i := 0; i < len(want); i += 3 {
						rowsOf = append(rowsOf, want[i:i+3])
					}
					columntest.RequireRows(t, part, rowsOf...)
					for _, each := range want {
						each.Release()
					}
				}
			}
		}
	})
}

func hashesOf(t testing.TB, table *buffer.Buffer, keys []expr.Expr) []uint64 {
	made, err := expr.Evaluate(t.Context(), table, []expr.Expr{exchange.PartitionHash(keys...)})
	require.NoError(t, err)
	values := columntest.Download(t, made[0]).(*array.Uint64).Uint64Values()
	require.NoError(t, made[0].Release())
	return values
}

// partOf returns the part of a hash: the integer part of hash · n / 2^64, for hashes that are not
// within n of a bound.
func partOf(hash uint64, n int) int {
	high, _ := bits.Mul64(hash, uint64(n))
	return int(high)
}

// The parts of random tables on several devices are exchanged: every row arrives once, and equal
// keys on one device.
func TestShuffle(t *testing.T) {
	eachMachine(t, 3, func(t *testing.T, managers []*memory.Manager) {
		property.Check(t, func(r *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			of := rapid.SampledFrom([]arrow.DataType{
				arrow.PrimitiveTypes.Uint8, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean,
				&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
			}).Draw(r, "type")
			parts := make([][]*buffer.Buffer, 3)
			want := map[string]int{}
			for i := range parts {
				table, arrays := columntest.DrawTable(t, managers[i], g, rapid.IntRange(0, 80).Draw(r, "rows"), of, arrow.BinaryTypes.String)
				for row := range arrays[0].Len() {
					want[fmt.Sprint(text(arrays[0], row), "/", text(arrays[1], row))]++
				}
				var err error
				parts[i], err = exchange.PartitionByHash(t.Context(), table, []expr.Expr{expr.Col("a")}, 3)
				require.NoError(r, err)
			}
			made, err := exchange.AllToAll(t.Context(), parts, managers)
			require.NoError(r, err)
			owner := map[string]int{}
			for j, table := range made {
				record := columntest.Fetch(t, table)
				for row := range int(record.NumRows()) {
					key := text(record.Column(0), row)
					if at, met := owner[key]; met {
						require.Equal(r, at, j, "key %s is on two devices", key)
					}
					owner[key] = j
					want[fmt.Sprint(key, "/", text(record.Column(1), row))]--
				}
			}
			for row, left := range want {
				require.Zero(r, left, "row %s", row)
			}
			for i := range parts {
				for _, part := range parts[i] {
					require.NoError(r, part.Release())
				}
			}
		})
	})
}

func text(values arrow.Array, row int) string {
	if values.IsNull(row) {
		return columntest.Null
	}
	return values.ValueStr(row)
}

func TestPartitionRefusals(t *testing.T) {
	eachMachine(t, 1, func(t *testing.T, managers []*memory.Manager) {
		table, _ := columntest.DrawTable(t, managers[0], arraytest.NewGenerator(1), 8, arrow.PrimitiveTypes.Int32)
		_, err := exchange.PartitionByHash(t.Context(), table, nil, 2)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		for _, n := range []int{-1, 0, 1 << 20} {
			_, err = exchange.PartitionByHash(t.Context(), table, []expr.Expr{expr.Col("a")}, n)
			require.ErrorIs(t, err, device.ErrInvalidValue)
		}
		_, err = exchange.PartitionByHash(t.Context(), table, []expr.Expr{expr.Col("missing")}, 2)
		require.ErrorContains(t, err, "missing")
		_, err = exchange.PartitionByHash(t.Context(), nil, []expr.Expr{expr.Col("a")}, 2)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}
