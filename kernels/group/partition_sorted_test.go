package group_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestSortedPartitions groups rows that are sorted by their key, or nearly so, with the rows in place and with rows that
// move, and compares both with the host.
func TestSortedPartitions(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	types := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64}
	lists := append(partitionAggregates(), []group.Aggregate{group.Sum(expr.Col("d")), group.Count(expr.Col("d")), group.Mean(expr.Col("d")), group.Sum(expr.Col("i16"))})
	r := rand.New(rand.NewPCG(91, 92))
	for i, c := range []struct {
		name string
		// change changes one key of rows that are sorted.
		change   func(keys []int64)
		gap      int64
		ascends  column.Answer
		position int
	}{
		{"sorted", func([]int64) {}, 2, column.Yes, 0},
		{"sorted, with gaps of whole partitions", func([]int64) {}, 90, column.Yes, 0},
		{"rows of a part of a table", func([]int64) {}, 2, column.Yes, 17},
		{"the first row behind the second", func(keys []int64) { keys[0] = keys[1] + 1 }, 2, column.No, 0},
		{"the last row before another", func(keys []int64) { keys[len(keys)-1] = keys[len(keys)-2] - 1 }, 2, column.No, 0},
		{"neighbours of two warps", func(keys []int64) { keys[63], keys[64] = keys[200], keys[0] }, 2, column.No, 0},
	} {
		for j, n := range []int{2600, 511 + r.IntN(3), 4097} {
			keyType := types[(i+j)%len(types)]
			record := sortedRecord(r, keyType, n+c.position, c.gap, c.change)
			part := record.NewSlice(int64(c.position), int64(n+c.position))
			hosted, err := buffer.FromRecord(host, part)
			require.NoError(t, err)
			whole, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			table, err := whole.Slice(int64(c.position), int64(n))
			require.NoError(t, err)
			part.Release()
			record.Release()
			for k, list := range lists {
				if testing.Short() && (i+j+k)%3 != 0 {
					continue
				}
				choice := strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, SortedRows: 1, PlaceBits: 4 + r.IntN(4), ChunkRows: []int{0, 300}[r.IntN(2)]}
				title := fmt.Sprintf("%s, %d keys of %v, list %d, %+v", c.name, n, keyType, k, choice)
				want, err := group.By(hosted, group.Columns("k")...).Aggregate(t.Context(), list, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err, title)
				got, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), list, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err, title)
				if keyType.ID() == arrow.INT32 {
					require.Equal(t, c.ascends, table.Column(0).Ascending(), title)
				}
				requireEqual(t, columntest.Fetch(t, want), columntest.Fetch(t, got), title)
			}
			require.NoError(t, hosted.Release())
			require.NoError(t, table.Release())
			require.NoError(t, whole.Release())
		}
	}
}

// sortedRecord is partitionRecord with decimals and with ascending keys of a type, but for a change.
func sortedRecord(r *rand.Rand, keyType arrow.DataType, n int, gap int64, change func([]int64)) arrow.Record {
	keys := make([]int64, n)
	most := int64(9000)
	switch keyType.ID() {
	case arrow.INT8:
		most = 100
	case arrow.UINT16:
		most = 60_000
	}
	for i := range keys {
		keys[i] = r.Int64N(most) / gap * gap
	}
	slices.Sort(keys)
	change(keys)
	plain := partitionRecord(r, partitionDraws["uniform"], n, 10)
	defer plain.Release()
	columns := []arrow.Array{arrayOfIntegers(keyType, keys), arrayOfIntegers(&arrow.Decimal128Type{Precision: 30, Scale: 2}, keys)}
	fields := []arrow.Field{{Name: "k", Type: keyType}, {Name: "d", Type: columns[1].DataType()}}
	for i := 1; i < int(plain.NumCols()); i++ {
		fields, columns = append(fields, plain.Schema().Field(i)), append(columns, plain.Column(i))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n))
}

// arrayOfIntegers returns an array of numbers of a type.
func arrayOfIntegers(dataType arrow.DataType, numbers []int64) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, dataType)
	defer b.Release()
	for _, x := range numbers {
		if err := b.AppendValueFromString(strconv.FormatInt(x, 10)); err != nil {
			panic(err)
		}
	}
	return b.NewArray()
}
