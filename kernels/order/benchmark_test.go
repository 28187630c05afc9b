package order_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// benchmarkRows is the number of rows of the benchmarks of the host.
const benchmarkRows = 1 << 20

// subject is a table to sort by all its columns, and a comparison for the other side.
type subject struct {
	name    string
	columns []arrow.Array
	compare func(a, b uint32) int
}

func integers(n int, value func() int64) *array.Int64 {
	b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
	defer b.Release()
	for range n {
		b.Append(value())
	}
	return b.NewInt64Array()
}

func words(n int, value func() string) *array.String {
	b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer b.Release()
	for range n {
		b.Append(value())
	}
	return b.NewStringArray()
}

func subjects(n int) []subject {
	r := rand.New(rand.NewPCG(1, 2))
	byInteger := func(name string, value func() int64) subject {
		a := integers(n, value)
		return subject{name, []arrow.Array{a}, func(i, j uint32) int { return cmp.Compare(a.Value(int(i)), a.Value(int(j))) }}
	}
	byText := func(name string, value func() string) subject {
		a := words(n, value)
		return subject{name, []arrow.Array{a}, func(i, j uint32) int { return cmp.Compare(a.Value(int(i)), a.Value(int(j))) }}
	}
	next := int64(0)
	few := func() int64 { return r.Int64N(1000) }
	a, b, c := integers(n, few), integers(n, few), integers(n, r.Int64)
	random := func() string {
		text := make([]byte, 12)
		for i := range text {
			text[i] = byte(r.Uint32())
		}
		return string(bytes.ToValidUTF8(text, []byte("?")))
	}
	return []subject{
		byInteger("int64", r.Int64),
		byInteger("int64 of 20 bits", func() int64 { return r.Int64N(1 << 20) }),
		byInteger("sorted int64", func() int64 { next++; return next }),
		{"three int64", []arrow.Array{a, b, c}, func(i, j uint32) int {
			return cmp.Or(cmp.Compare(a.Value(int(i)), a.Value(int(j))), cmp.Compare(b.Value(int(i)), b.Value(int(j))), cmp.Compare(c.Value(int(i)), c.Value(int(j))))
		}},
		byText("strings of 12 bytes", random),
		byText("ids", func() string { return fmt.Sprintf("id%010d", r.IntN(n/10)) }),
		byText("URLs", func() string {
			return fmt.Sprintf("https://example.com/catalogue/products/%d/reviews/%d", r.IntN(100), r.IntN(n))
		}),
	}
}

// BenchmarkIndices sorts on the host, and with slices.SortStableFunc. x-of-limit is the time on the
// host as a multiple of four times that of SortStableFunc divided by the number of processors: at
// most 1.
func BenchmarkIndices(b *testing.B) {
	dev, err := device.Open("host")
	require.NoError(b, err)
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, mgr.Close()) }()
	for _, s := range subjects(benchmarkRows) {
		var fields []arrow.Field
		var keys []order.Key
		for i, a := range s.columns {
			fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: a.DataType()})
			keys = append(keys, order.Key{Column: fmt.Sprint(i)})
		}
		table, err := buffer.FromRecord(mgr, array.NewRecord(arrow.NewSchema(fields, nil), s.columns, benchmarkRows))
		require.NoError(b, err)
		var host time.Duration
		b.Run(s.name+"/host", func(b *testing.B) {
			for b.Loop() {
				rows, err := order.Indices(b.Context(), table, keys)
				require.NoError(b, err)
				require.NoError(b, rows.Release())
			}
			host = b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(host.Nanoseconds())/benchmarkRows, "ns/row")
		})
		b.Run(s.name+"/SortStableFunc", func(b *testing.B) {
			rows := make([]uint32, benchmarkRows)
			for b.Loop() {
				for i := range rows {
					rows[i] = uint32(i)
				}
				slices.SortStableFunc(rows, s.compare)
			}
			took := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(took.Nanoseconds())/benchmarkRows, "ns/row")
			b.ReportMetric(float64(host)*float64(runtime.GOMAXPROCS(0))/(4*float64(took)), "x-of-limit")
		})
		require.NoError(b, table.Release())
	}
}
