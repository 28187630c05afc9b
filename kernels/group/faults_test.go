package group_test

import (
	"context"
	"testing"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/kernels/group"
)

func TestEveryAllocationFails(t *testing.T) {
	columntest.EachAllocationFails(t, "group: unique: ", func(ctx context.Context, c *column.Column) (*buffer.Buffer, error) { return group.Unique(ctx, c) })
	columntest.EachAllocationFails(t, "group: value counts: ", func(ctx context.Context, c *column.Column) (*buffer.Buffer, error) { return group.ValueCounts(ctx, c) })
}
