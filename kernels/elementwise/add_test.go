package elementwise_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/elementwise"
	"github.com/gpuframe/gpuframe/memory"
)

func TestAddMatchesModel(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		t.Run("float32", func(t *testing.T) { testAdd(t, dev, rapid.Float32()) })
		t.Run("float64", func(t *testing.T) { testAdd(t, dev, rapid.Float64()) })
		t.Run("int64", func(t *testing.T) { testAdd(t, dev, rapid.Int64()) })
	})
}

func testAdd[T elementwise.Number](t *testing.T, dev *device.Device, values *rapid.Generator[T]) {
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const most = 600
	whole, err := memory.NewSlice[T](mgr, 3*most, memory.AllocateOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, whole.Release()) }()
	ctx := t.Context()
	property.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 500).Draw(r, "n")
		// Addresses that are and are not aligned for vector loads.
		view := func(i int) memory.Slice[T] {
			begin := i*most + rapid.IntRange(0, 5).Draw(r, "begin")
			s, err := whole.Slice(begin, begin+n)
			require.NoError(r, err)
			return s
		}
		a, b := view(0), view(1)
		out := view(2)
		switch rapid.IntRange(0, 2).Draw(r, "output") {
		case 1:
			out = a
		case 2:
			out = b
		}
		left := rapid.SliceOfN(values, n, n).Draw(r, "a")
		right := rapid.SliceOfN(values, n, n).Draw(r, "b")
		require.NoError(r, a.Upload(ctx, nil, left))
		require.NoError(r, b.Upload(ctx, nil, right))

		require.NoError(r, elementwise.Add(ctx, nil, out, a, b))

		got := make([]T, n)
		require.NoError(r, out.Download(ctx, nil, got))
		for i := range got {
			want := left[i] + right[i]
			if want != want { // NaN, which is not equal to itself
				require.True(r, got[i] != got[i], "element %d is %v", i, got[i])
				continue
			}
			require.Equal(r, want, got[i], "element %d: %v + %v", i, left[i], right[i])
		}
	})
}

// TestAddLong runs the kernel's loop several times.
func TestAddLong(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := 1 << 14
		if dev.Kind() == device.CUDA {
			n = 1 << 23
		}
		n += 3
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(i)
		}
		a := upload(t, mgr, values)
		require.NoError(t, elementwise.Add(t.Context(), nil, a, a, a))
		got := make([]float64, n)
		require.NoError(t, a.Download(t.Context(), nil, got))
		for i := range got {
			if got[i] != 2*float64(i) {
				t.Fatalf("element %d is %v", i, got[i])
			}
		}
	})
}

func upload[T memory.Element](t *testing.T, mgr *memory.Manager, values []T) memory.Slice[T] {
	t.Helper()
	s, err := memory.NewSlice[T](mgr, len(values), memory.AllocateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Release()) })
	require.NoError(t, s.Upload(context.Background(), nil, values))
	return s
}

func TestAddRefusals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		two := upload(t, mgr, []int64{1, 2})
		three := upload(t, mgr, []int64{1, 2, 3})
		released, err := memory.NewSlice[int64](mgr, 2, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, released.Release())
		ctx := t.Context()

		err = elementwise.Add(ctx, nil, two, two, three)
		require.ErrorIs(t, err, memory.ErrRange)
		assert.ErrorContains(t, err, "elementwise: add: 2 and 3 elements into 2")
		require.ErrorIs(t, elementwise.Add(ctx, nil, three, two, three), memory.ErrRange)
		require.ErrorIs(t, elementwise.Add(ctx, nil, two, two, released), memory.ErrReleased)
		require.ErrorIs(t, elementwise.Add(ctx, nil, released, two, two), memory.ErrReleased)

		stream, err := dev.NewStream()
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		require.ErrorIs(t, elementwise.Add(ctx, stream, two, two, two), device.ErrClosed)

		var none memory.Slice[int64]
		require.NoError(t, elementwise.Add(ctx, nil, none, none, none))
	})
}

// TestAddLaunch checks the driver calls.
func TestAddLaunch(t *testing.T) {
	kernel := launchtest.Kernel{Parameters: []int{8, 8, 8, 8}}
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"add_f32": kernel, "add_f64": kernel, "add_i64": kernel}}
	dev := launchtest.Open(t, gpu)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const n = 5000
	a, b := upload(t, mgr, make([]float32, n)), upload(t, mgr, make([]float32, n))
	long := upload(t, mgr, make([]int64, 1<<20))
	require.NoError(t, elementwise.Add(t.Context(), nil, a, a, b))
	require.NoError(t, elementwise.Add(t.Context(), nil, long, long, long))

	launches := gpu.Launches()
	require.Len(t, launches, 2)
	first := launches[0]
	assert.Equal(t, "add_f32", first.Name)
	assert.Equal(t, device.Dim3{X: 5}, first.Config.Grid, "1,250 threads of four elements each")
	assert.Equal(t, device.Dim3{X: 256}, first.Config.Block)
	assert.Equal(t, mgr.Stream().Handle(), first.Config.Stream)
	assert.Equal(t, []uint64{uint64(a.Pointer()), uint64(a.Pointer()), uint64(b.Pointer()), n}, first.Slots)
	assert.Equal(t, "add_i64", launches[1].Name)
	assert.Equal(t, device.Dim3{X: 8 * launchtest.Multiprocessors}, launches[1].Config.Grid, "no more than are resident")
}

func BenchmarkAdd(b *testing.B) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			dev := devicetest.Open(b, name)
			mgr := devicetest.Manager(b, dev, memory.Options{})
			n := 1 << 20
			if dev.Kind() == device.CUDA {
				n = 1 << 27
			}
			var slices [3]memory.Slice[float32]
			for i := range slices {
				var err error
				slices[i], err = memory.NewSlice[float32](mgr, n, memory.AllocateOptions{})
				require.NoError(b, err)
				defer slices[i].Release()
				require.NoError(b, slices[i].Fill(nil, math.Pi))
			}
			ctx := context.Background()
			require.NoError(b, mgr.Stream().Synchronize(ctx))
			// Several calls per round make the final wait negligible.
			const each = 8
			b.SetBytes(int64(3 * slices[0].Bytes() * each))
			for b.Loop() {
				for range each {
					if err := elementwise.Add(ctx, nil, slices[2], slices[0], slices[1]); err != nil {
						b.Fatal(err)
					}
				}
				require.NoError(b, mgr.Stream().Synchronize(ctx))
			}
		})
	}
}

func ExampleAdd() {
	ctx := context.Background()
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	prices, _ := memory.NewSlice[float64](mgr, 3, memory.AllocateOptions{Tag: "prices"})
	defer prices.Release()
	taxes, _ := memory.NewSlice[float64](mgr, 3, memory.AllocateOptions{Tag: "taxes"})
	defer taxes.Release()
	fmt.Println(prices.Upload(ctx, nil, []float64{10, 20, 30}))
	fmt.Println(taxes.Upload(ctx, nil, []float64{1, 2, 3}))

	fmt.Println(elementwise.Add(ctx, nil, prices, prices, taxes))
	values := make([]float64, 3)
	fmt.Println(prices.Download(ctx, nil, values), values)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// <nil> [11 22 33]
}
