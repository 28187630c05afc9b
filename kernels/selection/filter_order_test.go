package selection_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// TestFilterWaits blocks the stream. On the host a filter waits for the stream until
// the context ends; on a GPU it does not wait.
func TestFilterWaits(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		gates := stall.New(t, dev)
		for _, n := range []int{500, 9000} {
			p := newPeople(rand.New(rand.NewPCG(3, 1)), n)
			var columns []*column.Column
			for _, a := range p.arrays(t) {
				columns = append(columns, upload(t, mgr, a, 0, 0))
			}
			table := tableOf(t, mgr, int64(n), false, columns...)
			filters := []func(ctx context.Context) (*buffer.Buffer, error){
				func(ctx context.Context) (*buffer.Buffer, error) { return selection.FilterMask(ctx, table, columns[3]) },
				func(ctx context.Context) (*buffer.Buffer, error) { return selection.Filter(ctx, table, expr.Col("d")) },
			}
			rows := int64(0)
			for i := range n {
				if p.valid[i] && p.flag[i] {
					rows++
				}
			}
			for _, filter := range filters {
				made, err := filter(t.Context()) // loads code and allocates memory
				require.NoError(t, err)
				require.NoError(t, made.Release())

				held := gates.Hold(mgr.Stream())
				ctx, cancel := context.WithCancel(t.Context())
				if dev.Kind() == device.Host {
					cancel()
					made, err = filter(ctx)
					require.ErrorIs(t, err, context.Canceled)
					require.Nil(t, made)
					require.True(t, held.Holding())
					require.NoError(t, held.Finish(t.Context()))
					continue
				}
				made, err = filter(ctx)
				require.NoError(t, err)
				require.True(t, held.Holding(), "the filter has waited")
				cancel()
				require.NoError(t, held.Finish(t.Context()))
				count, err := made.NumRows(t.Context())
				require.NoError(t, err)
				require.Equal(t, rows, count)
				require.NoError(t, made.Release())
			}
		}
	})
}

// TestFilterTogether filters one table from several goroutines, by a predicate that has
// not been compiled before.
func TestFilterTogether(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{900, 8300} {
			p := newPeople(rand.New(rand.NewPCG(3, 2)), n)
			table := tableOf(t, mgr, int64(n), false, upload(t, mgr, p.arrays(t)[2], 0, 0))
			predicate := expr.Col("a").Mul(expr.Lit(7)).Mod(expr.Lit(11)).Lt(expr.Lit(4))
			want := int64(0)
			for _, k := range p.k {
				if k*7%11 < 4 {
					want++
				}
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					made, err := selection.Filter(context.Background(), table, predicate)
					if !assert.NoError(t, err) {
						return
					}
					rows, err := made.NumRows(context.Background())
					assert.NoError(t, err)
					assert.Equal(t, want, rows)
					assert.NoError(t, made.Release())
				})
			}
			all.Wait()
		}
	})
}

// TestFilterManyTiles has enough tiles that the look-back takes all its steps.
func TestFilterManyTiles(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		n := 9_000_001 // 2,198 tiles, 1,024 per span
		if devicetest.Emulated(dev) || dev.Kind() == device.Host && testing.Short() {
			n = 34*4096 + 5 // 35 tiles, 32 per group
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		builder := array.NewInt32Builder(arrowmemory.DefaultAllocator)
		defer builder.Release()
		var want []int32
		r := rand.New(rand.NewPCG(6, 1))
		for range n {
			v := int32(r.Uint32())
			builder.Append(v)
			if v > 0 {
				want = append(want, v)
			}
		}
		values := builder.NewArray()
		defer values.Release()
		bytes := array.NewData(arrow.PrimitiveTypes.Int8, n, []*arrowmemory.Buffer{nil, values.Data().Buffers()[1]}, nil, 0, 0)
		defer bytes.Release()
		low := array.MakeFromData(bytes)
		defer low.Release()
		table := tableOf(t, mgr, int64(n), false, upload(t, mgr, values, 0, 0), upload(t, mgr, low, 0, 0))
		made, err := selection.Filter(t.Context(), table, expr.Col("a").Gt(expr.Lit(0)))
		require.NoError(t, err)
		record := records(t, made)
		got := record.Column(0).(*array.Int32).Int32Values()
		require.Len(t, got, len(want))
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("row %d is %d instead of %d", i, got[i], want[i])
			}
		}
		kept, at := record.Column(1).(*array.Int8), 0
		all := values.(*array.Int32)
		for i := range n {
			if all.Value(i) <= 0 {
				continue
			}
			if kept.Value(at) != low.(*array.Int8).Value(i) {
				t.Fatalf("the byte of row %d is %d", at, kept.Value(at))
			}
			at++
		}
	})
}
