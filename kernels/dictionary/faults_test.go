package dictionary_test

import (
	"context"
	"testing"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
)

func TestEveryAllocationFails(t *testing.T) {
	columntest.EachAllocationFails(t, "dictionary: encode: ", func(ctx context.Context, c *column.Column) (*column.Column, error) { return dictionary.Encode(ctx, c) })
}
