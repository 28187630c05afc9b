package codegen_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// sliced uploads an array with additional values before it, and slices those off.
func sliced(r *rapid.T, mgr *memory.Manager, a arrow.Array) *column.Column {
	offset := rapid.IntRange(0, 40).Draw(r, "offset")
	before := exprtest.NewValues(uint64(offset)).Array(a.DataType(), offset)
	defer before.Release()
	whole, err := column.FromArrays(context.Background(), mgr, [][]arrow.Array{{before, a}}, column.UploadOptions{})
	require.NoError(r, err)
	defer func() { require.NoError(r, whole[0].Release()) }()
	c, err := whole[0].Slice(offset, a.Len())
	require.NoError(r, err)
	return c
}

// TestRandomTrees computes random expressions over random tables of slices, and
// compares with a model in Go.
func TestRandomTrees(t *testing.T) { testRandomTrees(t, exprtest.Options{Exact: true}) }

// TestRandomTreesInChunks has enough rows that warps take chunks.
func TestRandomTreesInChunks(t *testing.T) {
	testRandomTrees(t, exprtest.Options{Exact: true, Rows: []int{4300, 4609}})
}

func testRandomTrees(t *testing.T, options exprtest.Options) {
	eachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		ctx := t.Context()
		property.Check(t, func(r *rapid.T) {
			c := exprtest.Draw(r, options)
			defer c.Release()
			var columns []*column.Column
			for _, a := range c.Inputs() {
				c := sliced(r, mgr, a)
				defer func() { require.NoError(r, c.Release()) }()
				columns = append(columns, c)
			}
			call, err := op.Begin(ctx, kernels.Options{Manager: mgr}, columns...)
			require.NoError(r, err)
			outputs, err := codegen.Run(call, c.Program, columns, memory.Slice[int64]{}, c.Rows)
			for _, n := range c.Program.Outputs {
				if kind := exprtree.KindOf(n.Type); kind == exprtree.String || kind == exprtree.Other {
					require.ErrorIs(r, err, device.ErrNotSupported) // a column itself
					return
				}
			}
			require.NoError(r, err)
			want := exprtest.Model(c.Program, c.Inputs(), c.Rows)
			for i, output := range outputs {
				got, err := output.Array(ctx)
				require.NoError(r, err)
				r.Logf("%s", c.Expressions)
				exprtest.CompareModel(r, want[i], got, 0)
				got.Release()
				require.NoError(r, output.Release())
			}
		})
	})
}
