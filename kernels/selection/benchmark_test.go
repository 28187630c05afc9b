package selection_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// bench is a GPU with a column of numbers, and its memory copy rate.
type bench struct {
	*testing.B
	mgr    *memory.Manager
	values *column.Column
	copied float64 // GB/s read and written
}

const benchRows = 1 << 27

func newBench(b *testing.B, rows int) *bench {
	dev := devicetest.Open(b, "cuda:0")
	// Not devicetest's manager, which records the location of each allocation.
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	release(b, closing{mgr})
	x := &bench{B: b, mgr: mgr}
	x.values = columnOf[float64](x, arrow.PrimitiveTypes.Float64, rows, nil)
	x.copied = x.copyRate()
	return x
}

// closing gives a manager the method Release.
type closing struct{ *memory.Manager }

func (c closing) Release() error { return c.Close() }

// columnOf makes a column of a type from values, or of zeros.
func columnOf[T memory.Element](x *bench, of arrow.DataType, rows int, values []T) *column.Column {
	s, err := memory.NewSlice[T](x.mgr, rows, memory.AllocateOptions{})
	require.NoError(x, err)
	if values == nil {
		var zero T
		require.NoError(x, s.Fill(nil, zero))
	} else {
		require.NoError(x, s.Upload(context.Background(), nil, values))
	}
	c, err := column.New(column.Data{Type: of, Length: rows, Buffers: []column.Bytes{{}, s.AsBytes()}})
	require.NoError(x, err)
	require.NoError(x, s.Release())
	release(x, c)
	return c
}

func (x *bench) synchronize() { require.NoError(x, x.mgr.Stream().Synchronize(context.Background())) }

func (x *bench) copyRate() float64 {
	const bytes = 1 << 30
	var pair [2]memory.Slice[uint8]
	for i := range pair {
		var err error
		pair[i], err = memory.NewSlice[uint8](x.mgr, bytes, memory.AllocateOptions{})
		require.NoError(x, err)
		defer pair[i].Release()
	}
	var best time.Duration
	for range 5 {
		x.synchronize()
		begin := time.Now()
		for range 8 {
			require.NoError(x, pair[0].CopyFrom(nil, pair[1]))
		}
		x.synchronize()
		if took := time.Since(begin) / 8; best == 0 || took < best {
			best = took
		}
	}
	return 2 * bytes / best.Seconds() / 1e9
}

// measure runs an operation on n rows, several times per round to make the final wait
// negligible. bytes is the minimum that the operation has to move per row.
func (x *bench) measure(rows int, bytes float64, run func() (interface{ Release() error }, error)) {
	const each = 8
	one := func() {
		made, err := run()
		if err != nil {
			x.Fatal(err)
		}
		if err := made.Release(); err != nil {
			x.Fatal(err)
		}
	}
	one()
	x.synchronize()
	for x.Loop() {
		for range each {
			one()
		}
		x.synchronize()
	}
	seconds := x.Elapsed().Seconds() / float64(x.N*each)
	rate := float64(rows) / seconds / 1e9
	x.ReportMetric(rate, "Grows/s")
	x.ReportMetric(x.copied, "copy-GB/s")
	x.ReportMetric(rate*bytes/x.copied, "of-reach")
	x.ReportMetric(1e6*seconds, "µs/call")
}

func benchIndices(r *rand.Rand, n int, sorted bool) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(r.IntN(n))
	}
	if sorted {
		slices.Sort(rows)
	}
	return rows
}

func BenchmarkTake(b *testing.B) {
	for _, order := range []string{"random", "sorted"} {
		b.Run(order, func(b *testing.B) {
			x := newBench(b, benchRows)
			rows := benchIndices(rand.New(rand.NewPCG(1, 2)), benchRows, order == "sorted")
			indices := columnOf(x, arrow.PrimitiveTypes.Int32, benchRows, rows)
			bytes := 44.0 // an index, a sector of 32 bytes, a value
			if order == "sorted" {
				bytes = 20
			}
			for name, bounds := range map[string]selection.Bounds{"check": selection.Check, "null": selection.Null, "trust": selection.Trust} {
				b.Run(name, func(b *testing.B) {
					x.B = b
					x.measure(benchRows, bytes, func() (interface{ Release() error }, error) {
						return selection.TakeColumnWith(context.Background(), x.values, indices, selection.TakeOptions{Bounds: bounds})
					})
				})
			}
		})
	}
}

func BenchmarkTakeSmall(b *testing.B) {
	x := newBench(b, 1000)
	indices := columnOf(x, arrow.PrimitiveTypes.Int32, 1000, benchIndices(rand.New(rand.NewPCG(1, 2)), 1000, false))
	for name, bounds := range map[string]selection.Bounds{"check": selection.Check, "null": selection.Null, "trust": selection.Trust} {
		b.Run(name, func(b *testing.B) {
			x.B = b
			b.ReportAllocs()
			x.measure(1000, 20, func() (interface{ Release() error }, error) {
				return selection.TakeColumnWith(context.Background(), x.values, indices, selection.TakeOptions{Bounds: bounds})
			})
		})
	}
}

// BenchmarkTakeStrings takes strings of ten bytes.
func BenchmarkTakeStrings(b *testing.B) {
	const n, length = 1 << 24, 10
	x := newBench(b, 1)
	offsets := make([]int32, n+1)
	for i := range offsets {
		offsets[i] = int32(i * length)
	}
	at := columnOf(x, arrow.PrimitiveTypes.Int32, n+1, offsets)
	data := columnOf[uint8](x, arrow.PrimitiveTypes.Uint8, n*length, nil)
	texts, err := column.New(column.Data{Type: arrow.BinaryTypes.String, Length: n, Buffers: []column.Bytes{{}, at.Buffer(1), data.Buffer(1)}})
	require.NoError(b, err)
	release(b, texts)
	for _, order := range []string{"random", "sorted"} {
		rows := benchIndices(rand.New(rand.NewPCG(1, 2)), n, order == "sorted")
		indices := columnOf(x, arrow.PrimitiveTypes.Int32, n, rows)
		b.Run(order, func(b *testing.B) {
			x.B = b
			x.measure(n, 4+4+8+2*length, func() (interface{ Release() error }, error) {
				return selection.TakeColumn(context.Background(), texts, indices)
			})
		})
	}
}

func BenchmarkReverse(b *testing.B) {
	x := newBench(b, benchRows)
	x.measure(benchRows, 16, func() (interface{ Release() error }, error) {
		return selection.ReverseColumn(context.Background(), x.values)
	})
}

func BenchmarkConcat(b *testing.B) {
	x := newBench(b, benchRows/8)
	pieces := slices.Repeat([]*column.Column{x.values}, 8)
	x.measure(benchRows, 16, func() (interface{ Release() error }, error) {
		return selection.ConcatColumns(context.Background(), pieces)
	})
}

func BenchmarkChoose(b *testing.B) {
	x := newBench(b, benchRows)
	other := columnOf[float64](x, arrow.PrimitiveTypes.Float64, benchRows, nil)
	mask := columnOf[uint8](x, arrow.PrimitiveTypes.Uint8, benchRows/8, nil)
	chosen, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: benchRows, Buffers: mask.Data().Buffers})
	require.NoError(b, err)
	release(b, chosen)
	x.measure(benchRows, 24.1, func() (interface{ Release() error }, error) {
		return selection.Choose(context.Background(), chosen, x.values, other, kernels.Options{})
	})
}
