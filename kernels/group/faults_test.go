package group_test

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// TestEveryAllocationFails fails each allocation, one in each run. Closing the manager
// reports the memory that an error path leaks.
func TestEveryAllocationFails(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		values := columntest.Repeated(t, arraytest.NewGenerator(2), arrow.BinaryTypes.String, 5, 50)
		for name, operation := range map[string]func(context.Context, *column.Column) error{
			"unique": func(ctx context.Context, c *column.Column) error {
				made, err := group.Unique(ctx, c)
				return errors.Join(err, made.Release())
			},
			"value counts": func(ctx context.Context, c *column.Column) error {
				made, err := group.ValueCounts(ctx, c)
				return errors.Join(err, made.Release())
			},
		} {
			// The first allocation is the column's.
			failing := uint64(2)
			for ; ; failing++ {
				faults := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: failing}})
				mgr := devicetest.Manager(t, dev, memory.Options{Resource: faults})
				c, err := column.FromArray(t.Context(), mgr, values, column.UploadOptions{})
				require.NoError(t, err)
				err = operation(t.Context(), c)
				require.NoError(t, c.Release())
				if err == nil {
					break
				}
				require.ErrorIs(t, err, adaptor.ErrInjected, name)
			}
			require.Greater(t, failing, uint64(3), name)
		}
	})
}
