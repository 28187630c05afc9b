package window_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// TestLaunch checks the driver calls.
func TestLaunch(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"sum_64": {}, "least_f32": {}, "fill_16": {}}}
	mgr := devicetest.Manager(t, launchtest.Open(t, gpu), memory.Options{})
	run := func(run operation, of arrow.DataType, n int, options window.Options) launchtest.Launch {
		g := arraytest.NewGenerator(1)
		a := g.Array(of, n)
		defer a.Release()
		result, err := run(t.Context(), upload(t, mgr, a), options)
		require.NoError(t, err)
		require.NoError(t, result.Release())
		launches := gpu.Launches()
		return launches[len(launches)-1]
	}
	few := run(window.CumulativeSum, arrow.PrimitiveTypes.Int64, 7168, window.Options{})
	assert.Equal(t, "sum_64", few.Name)
	assert.Equal(t, device.Dim3{X: 1}, few.Config.Grid, "two tiles take one block")
	assert.Zero(t, few.Uint64(7), "and no state")
	assert.Equal(t, uint64(1), few.Uint64(9), "nulls to the end")
	more := run(window.CumulativeSum, arrow.PrimitiveTypes.Int64, 7169, window.Options{SkipNulls: true})
	assert.Equal(t, device.Dim3{X: 4}, more.Config.Grid, "one for each tile and one that tells them what lies before")
	assert.NotZero(t, more.Uint64(7))
	assert.Zero(t, more.Uint64(9))
	most := run(window.CumulativeMax, arrow.PrimitiveTypes.Float32, 1<<20+1<<23, window.Options{})
	assert.Equal(t, "least_f32", most.Name)
	assert.Equal(t, device.Dim3{X: 4 * launchtest.Multiprocessors}, most.Config.Grid, "no more than are resident")
	assert.Equal(t, ^uint64(0), most.Uint64(8))
	fill := run(window.FillBackward, arrow.FixedWidthTypes.Float16, 20_000, window.Options{})
	assert.Equal(t, "fill_16", fill.Name)
	assert.Equal(t, device.Dim3{X: 3}, fill.Config.Grid)
	assert.Equal(t, uint64(1), fill.Uint64(8), "backward")
}

// operations returns an operation with state and one without.
func operations() []faulttest.Operation {
	var all []faulttest.Operation
	for _, rows := range []int{100, 50_000} {
		for _, of := range []struct {
			name, says string
			run        operation
		}{{"sum", "window: cumulative sum", window.CumulativeSum}, {"fill", "window: fill forward", window.FillForward}} {
			all = append(all, faulttest.Operation{
				Name: fmt.Sprintf("%s of %d", of.name, rows), Says: of.says, Waits: true,
				Kernels: map[string]launchtest.Kernel{"sum_64": {}, "fill_64": {}},
				Prepare: columntest.OnColumn(arrow.PrimitiveTypes.Int64, rows, 0, func(ctx context.Context, c *column.Column) (*column.Column, error) {
					return of.run(ctx, c)
				}),
			})
		}
	}
	return all
}

func TestEachCall(t *testing.T)     { faulttest.EachCall(t, operations()...) }
func TestEachCallLost(t *testing.T) { faulttest.EachCallLost(t, operations()...) }

// TestLong compares a long column with the host's result; floats must be equal in every
// bit.
func TestLong(t *testing.T) {
	dev := devicetest.Open(t, "cuda:0")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	g := arraytest.NewGenerator(3)
	for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int8, decimalType} {
		for _, sliced := range []bool{false, true} {
			g.Sliced = sliced
			in := g.Array(of, 10_000_019)
			for name, run := range map[string]operation{"sum": window.CumulativeSum, "min": window.CumulativeMin, "max": window.CumulativeMax, "forward": window.FillForward, "backward": window.FillBackward} {
				got, want := onDevice(t, mgr, run, in, window.Options{SkipNulls: true}), onDevice(t, host, run, in, window.Options{SkipNulls: true})
				for row := range in.Len() {
					if got.IsNull(row) != want.IsNull(row) || want.IsValid(row) && !sameValue(got, row, want, row) {
						t.Fatalf("%s of %v, row %d: %v, on the host %v", name, of, row, got.ValueStr(row), want.ValueStr(row))
					}
				}
			}
			in.Release()
		}
	}
}

func Example() {
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
	b := array.NewInt64Builder(arrowmemory)
	defer b.Release()
	b.AppendValues([]int64{5, 0, 7, 1}, []bool{true, false, true, true})
	amounts := b.NewArray()
	defer amounts.Release()
	c, err := column.FromArray(ctx, mgr, amounts, column.UploadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Release()

	totals, err := window.CumulativeSum(ctx, c, window.Options{SkipNulls: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer totals.Release()
	filled, err := window.FillForward(ctx, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer filled.Release()
	for _, c := range []*column.Column{totals, filled} {
		a, err := c.Array(ctx)
		fmt.Println(a, err)
	}
	// Output:
	// [5 (null) 12 13] <nil>
	// [5 5 7 1] <nil>
}
