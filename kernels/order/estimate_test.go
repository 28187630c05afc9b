package order_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
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
