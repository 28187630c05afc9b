package selection_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// TestEveryAllocationFails makes each allocation of the operators fail, one per run. No
// memory may stay allocated, which the manager checks at the end.
func TestEveryAllocationFails(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		resource, err := memory.NewCachingResource(dev, memory.CachingOptions{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, resource.Close()) })
		fault := adaptor.NewFault(resource, adaptor.FaultOptions{})
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
		g := arraytest.NewGenerator(5)
		nested := arrow.ListOf(arrow.StructOf(arrow.Field{Name: "texts", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
			arrow.Field{Name: "pair", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), Nullable: true}))
		encoded := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)
		code := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
		var columns, others []*column.Column
		for _, of := range []arrow.DataType{nested, encoded, code, arrow.FixedWidthTypes.Boolean} {
			for _, into := range []*[]*column.Column{&columns, &others} {
				values := g.Array(of, 30)
				defer values.Release()
				*into = append(*into, upload(t, mgr, values, 0, 0))
			}
		}
		mask := columns[3]
		table := tableOf(t, mgr, 20, true, columns...)
		known, other := tableOf(t, mgr, 30, false, columns...), tableOf(t, mgr, 30, false, others...)
		indices := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int8, []int{3, -1, 4, 4}), 0, 0)

		for name, run := range map[string]func(ctx context.Context) (interface{ Release() error }, error){
			"take": func(ctx context.Context) (interface{ Release() error }, error) {
				return selection.Take(ctx, table, indices)
			},
			"reverse": func(ctx context.Context) (interface{ Release() error }, error) { return selection.Reverse(ctx, table) },
			"head":    func(ctx context.Context) (interface{ Release() error }, error) { return selection.Head(ctx, table, 5) },
			"tail":    func(ctx context.Context) (interface{ Release() error }, error) { return selection.Tail(ctx, table, 5) },
			"concatenate": func(ctx context.Context) (interface{ Release() error }, error) {
				return selection.Concat(ctx, []*buffer.Buffer{known, other})
			},
			"choose": func(ctx context.Context) (interface{ Release() error }, error) {
				return selection.Choose(ctx, mask, columns[0], others[0])
			},
			"choose bits": func(ctx context.Context) (interface{ Release() error }, error) {
				return selection.Choose(ctx, mask, columns[3], others[3])
			},
		} {
			t.Run(name, func(t *testing.T) {
				fault.Arm(adaptor.FaultOptions{})
				made, err := run(t.Context())
				require.NoError(t, err)
				require.NoError(t, made.Release())
				requests := fault.Requests().Seen
				require.Positive(t, requests)
				for nth := range requests {
					fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth + 1}})
					_, err := run(t.Context())
					require.ErrorIs(t, err, adaptor.ErrInjected, "request %d of %d", nth+1, requests)
					require.ErrorContains(t, err, "selection: ")
				}
				fault.Arm(adaptor.FaultOptions{})
			})
		}
	})
}

// TestEveryFreeFails makes each free of the operators fail, one per run. A failure releases the result.
func TestEveryFreeFails(t *testing.T) {
	dev := devicetest.Open(t, "host")
	fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault})
	values := arraytest.NewGenerator(5).Array(arrow.ListOf(arrow.BinaryTypes.String), 30)
	defer values.Release()
	c := upload(t, mgr, values, 0, 0)
	bits := arraytest.NewGenerator(6).Array(arrow.FixedWidthTypes.Boolean, 30)
	defer bits.Release()
	mask := upload(t, mgr, bits, 0, 0)
	table, known := tableOf(t, mgr, 20, true, c), tableOf(t, mgr, 30, false, c)
	indices := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int8, []int{3, -1, 4, 4}), 0, 0)
	before := mgr.Stats().InUse
	for name, run := range map[string]func() (*buffer.Buffer, error){
		"take":        func() (*buffer.Buffer, error) { return selection.Take(t.Context(), table, indices) },
		"filter":      func() (*buffer.Buffer, error) { return selection.FilterMask(t.Context(), known, mask) },
		"head":        func() (*buffer.Buffer, error) { return selection.Head(t.Context(), table, 5) },
		"tail":        func() (*buffer.Buffer, error) { return selection.Tail(t.Context(), table, 5) },
		"concatenate": func() (*buffer.Buffer, error) { return selection.Concat(t.Context(), []*buffer.Buffer{known, known}) },
	} {
		failed := 0
		for nth := uint64(1); ; nth++ {
			fault.Arm(adaptor.FaultOptions{Free: adaptor.FaultRule{Nth: nth}})
			made, err := run()
			if err == nil {
				err = made.Release()
			}
			fault.Arm(adaptor.FaultOptions{})
			require.Equal(t, before, mgr.Stats().InUse, "%s, free %d", name, nth)
			if err == nil {
				break
			}
			failed++
			require.ErrorIs(t, err, adaptor.ErrInjected)
		}
		require.Positive(t, failed, name)
	}
}

func TestEndedContext(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(5)
		values := g.Array(arrow.BinaryTypes.String, 30)
		defer values.Release()
		c := upload(t, mgr, values, 0, 0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := selection.TakeColumn(ctx, c, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, []int{1, 2}), 0, 0))
		require.ErrorIs(t, err, context.Canceled)
		_, err = selection.ConcatColumns(ctx, []*column.Column{c, c})
		require.ErrorIs(t, err, context.Canceled)
	})
}
