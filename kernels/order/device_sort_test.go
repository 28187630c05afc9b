package order_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// onKernels runs a test with a manager of the emulator, and of each GPU. Its memory is
// filled with a pattern before and after use.
func onKernels(t *testing.T, f func(t *testing.T, mgr *memory.Manager)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		if dev.Kind() == device.Host {
			t.Skip("the host has no kernels")
		}
		f(t, devicetest.Manager(t, dev, memory.Options{Resource: adaptor.NewPoison(memory.NewDriverResource(dev), adaptor.PoisonOptions{})}))
	})
}

// TestKernelsSortEveryType sorts by one key of every type on GPUs.
func TestKernelsSortEveryType(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		for number, of := range ordertest.Types() {
			g := arraytest.NewGenerator(uint64(number))
			for _, n := range []int{0, 1, 2, 30, 400} {
				for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
					g.Nulls, g.Sliced = nulls, g.IntN(2) == 0
					c := newCase(g, n, of)
					c.checkSort(t, mgr, fmt.Sprintf("%v, %d rows, nulls %v, %+v", of, n, nulls, c.directions))
					c.release()
				}
			}
		}
	})
}

// TestKernelsSortMixes sorts by several keys of any types on GPUs.
func TestKernelsSortMixes(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		rapid.Check(t, func(t *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(t, "seed"))
			g.Sliced = rapid.Bool().Draw(t, "sliced")
			g.Nulls = arraytest.Nulls(rapid.IntRange(0, 1).Draw(t, "nulls"))
			types := rapid.SliceOfN(rapid.SampledFrom(ordertest.Types()), 1, 4).Draw(t, "types")
			c := newCase(g, rapid.IntRange(0, 300).Draw(t, "rows"), types...)
			c.checkSort(t, mgr, "mix")
			c.release()
		})
	})
}

// TestKernelsSortTiles sorts more rows than a tile has.
func TestKernelsSortTiles(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		for number, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Int32}, {arrow.PrimitiveTypes.Float64}, {arrow.BinaryTypes.String},
			{arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64},
		} {
			g := arraytest.NewGenerator(uint64(number))
			c := newCase(g, 9001, types...)
			c.checkSort(t, mgr, fmt.Sprint(types))
			c.release()
		}
	})
}
