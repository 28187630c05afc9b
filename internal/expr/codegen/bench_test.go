package codegen

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

const benchmarkRows = 1 << 27

// subject is an expression on columns of one type.
type subject struct {
	name   string
	of     arrow.DataType
	inputs int
	nulls  bool
	output func(t arrow.DataType) *exprtree.Node
}

func subjects() (all []subject) {
	bools := arrow.FixedWidthTypes.Boolean
	node := func(op exprtree.Op, t arrow.DataType, arguments ...*exprtree.Node) *exprtree.Node {
		return &exprtree.Node{Op: op, Type: t, Arguments: arguments}
	}
	column := func(i int, t arrow.DataType) *exprtree.Node {
		return &exprtree.Node{Op: exprtree.Column, Type: t, Input: i}
	}
	number := func(t arrow.DataType, v float64) *exprtree.Node {
		if kindOf(t).family == float {
			return &exprtree.Node{Op: exprtree.Literal, Type: t, Value: v}
		}
		return &exprtree.Node{Op: exprtree.Literal, Type: t, Value: int64(v)}
	}
	fused := func(t arrow.DataType) *exprtree.Node {
		x, y := column(0, t), column(1, t)
		sum := node(exprtree.Add, t, node(exprtree.Multiply, t, x, number(t, 2)), y)
		return node(exprtree.And, bools, node(exprtree.Greater, bools, sum, number(t, 1)), node(exprtree.Less, bools, x, y))
	}
	add := func(t arrow.DataType) *exprtree.Node { return node(exprtree.Add, t, column(0, t), column(1, t)) }
	sin := func(t arrow.DataType) *exprtree.Node { return node(exprtree.Sin, t, column(0, t)) }
	year := func(t arrow.DataType) *exprtree.Node {
		return node(exprtree.Year, arrow.PrimitiveTypes.Int64, column(0, t))
	}
	for _, nulls := range []bool{false, true} {
		for _, t := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int64} {
			all = append(all, subject{fmt.Sprintf("fused/%v/nulls=%v", t, nulls), t, 2, nulls, fused},
				subject{fmt.Sprintf("add/%v/nulls=%v", t, nulls), t, 2, nulls, add})
		}
	}
	for _, t := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		all = append(all, subject{fmt.Sprintf("sin/%v", t), t, 1, false, sin})
	}
	return append(all, subject{"year", arrow.FixedWidthTypes.Timestamp_us, 1, false, year})
}

// program makes the program and its columns, with varying bits.
func (s subject) program(b *testing.B, mgr *memory.Manager) (*exprtree.Program, []*column.Column, uint64) {
	types := make([]arrow.DataType, s.inputs)
	numbers := make([]int, s.inputs)
	var columns []*column.Column
	bytes := uint64(0)
	for i := range types {
		types[i], numbers[i] = s.of, i
		data := column.Data{Type: s.of, Length: benchmarkRows, Buffers: []column.Bytes{{}, varied(b, mgr, benchmarkRows*kindOf(s.of).bytes())}}
		if s.nulls {
			data.Buffers[0], data.NullCount = varied(b, mgr, benchmarkRows/8), column.UnknownNullCount
		}
		c, err := column.New(data)
		require.NoError(b, err)
		for _, buffer := range data.Buffers {
			bytes += buffer.Bytes()
			require.NoError(b, buffer.Release())
		}
		columns = append(columns, c)
	}
	output := s.output(s.of)
	if bytes += bytesOf(kindOf(output.Type), benchmarkRows); s.nulls {
		bytes += benchmarkRows / 8
	}
	return exprtree.NewProgram(numbers, types, []*exprtree.Node{output}), columns, bytes
}

// varied allocates memory with equal blocks of 4 MiB: small numbers as integers, and
// numbers around 1 as floats.
func varied(b *testing.B, mgr *memory.Manager, bytes int) memory.Slice[uint8] {
	s, err := memory.NewSlice[uint8](mgr, bytes, memory.AllocateOptions{})
	require.NoError(b, err)
	part := make([]byte, min(bytes, 4<<20))
	for i := range part {
		part[i] = byte(rand.Uint32())
		if i%4 == 3 {
			part[i] = 0x3f
		}
	}
	first, err := s.Slice(0, len(part))
	require.NoError(b, err)
	require.NoError(b, first.Upload(context.Background(), nil, part))
	for done := len(part); done < bytes; done *= 2 {
		to, err := s.Slice(done, min(2*done, bytes))
		require.NoError(b, err)
		from, err := s.Slice(0, to.Len())
		require.NoError(b, err)
		require.NoError(b, to.CopyFrom(nil, from))
	}
	return s
}

// timed reports the bytes per second of f, which enqueues work on the stream.
func timed(b *testing.B, stream *device.Stream, bytes uint64, f func()) {
	ctx := context.Background()
	begin, err := stream.Device().NewTimingEvent()
	require.NoError(b, err)
	end, err := stream.Device().NewTimingEvent()
	require.NoError(b, err)
	defer begin.Close()
	defer end.Close()
	f() // compiles
	require.NoError(b, stream.Synchronize(ctx))
	const each = 20
	best := float32(1e9)
	for b.Loop() {
		require.NoError(b, begin.Record(stream))
		for range each {
			f()
		}
		require.NoError(b, end.Record(stream))
		require.NoError(b, end.Wait(ctx))
		milliseconds, err := end.Elapsed(begin)
		require.NoError(b, err)
		best = min(best, milliseconds/each)
	}
	b.ReportMetric(float64(bytes)/float64(best)/1e6, "GB/s")
	b.ReportMetric(float64(best)*1e3, "µs")
	b.ReportMetric(benchmarkRows/float64(best)/1e6, "Grows/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRun measures Run including the allocation and release of the results.
func BenchmarkRun(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	for _, s := range subjects() {
		b.Run(s.name, func(b *testing.B) {
			mgr := devicetest.Manager(b, dev, memory.Options{})
			p, columns, bytes := s.program(b, mgr)
			defer func() { require.NoError(b, release.All(columns)) }()
			call, err := op.Begin(context.Background(), kernels.Options{Manager: mgr}, columns...)
			require.NoError(b, err)
			timed(b, call.Stream, bytes, func() {
				results, err := Run(call, p, columns, memory.Slice[int64]{}, benchmarkRows)
				if err != nil {
					b.Fatal(err)
				}
				require.NoError(b, release.All(results))
			})
		})
	}
}

// BenchmarkVariants varies the rows per lane and, for narrow columns, the groups per lane
// of packed kernels.
func BenchmarkVariants(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	for _, s := range subjects() {
		variant := func(name string, write func(*Generator) (*elementwise, error)) {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				mgr := devicetest.Manager(b, dev, memory.Options{})
				p, columns, bytes := s.program(b, mgr)
				defer func() { require.NoError(b, release.All(columns)) }()
				benchmarkVariant(b, mgr, p, columns, bytes, write)
			})
		}
		for _, rows := range []int{1, 2, 4, 8, 16} {
			variant(fmt.Sprint("rows=", rows), func(g *Generator) (*elementwise, error) { return newElementwise(g, rows) })
		}
		for groups := 1; kindOf(s.of).packs() && groups <= mostGroups; groups *= 2 {
			variant(fmt.Sprint("packed=", groups), func(g *Generator) (*elementwise, error) { return newPacked(g, groups) })
		}
	}
}

func benchmarkVariant(b *testing.B, mgr *memory.Manager, p *exprtree.Program, columns []*column.Column, bytes uint64, write func(*Generator) (*elementwise, error)) {
	shape, err := ShapeOf(p, columns)
	require.NoError(b, err)
	g, err := New(p, shape, "arguments")
	require.NoError(b, err)
	k, err := write(g)
	require.NoError(b, err)
	call, err := op.Begin(context.Background(), kernels.Options{Manager: mgr}, columns...)
	require.NoError(b, err)
	r := &runner{elementwise: k}
	r.function, err = kernelset.Load(mgr.Device(), k.text, KernelName)
	require.NoError(b, err)
	grid := kernels.GridFor(benchmarkRows, threads*k.rows)
	var outputs, arguments kernels.Words
	require.NoError(b, g.Arguments(&arguments, p, columns))
	for range k.outputWords() {
		out, err := memory.NewSlice[uint8](mgr, benchmarkRows*8, memory.AllocateOptions{})
		require.NoError(b, err)
		defer out.Release()
		outputs.AddAddress(out.Pointer(), out.Block())
	}
	b.ReportMetric(float64(r.function.Attributes().Registers), "registers")
	timed(b, call.Stream, bytes, func() {
		err := r.function.Launch(call.Stream, grid, device.Dim3{X: threads}, 0, memory.Slice[int64]{}, uint64(benchmarkRows), &outputs, &arguments)
		if err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkCopy measures the device's copy rate, in bytes read and written.
func BenchmarkCopy(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	mgr := devicetest.Manager(b, dev, memory.Options{})
	from, to := varied(b, mgr, 1<<30), varied(b, mgr, 1<<30)
	defer from.Release()
	defer to.Release()
	timed(b, mgr.Stream(), 2<<30, func() {
		if err := to.CopyFrom(nil, from); err != nil {
			b.Fatal(err)
		}
	})
}
