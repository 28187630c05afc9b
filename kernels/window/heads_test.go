package window_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// ascending are values of a type in order, nulls last.
func ascending(t arrow.DataType, nulls bool) (texts []string) {
	switch {
	case arrow.IsFloating(t.ID()):
		texts = []string{"-inf", "-2.5", "-1", "-0", "0.25", "1", "7", "inf", "NaN"}
	case t.ID() == arrow.STRING:
		texts = []string{"", "a", "ab", "b", "c"}
	case arrow.IsUnsignedInteger(t.ID()):
		texts = []string{"0", "1", "9", "100", "127", "200", "255"}
	default:
		texts = []string{"-128", "-100", "-1", "0", "1", "9", "100", "127"}
	}
	if nulls {
		texts = append(texts, "")
	}
	return texts
}

// runsTable makes a table with columns k0, k1, … in order, with runs of random lengths, and
// the number of the row as v. In row swapped, if it is not 0, the keys are those of row 0.
func runsTable(g *arraytest.Generator, types []arrow.DataType, n, longest, swapped int, nulls bool) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	rank := make([]int, n) // of all keys together
	for i := 1; i < n; i++ {
		rank[i] = rank[i-1]
		if g.IntN(longest) == 0 {
			rank[i]++
		}
	}
	if swapped > 0 {
		rank[swapped] = rank[0]
	}
	divisor := 1
	for range types {
		divisor *= 5
	}
	for k, of := range types {
		divisor /= 5
		b := array.NewBuilder(arrowalloc.DefaultAllocator, of)
		texts := ascending(of, nulls)
		for _, r := range rank {
			at := min(r/divisor, len(texts)-1)
			if k > 0 {
				at = r / divisor % 5
			}
			if nulls && at == len(texts)-1 {
				b.AppendNull()
			} else if err := b.AppendValueFromString(texts[at]); err != nil {
				panic(err)
			}
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint("k", k), Type: of, Nullable: nulls})
		columns = append(columns, b.NewArray())
	}
	fields = append(fields, arrow.Field{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	b := array.NewInt64Builder(arrowalloc.DefaultAllocator)
	for i := range n {
		if nulls && i%7 == 0 {
			b.AppendNull()
		} else {
			b.Append(int64(i))
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), append(columns, b.NewArray()), int64(n))
}

// TestHeads compares functions of places with those of the host, which encodes keys and
// numbers runs: for each kind of key that a kernel compares itself, for tables of several
// tiles, runs longer than a tile, and one row that is out of order.
func TestHeads(t *testing.T) {
	p := arrow.PrimitiveTypes
	lists := [][]arrow.DataType{
		{p.Uint32}, {p.Int32}, {p.Int64}, {p.Uint64}, {p.Int8}, {p.Uint16}, {p.Float64}, {p.Float32}, {arrow.FixedWidthTypes.Float16},
		{arrow.BinaryTypes.String}, {p.Int32, p.Float64}, {p.Uint8, arrow.BinaryTypes.String}, {p.Int64, p.Int32, p.Uint32, p.Int8}, {p.Int8, p.Int8, p.Int8, p.Int8, p.Int8},
	}
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(17)
		for i, types := range lists {
			for j, size := range []struct{ n, longest int }{{1, 1}, {37, 3}, {4096, 100}, {4097, 5000}, {13000, 5000}, {13000, 40}} {
				if testing.Short() && size.n > 5000 && len(types)%2 == 0 {
					continue
				}
				for _, nulls := range []bool{false, true} {
					if testing.Short() && devicetest.Emulated(dev) && size.n > 4000 && nulls != ((i+j)%2 == 0) {
						continue
					}
					swapped := 0
					if g.IntN(3) == 0 {
						swapped = []int{1, 31, 32, 511, 512, 4095, 4096, size.n - 1}[g.IntN(8)] % size.n
					}
					partitions := g.IntN(len(types) + 1)
					var w window.Windows
					for k := range types {
						key := order.Key{Column: fmt.Sprint("k", k)}
						if k < partitions {
							w.PartitionBy = append(w.PartitionBy, key)
						} else {
							w.OrderBy = append(w.OrderBy, key)
						}
					}
					record := runsTable(g, types, size.n, size.longest, swapped, nulls)
					compareWithHost(t, mgr, host, record, w, fmt.Sprintf("%v, %d partition keys, %+v, nulls %v, swapped %d", types, partitions, size, nulls, swapped))
				}
			}
		}
	})
}

// compareWithHost requires the same results of functions of places and of neighbours.
func compareWithHost(t *testing.T, mgr, host *memory.Manager, record arrow.Record, w window.Windows, name string) {
	t.Helper()
	defer record.Release()
	v := expr.Col("v")
	functions := []window.Function{
		window.RowNumber(), window.Rank(), window.DenseRank(), window.CumulativeDistribution(), window.Lag(v, 1), window.Lead(v, 3),
		window.Sum(v).Rows(window.FirstRow, 0),
	}
	var results [2][]arrow.Array
	for i, m := range []*memory.Manager{host, mgr} {
		table, err := buffer.FromRecord(m, record)
		require.NoError(t, err)
		made, err := window.Over(t.Context(), table, w, functions)
		require.NoError(t, err, name)
		results[i] = arraysOf(t, made)
		require.NoError(t, table.Release())
	}
	for i, f := range functions {
		require.True(t, array.Equal(results[0][i], results[1][i]), "%v: %s", f, name)
	}
}

// TestHeadsOfManyTiles has more tiles than a warp folds together.
func TestHeadsOfManyTiles(t *testing.T) {
	if testing.Short() {
		t.Skip("140,000 rows: at full sizes only")
	}
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(3)
		for _, longest := range []int{3000, 40_000, 1 << 30} {
			w := window.Windows{PartitionBy: []order.Key{{Column: "k0"}}, OrderBy: []order.Key{{Column: "k1"}}}
			record := runsTable(g, []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}, 140_000, longest, 0, false)
			compareWithHost(t, mgr, host, record, w, fmt.Sprint("runs up to ", longest))
		}
	})
}
