package lookback_test

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed testdata/lookback.ptx
var code string

// adding sums floats; its none is the identity.
type adding struct{}

func (adding) None() float64             { return math.Copysign(0, -1) }
func (adding) Fold(a, b float64) float64 { return a + b }

// counting sums integers.
type counting[T uint32 | uint64] struct{}

func (counting[T]) None() T       { return 0 }
func (counting[T]) Fold(a, b T) T { return a + b }

// last keeps the last pair that is not zero.
type last struct{}

func (last) None() [2]uint64 { return [2]uint64{} }
func (last) Fold(a, b [2]uint64) [2]uint64 {
	if b != ([2]uint64{}) {
		return b
	}
	return a
}

// TestPrefix compares the host's prefixes with plain loops.
func TestPrefix(t *testing.T) {
	sums, pairs := lookback.NewPrefix(counting[uint64]{}), lookback.NewPrefix(last{})
	var sum uint64
	var pair [2]uint64
	for tile := range uint64(5000) {
		require.Equal(t, sum, sums.Next(tile*tile))
		sum += tile * tile
		next := [2]uint64{}
		if tile%97 == 3 {
			next = [2]uint64{tile, ^tile}
		}
		require.Equal(t, pair, pairs.Next(next), "tile %d", tile)
		pair = last{}.Fold(pair, next)
	}
}

// TestDevice compares the prefixes of a device with the host's, floats bit by bit.
func TestDevice(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		module, err := kernels.LoadCached(dev, code)
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(1, 2))
		counts := []int{1, 2, 31, 32, 33, 100, 1023, 1025, 3100}
		if !devicetest.Emulated(dev) {
			counts = append(counts, 1<<20+5)
		}
		for _, n := range counts {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				check(t, mgr, module, "before_u32", 4, n, counting[uint32]{}, random.Uint32)
				check(t, mgr, module, "before_u64", 8, n, counting[uint64]{}, random.Uint64)
				check(t, mgr, module, "before_f64", 8, n, adding{}, random.NormFloat64)
				check(t, mgr, module, "before_pair", 16, n, last{}, func() [2]uint64 {
					if random.IntN(50) != 0 {
						return [2]uint64{}
					}
					return [2]uint64{random.Uint64(), random.Uint64()}
				})
			})
		}
	})
}

func check[T interface {
	comparable
	memory.Element
}, F lookback.Fold[T]](t *testing.T, mgr *memory.Manager, module *kernels.Module, name string, bytes, n int, fold F, value func() T) {
	function, err := module.Function(name)
	require.NoError(t, err)
	in, err := memory.NewSlice[T](mgr, n, memory.AllocateOptions{})
	require.NoError(t, err)
	defer in.Release()
	out, err := memory.NewSlice[T](mgr, n, memory.AllocateOptions{})
	require.NoError(t, err)
	defer out.Release()
	state, err := memory.NewSlice[uint8](mgr, int(lookback.Bytes(uint64(n), uint64(bytes))), memory.AllocateOptions{})
	require.NoError(t, err)
	defer state.Release()
	values := make([]T, n)
	for i := range values {
		values[i] = value()
	}
	require.NoError(t, in.Upload(t.Context(), nil, values))
	got := make([]T, n)
	for range 2 { // the second time the state must be cleared
		require.NoError(t, state.Fill(nil, 0))
		require.NoError(t, function.Launch(nil, device.Dim3{X: uint32(n)}, device.Dim3{X: 32}, 0, out, in, uint32(n), state))
		require.NoError(t, out.Download(t.Context(), nil, got))
		prefix := lookback.NewPrefix[T](fold)
		for tile, value := range values {
			if want := prefix.Next(value); want != got[tile] {
				t.Fatalf("%s of %d: before tile %d there is %v, not %v", name, n, tile, got[tile], want)
			}
		}
	}
}

func ExampleBytes() {
	fmt.Println(lookback.Bytes(0, 8), lookback.Bytes(1, 4), lookback.Bytes(2048, 8), lookback.Bytes(2049, 16))
	// Output: 128 8832 34944 104576
}

// TestTold compares the host's prefixes in the order of prefixes.cuh with plain loops.
func TestTold(t *testing.T) {
	sums, pairs := lookback.NewTold(counting[uint64]{}), lookback.NewTold(last{})
	var sum uint64
	var pair [2]uint64
	for tile := range uint64(3000) {
		require.Equal(t, sum, sums.Next(tile*tile))
		sum += tile * tile
		next := [2]uint64{}
		if tile%97 == 3 {
			next = [2]uint64{tile, ^tile}
		}
		require.Equal(t, pair, pairs.Next(next), "tile %d", tile)
		pair = last{}.Fold(pair, next)
	}
}
