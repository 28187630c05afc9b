package hostarray_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestEveryTypeIsSeenAsItIs(t *testing.T) {
	ctx := context.Background()
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	generator := arraytest.NewGenerator(1)
	for _, dataType := range arraytest.AllTypes() {
		for _, n := range []int{0, 1, 40} {
			t.Run(fmt.Sprint(dataType, n), func(t *testing.T) {
				want := generator.Array(dataType, n)
				defer want.Release()
				c, err := column.FromArray(ctx, mgr, want, column.UploadOptions{})
				require.NoError(t, err)
				got, err := hostarray.View(c)
				require.NoError(t, err)
				require.True(t, array.Equal(want, got), "%v\n%v", want, got)
				got.Release()
				if n > 3 {
					part, err := c.Slice(2, n-3)
					require.NoError(t, err)
					require.NoError(t, c.Release())
					got, err = hostarray.View(part)
					require.NoError(t, err)
					require.NoError(t, part.Release(), "the array holds the memory by itself")
					shown := array.NewSlice(want, 2, int64(n-1))
					require.True(t, array.Equal(shown, got))
					shown.Release()
					got.Release()
					return
				}
				require.NoError(t, c.Release())
			})
		}
	}
}

func TestViewsOfReleasedColumns(t *testing.T) {
	ctx := context.Background()
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	generator := arraytest.NewGenerator(1)
	c, err := column.FromArray(ctx, mgr, generator.Array(arrow.BinaryTypes.String, 3), column.UploadOptions{})
	require.NoError(t, err)
	gone, err := c.Slice(0, 1)
	require.NoError(t, err)
	require.NoError(t, gone.Release())
	_, err = hostarray.Views([]*column.Column{c, gone})
	require.ErrorIs(t, err, memory.ErrReleased)
	require.NoError(t, c.Release())
}
