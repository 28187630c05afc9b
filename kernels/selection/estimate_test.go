package selection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

type result interface{ Release() error }

// estimated is an operator of which the result may be a table or a column.
type estimated func(o kernels.Options) (result, error)

func table(made *buffer.Buffer, err error) (result, error)  { return made, err }
func values(made *column.Column, err error) (result, error) { return made, err }

// TestEstimates compares estimates with what a resource allocates: no operator allocates
// more, and those on values of a fixed width allocate what they estimate.
func TestEstimates(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		statistics := adaptor.NewStatistics(memory.NewDriverResource(dev))
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: statistics})
		for number, of := range arraytest.AllTypes() {
			t.Run(fmt.Sprint(of), func(t *testing.T) {
				for _, rows := range []int{0, 33, 3000}[:rounds(2, 3)] {
					g := arraytest.NewGenerator(uint64(number))
					_, a := slice(t, mgr, g, of, rows)
					_, b := slice(t, mgr, g, of, rows)
					g.Nulls = arraytest.NoneNull
					_, mask := slice(t, mgr, g, arrow.FixedWidthTypes.Boolean, rows)
					order := numbersOf[uint32](t, mgr, g.Perm(rows), false)
					few := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int8, make([]int, min(rows, 5))), 0, 0)
					known := tableOf(t, mgr, int64(rows), false, a, mask)
					counted := tableOf(t, mgr, int64(rows), true, a, mask)
					ctx := t.Context()
					for name, run := range map[string]estimated{
						"take": func(o kernels.Options) (result, error) {
							return table(selection.TakeWith(ctx, known, order, selection.TakeOptions{Options: o, Distinct: true}))
						},
						"take few": func(o kernels.Options) (result, error) {
							return values(selection.TakeColumnWith(ctx, a, few, selection.TakeOptions{Options: o, Bounds: selection.Trust}))
						},
						"filter": func(o kernels.Options) (result, error) {
							return table(selection.Filter(ctx, known, expr.Col("b"), o))
						},
						"filter mask": func(o kernels.Options) (result, error) {
							return table(selection.FilterMask(ctx, counted, mask, o))
						},
						"reverse": func(o kernels.Options) (result, error) { return table(selection.Reverse(ctx, known, o)) },
						"reverse counted": func(o kernels.Options) (result, error) {
							return table(selection.Reverse(ctx, counted, o))
						},
						"head": func(o kernels.Options) (result, error) { return table(selection.Head(ctx, counted, 7, o)) },
						"tail": func(o kernels.Options) (result, error) { return table(selection.Tail(ctx, counted, 7, o)) },
						"concatenate": func(o kernels.Options) (result, error) {
							return values(selection.ConcatColumns(ctx, []*column.Column{a, b}, o))
						},
						"compact": func(o kernels.Options) (result, error) { return table(selection.Compact(ctx, counted, o)) },
						"choose":  func(o kernels.Options) (result, error) { return values(selection.Choose(ctx, mask, a, b, o)) },
					} {
						compareEstimate(t, mgr, statistics, name, of, run)
					}
				}
			})
		}
	})
}

func compareEstimate(t *testing.T, mgr *memory.Manager, statistics *adaptor.Statistics, name string, of arrow.DataType, run estimated) {
	t.Helper()
	statistics.Push()
	estimate, err := kernels.EstimateOf(func(o kernels.Options) (result, error) {
		o.Manager = mgr
		return run(o)
	})
	require.Zero(t, statistics.Figures().Allocations.Total, "%s: an estimate allocates nothing", name)
	if err != nil {
		require.ErrorIs(t, err, device.ErrNotSupported, name)
		require.True(t, name == "take few" && !isFixed(of) || strings.Contains(of.String(), "run_end_encoded"), "%s: %v", name, err)
		_, err = statistics.Pop()
		require.NoError(t, err)
		return
	}
	made, err := run(kernels.Options{Manager: mgr})
	require.NoError(t, err, name)
	require.NoError(t, mgr.Device().Synchronize(t.Context()))
	figures, err := statistics.Pop()
	require.NoError(t, err)
	require.GreaterOrEqual(t, estimate.Peak(), uint64(figures.Bytes.Peak), "%s: result and scratch", name)
	require.GreaterOrEqual(t, estimate.Result, uint64(figures.Bytes.Current), "%s: result", name)
	if isFixed(of) && name == "take" {
		require.EqualValues(t, figures.Bytes.Current, estimate.Result, "%s: result", name)
	}
	require.NoError(t, made.Release())
}

func isFixed(of arrow.DataType) bool {
	_, fixed := of.(arrow.FixedWidthDataType)
	return fixed
}
