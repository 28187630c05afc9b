package codegen

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// small makes the fused expression on 1,000 rows, on a device that only records calls.
func small(tb testing.TB, gpu *launchtest.GPU) (op.Call, *exprtree.Program, []*column.Column) {
	tb.Helper()
	gpu.Kernels = map[string]launchtest.Kernel{KernelName: {}}
	// Not devicetest's manager, which records the stack of each allocation.
	mgr, err := memory.NewManager(launchtest.Open(tb, gpu), memory.Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, mgr.Close()) })
	f32 := arrow.PrimitiveTypes.Float32
	var columns []*column.Column
	for range 2 {
		values, err := memory.NewSlice[uint8](mgr, 4000, memory.AllocateOptions{})
		require.NoError(tb, err)
		c, err := column.New(column.Data{Type: f32, Length: 1000, Buffers: []column.Bytes{{}, values}})
		require.NoError(tb, err)
		require.NoError(tb, values.Release())
		columns = append(columns, c)
	}
	tb.Cleanup(func() { require.NoError(tb, release.All(columns)) })
	p := exprtree.NewProgram([]int{0, 1}, []arrow.DataType{f32, f32}, []*exprtree.Node{subjects()[0].output(f32)})
	call, err := op.Begin(context.Background(), kernels.Options{Manager: mgr}, columns...)
	require.NoError(tb, err)
	return call, p, columns
}

// TestLaunch checks the driver calls: one launch, with one row per lane for few rows.
func TestLaunch(t *testing.T) {
	gpu := &launchtest.GPU{}
	call, p, columns := small(t, gpu)
	results, err := Run(call, p, columns, memory.Slice[int64]{}, 1000)
	require.NoError(t, err)
	launches := gpu.Launches()
	require.Len(t, launches, 1)
	require.Equal(t, device.Dim3{X: 4}, launches[0].Config.Grid)
	require.Equal(t, device.Dim3{X: threads}, launches[0].Config.Block)
	require.Equal(t, []uint64{0, 1000, uint64(results[0].Buffer(1).Pointer()),
		uint64(columns[0].Pointer()), uint64(columns[1].Pointer())}, launches[0].Slots[:5])
	require.Zero(t, results[0].NullCount())
	require.Zero(t, results[0].Buffer(0).Len())
	require.NoError(t, release.All(results))
}

// BenchmarkCall measures the host's part of Run, and of a plain launch.
func BenchmarkCall(b *testing.B) {
	call, p, columns := small(b, &launchtest.GPU{Discard: true})
	b.Run("run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			results, err := Run(call, p, columns, memory.Slice[int64]{}, 1000)
			if err != nil {
				b.Fatal(err)
			}
			if err := release.All(results); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("allocate", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			block, _, err := call.Allocate(128)
			if err != nil {
				b.Fatal(err)
			}
			if err := block.Release(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("launch", func(b *testing.B) {
		r, err := runnerOf(call, p, columns, true)
		require.NoError(b, err)
		var words kernels.Words
		words.AddAddress(columns[0].Pointer(), columns[0].Block())
		b.ReportAllocs()
		for b.Loop() {
			if err := r.function.Launch(call.Stream, device.Dim3{X: 4}, device.Dim3{X: threads}, 0, &words, uint64(1000)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			if _, err := runnerOf(call, p, columns, true); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWrite measures writing a kernel, and parsing the library, which is done
// once.
func BenchmarkWrite(b *testing.B) {
	f32 := arrow.PrimitiveTypes.Float32
	p := exprtree.NewProgram([]int{0, 1}, []arrow.DataType{f32, f32}, []*exprtree.Node{subjects()[0].output(f32)})
	b.Run("fused", func(b *testing.B) {
		for b.Loop() {
			g, err := New(p, AllNullable(p), "arguments")
			require.NoError(b, err)
			_, err = newElementwise(g, rowsOfLane(g))
			require.NoError(b, err)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			cut(libraryText)
		}
	})
}
