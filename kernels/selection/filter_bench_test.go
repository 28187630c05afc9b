package selection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// filterBench is a large table on the GPU and the GPU's copy rate.
type filterBench struct {
	mgr  *memory.Manager
	n    int
	copy float64 // bytes per second, read and written
	// values are uniform in [0, 1); mask is true for values below 0.5.
	values, mask, validity memory.Slice[uint8]
}

const billion = 1e9

func newFilterBench(b *testing.B, n int) *filterBench {
	f := &filterBench{mgr: devicetest.Manager(b, devicetest.Open(b, "cuda:0"), memory.Options{}), n: n}
	f.values, f.mask, f.validity = f.allocate(b, 8*n), f.allocate(b, n/8), f.allocate(b, n/8)
	r := rand.New(rand.NewPCG(1, 2))
	values, mask, validity := make([]float64, n), make([]byte, n/8), make([]byte, n/8)
	for i := range values {
		if values[i] = r.Float64(); values[i] < 0.5 {
			mask[i/8] |= 1 << (i % 8)
		}
	}
	for i := range validity {
		validity[i] = byte(r.Uint32() | r.Uint32())
	}
	words, err := memory.Reinterpret[float64](f.values)
	require.NoError(b, err)
	require.NoError(b, words.Upload(b.Context(), nil, values))
	require.NoError(b, f.mask.Upload(b.Context(), nil, mask))
	require.NoError(b, f.validity.Upload(b.Context(), nil, validity))

	other := f.allocate(b, 8*n)
	seconds := f.seconds(b, 20, func() error { return other.CopyFrom(nil, f.values) })
	f.copy = 16 * float64(n) / seconds
	return f
}

func (f *filterBench) allocate(b *testing.B, bytes int) memory.Slice[uint8] {
	s, err := memory.NewSlice[uint8](f.mgr, bytes, memory.AllocateOptions{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Release()) })
	return s
}

// seconds returns the time per call in a sequence of calls.
func (f *filterBench) seconds(b *testing.B, times int, run func() error) float64 {
	synchronize := func() { require.NoError(b, f.mgr.Stream().Synchronize(context.Background())) }
	require.NoError(b, run())
	synchronize()
	start := time.Now()
	for range times {
		require.NoError(b, run())
	}
	synchronize()
	return time.Since(start).Seconds() / float64(times)
}

func (f *filterBench) column(b *testing.B, t arrow.DataType, n int, buffers ...memory.Slice[uint8]) *column.Column {
	c, err := column.New(column.Data{Type: t, Length: n, NullCount: column.UnknownNullCount, Buffers: buffers})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, c.Release()) })
	return c
}

func (f *filterBench) table(b *testing.B, columns ...*column.Column) *buffer.Buffer {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: c.Type(), Nullable: true}
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(columns[0].Len())})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, table.Release()) })
	return table
}

// BenchmarkFilter prints billions of rows per second, and the fraction of the rate that
// the copy rate of the same process allows for the bytes that a row must move.
func BenchmarkFilter(b *testing.B) {
	const n = 1 << 27
	f := newFilterBench(b, n)
	b.Logf("copy: %.0f GB/s", f.copy/billion)
	none := memory.Slice[uint8]{}
	mask := f.column(b, arrow.FixedWidthTypes.Boolean, n, none, f.mask)
	f64 := f.column(b, arrow.PrimitiveTypes.Float64, n, none, f.values)
	nullable := f.column(b, arrow.PrimitiveTypes.Float64, n, f.validity, f.values)
	i32 := f.column(b, arrow.PrimitiveTypes.Int32, n, none, f.values)
	i8 := f.column(b, arrow.PrimitiveTypes.Int8, n, none, f.values)
	wide := f.column(b, &arrow.Decimal128Type{Precision: 30}, n/2, none, f.values)
	ten := make([]*column.Column, 10)
	for i := range ten {
		copied := f.allocate(b, 8*n)
		require.NoError(b, copied.CopyFrom(nil, f.values))
		ten[i] = f.column(b, arrow.PrimitiveTypes.Float64, n, none, copied)
	}
	halfWide, err := mask.Slice(0, n/2)
	require.NoError(b, err)
	defer halfWide.Release()
	shifted, err := mask.Slice(3, n-3)
	require.NoError(b, err)
	defer shifted.Release()
	shiftedValues, err := f64.Slice(3, n-3)
	require.NoError(b, err)
	defer shiftedValues.Release()
	for _, each := range []struct {
		name  string
		table *buffer.Buffer
		mask  *column.Column
		below float64 // for the predicate
		bytes float64 // per row
	}{
		{"mask/f64", f.table(b, f64), mask, 0, 12.125},
		{"mask/f64_3_bits_on", f.table(b, shiftedValues), shifted, 0, 12.125},
		{"mask/f64_nullable", f.table(b, nullable), mask, 0, 12.125 + 0.1875},
		{"mask/i32", f.table(b, i32), mask, 0, 6.125},
		{"mask/i8", f.table(b, i8), mask, 0, 1.625},
		{"mask/decimal128", f.table(b, wide), halfWide, 0, 24.125},
		{"mask/bool", f.table(b, mask), mask, 0, 0.3125},
		{"mask/10_f64", f.table(b, ten...), mask, 0, 120.125},
		{"expression/f64_half", f.table(b, f64), nil, 0.5, 12},
		{"expression/f64_tenth", f.table(b, f64), nil, 0.1, 8.8},
		{"expression/f64_all", f.table(b, f64), nil, 2, 16},
		{"expression/f64_nullable", f.table(b, nullable), nil, 0.5, 8.125 + 0.75*0.5*8.125},
		{"expression/10_f64", f.table(b, ten...), nil, 0.5, 120},
	} {
		predicate := expr.Col("c0").Lt(expr.Lit(each.below))
		b.Run(each.name, func(b *testing.B) {
			run := func() error {
				var made *buffer.Buffer
				var err error
				if each.mask != nil {
					made, err = selection.FilterMask(context.Background(), each.table, each.mask)
				} else {
					made, err = selection.Filter(context.Background(), each.table, predicate)
				}
				if err != nil {
					return err
				}
				return made.Release()
			}
			var seconds float64
			for b.Loop() {
				seconds = f.seconds(b, 20, run)
			}
			rows := float64(each.table.Capacity()) / seconds
			b.ReportMetric(rows/billion, "Grows/s")
			b.ReportMetric(rows*each.bytes/f.copy, "of-reach")
		})
	}
}

// BenchmarkFilterSmall measures the whole call, until the result is complete.
func BenchmarkFilterSmall(b *testing.B) {
	f := newFilterBench(b, 1<<20)
	for _, n := range []int{1000, 8192, 10_000, 100_000, 1 << 20} {
		none := memory.Slice[uint8]{}
		mask := f.column(b, arrow.FixedWidthTypes.Boolean, n, none, f.mask)
		table := f.table(b, f.column(b, arrow.PrimitiveTypes.Float64, n, none, f.values))
		predicate := expr.Col("c0").Lt(expr.Lit(0.5))
		for name, run := range map[string]func() (*buffer.Buffer, error){
			"mask":       func() (*buffer.Buffer, error) { return selection.FilterMask(context.Background(), table, mask) },
			"expression": func() (*buffer.Buffer, error) { return selection.Filter(context.Background(), table, predicate) },
		} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					made, err := run()
					require.NoError(b, err)
					require.NoError(b, f.mgr.Stream().Synchronize(context.Background()))
					require.NoError(b, made.Release())
				}
			})
		}
	}
}

// BenchmarkFilterHost measures the host's part of a call, and the call on the host.
func BenchmarkFilterHost(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	const n = 1 << 20
	p := newPeople(rand.New(rand.NewPCG(1, 1)), n)
	arrays := p.arrays(b)
	columns, err := column.FromArrays(b.Context(), mgr, [][]arrow.Array{arrays[1:2], arrays[3:4]}, column.UploadOptions{})
	require.NoError(b, err)
	defer columns[0].Release()
	defer columns[1].Release()
	for b.Loop() {
		made, err := selection.FilterColumn(context.Background(), columns[0], columns[1])
		require.NoError(b, err)
		require.NoError(b, made.Release())
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/billion, "Grows/s")
}

// BenchmarkFilterCall measures the host's cost of a call, on a device that does
// nothing.
func BenchmarkFilterCall(b *testing.B) {
	gpu := &launchtest.GPU{Discard: true, Kernels: map[string]launchtest.Kernel{"compact_small": {}, "compact_small_where": {}}}
	f := &filterBench{mgr: devicetest.Manager(b, launchtest.Open(b, gpu), memory.Options{}), n: 1000}
	none := memory.Slice[uint8]{}
	mask := f.column(b, arrow.FixedWidthTypes.Boolean, f.n, none, f.allocate(b, 128))
	table := f.table(b, f.column(b, arrow.PrimitiveTypes.Float64, f.n, none, f.allocate(b, 8*f.n)))
	predicate := expr.Col("c0").Lt(expr.Lit(0.5))
	b.Run("mask", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			made, err := selection.FilterMask(context.Background(), table, mask)
			if err != nil {
				b.Fatal(err)
			}
			made.Release()
		}
	})
	b.Run("expression", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			made, err := selection.Filter(context.Background(), table, predicate)
			if err != nil {
				b.Fatal(err)
			}
			made.Release()
		}
	})
}
