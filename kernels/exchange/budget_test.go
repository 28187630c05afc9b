package exchange_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// A slice of strings is copied in parts if its device has no room for a copy of its size. A
// destination without room for the result is an error that names the device.
func TestExchangesWithinBudgets(t *testing.T) {
	const rows, width = 4096, 64
	builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	for i := range rows {
		builder.Append(strings.Repeat(string(rune('a'+i%26)), width))
	}
	in := builder.NewArray()
	defer in.Release()
	devices := devicetest.Hosts(t, 2)
	from := devicetest.Manager(t, devices[0], memory.Options{Budget: 340 << 10})
	to := devicetest.Manager(t, devices[1], memory.Options{Budget: 700 << 10})
	whole, err := column.FromArray(t.Context(), from, in, column.UploadOptions{})
	require.NoError(t, err)
	slice, err := whole.Slice(1, rows-1)
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	table := columntest.TableOf(t, from, -1, slice)
	require.NoError(t, slice.Release())
	require.Greater(t, from.Stats().InUse+rows*width, from.Budget(), "the device has no room for a copy")

	made, err := exchange.Copy(t.Context(), table, to)
	require.NoError(t, err)
	same := array.NewSlice(in, 1, rows)
	defer same.Release()
	columntest.RequireRows(t, made, []arrow.Array{same})
	require.LessOrEqual(t, from.Stats().Peak, from.Budget())

	require.NoError(t, to.SetBudget(100<<10))
	_, err = exchange.Copy(t.Context(), table, to)
	require.ErrorIs(t, err, memory.ErrBudget)
	require.ErrorContains(t, err, `exchange: copy: column "a": on hosts:1: `)
	require.Zero(t, to.Stats().InUse)
}

// Columns of a fixed width without nulls need the memory of the result and no more.
func TestGatherWithoutSpareMemory(t *testing.T) {
	const rows = 1 << 12
	for name, open := range machines() {
		t.Run(name, func(t *testing.T) {
			devices := open(t, 3)
			values := make([]int64, rows)
			for i := range values {
				values[i] = int64(i)
			}
			to := devicetest.Manager(t, devices[2], memory.Options{Budget: 3 * rows * 8})
			from := managersOf(t, devices[:2], memory.Options{})
			var tables []*buffer.Buffer
			for _, m := range []*memory.Manager{from[0], from[1], to} {
				c, err := column.FromSlice(t.Context(), m, values, column.SliceOptions{})
				require.NoError(t, err)
				table := columntest.TableOf(t, m, -1, c)
				require.NoError(t, c.Release())
				tables = append(tables, table)
			}
			made, err := exchange.Gather(t.Context(), tables[:2], to, exchange.Options{RoundBytes: 5000})
			require.NoError(t, err)
			require.Equal(t, uint64(3*rows*8), to.Stats().Peak)
			got := columntest.Fetch(t, made).Column(0).(*array.Int64).Int64Values()
			require.Equal(t, values, got[:rows])
			require.Equal(t, values, got[rows:])
		})
	}
}
