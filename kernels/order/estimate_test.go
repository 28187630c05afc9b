package order_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// TestTopKEstimate compares estimates with the memory that calls use.
func TestTopKEstimate(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, rows := range []int{0, 33, order.MaxTop, 20_000} {
			for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64} {
				whole := columntest.Upload(t, mgr, columntest.Samples(t, of, rows)[0].Array)
				for _, c := range []*column.Column{whole, columntest.WithRows(t, mgr, whole, int64(rows/2))} {
					for _, k := range []int{0, 1, 1000} {
						if c != whole && dev.Kind() == device.Host && k > rows/2 {
							continue // the host makes no more rows than there are
						}
						columntest.CheckEstimate(t, mgr, fmt.Sprintf("%v, %d rows, first %d", of, rows, k), func(o kernels.Options) (*order.Top, error) {
							return order.TopKColumn(t.Context(), c, k, order.TopOptions{Options: o})
						})
					}
				}
			}
		}
	})
}

// answered is the result of an operator that keeps no memory.
type answered struct{}

func (answered) Release() error { return nil }

// TestBoundsOfEstimates compares estimates of operators with several phases with the memory
// that calls use, which may be less.
func TestBoundsOfEstimates(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(11)
		for number, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Int32}, {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32}, {arrow.PrimitiveTypes.Int64},
		} {
			g.Nulls = arraytest.Nulls(number % 2)
			sizes := []int{0, 1, 3000}
			if hurried(dev) {
				sizes = []int{1, 500}[number%2:]
			}
			for _, n := range sizes {
				c := newCase(g, n, types...)
				table, keys := c.table(t, mgr), c.keys()[:1]
				name := fmt.Sprint(types, n)
				sorted, err := order.Sort(t.Context(), table, keys)
				require.NoError(t, err)
				slack := uint64(48*n + 4096) // of one of the sorts, beside the results
				columntest.CheckBound(t, mgr, name+", is sorted", 0, func(o kernels.Options) (answered, error) {
					_, err := order.IsSorted(t.Context(), table, keys, o)
					return answered{}, err
				})
				for _, k := range []int64{0, 10, 2500} {
					columntest.CheckBound(t, mgr, fmt.Sprint(name, ", numbers of the first ", k), slack, func(o kernels.Options) (*column.Column, error) {
						return order.TopIndices(t.Context(), table, k, keys, o)
					})
					if number > 0 || n == 0 || dev.Kind() != device.Host { // a column has four bytes for each row
						columntest.CheckBound(t, mgr, fmt.Sprint(name, ", the first ", k), slack, func(o kernels.Options) (*buffer.Buffer, error) {
							return order.TopK(t.Context(), table, k, keys, o)
						})
					}
				}
				few, err := sorted.Slice(0, int64(min(n, 5)))
				require.NoError(t, err)
				columntest.CheckBound(t, mgr, name+", partition", slack, func(o kernels.Options) (*order.Partitions, error) {
					return order.Partition(t.Context(), table, few, keys, o)
				})
				for _, unchecked := range []bool{false, true} {
					columntest.CheckBound(t, mgr, fmt.Sprint(name, ", merge, unchecked ", unchecked), 2*slack, func(o kernels.Options) (*buffer.Buffer, error) {
						return order.Merge(t.Context(), []*buffer.Buffer{sorted, few, sorted}, keys, order.MergeOptions{Options: o, Unchecked: unchecked})
					})
				}
				for _, made := range []interface{ Release() error }{few, sorted, table} {
					require.NoError(t, made.Release())
				}
				c.release()
			}
		}
	})
}

// TestMergeEstimatesOfFewRows requires that a merge of tables of few rows, which one block could sort each alone, is
// estimated with the memory of all rows, or not at all.
func TestMergeEstimatesOfFewRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		integer, text := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
		for _, types := range [][]arrow.DataType{{integer, integer}, {text}, {text, integer}, {&arrow.Decimal128Type{Precision: 38}}} {
			for _, n := range []int{1, 100, 1024, 1025} {
				c := newCase(arraytest.NewGenerator(uint64(n)), n, types...)
				table := c.table(t, mgr)
				merge := func(o kernels.Options) (*buffer.Buffer, error) {
					return order.Merge(t.Context(), []*buffer.Buffer{table, table}, c.keys(), order.MergeOptions{Options: o, Unchecked: true})
				}
				if _, err := kernels.EstimateOf(merge); dev.Kind() != device.Host && 2*n > 2048 {
					require.ErrorIs(t, err, device.ErrNotSupported, "%v, %d rows", types, n)
				} else {
					columntest.CheckBound(t, mgr, fmt.Sprint(types, ", rows ", n), uint64(96*n+8192), merge)
				}
				require.NoError(t, table.Release())
				c.release()
			}
		}
	})
}
