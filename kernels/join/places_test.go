package join_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/join"
	gpumemory "github.com/gpuframe/gpuframe/memory"
)

// nullableKeys draws integers, of which some are null, and uploads those from row first on.
func nullableKeys(t *testing.T, mgr *gpumemory.Manager, r *rand.Rand, first, rows int, nulls float64, draw func(row int) int32) (*buffer.Buffer, []*int32) {
	t.Helper()
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	keys := make([]*int32, rows)
	for i := range first + rows {
		key := draw(i)
		if r.Float64() < nulls {
			b.AppendNull()
			continue
		}
		b.Append(key)
		if i >= first {
			keys[i-first] = &key
		}
	}
	whole := b.NewArray()
	defer whole.Release()
	c, _ := columntest.UploadRows(t, mgr, whole, first, first+rows)
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "k0", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil), []*column.Column{c}, buffer.Rows{Count: int64(rows)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table, keys
}

// nestedPairs joins by comparing all rows. Nulls match nothing.
func nestedPairs(left, right []*int32) (pairs []pair) {
	for i, a := range left {
		for j, b := range right {
			if a != nil && b != nil && *a == *b {
				pairs = append(pairs, pair{i, j})
			}
		}
	}
	return pairs
}

// TestFewPlaces joins by keys in a range that is known after the first join: with nulls, from an
// odd row on, by distinct keys of the right side and by few keys that many right rows have.
func TestFewPlaces(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, gpumemory.Options{})
		for _, nulls := range []float64{0, 0.1} {
			for _, few := range []int{1, 7, 256, 300} {
				// Enough rows on the right for several blocks of the sort.
				left, wantLeft := nullableKeys(t, mgr, r, r.IntN(3), 200, nulls, func(int) int32 { return int32(r.IntN(few+2)) - 90 })
				right, wantRight := nullableKeys(t, mgr, r, r.IntN(3), 4500, nulls, func(row int) int32 { return int32(row%few) - 89 })
				requirePairs(t, left, right, join.Options{Order: join.LeftOrder}, nestedPairs(wantLeft, wantRight))
			}
			// Rows without a match are moved away, or all rows have one.
			for _, most := range []int{900, 400} {
				left, wantLeft := nullableKeys(t, mgr, r, r.IntN(3), 5000, nulls, func(int) int32 { return int32(r.IntN(most)) })
				right, wantRight := nullableKeys(t, mgr, r, r.IntN(3), 400, nulls, func(row int) int32 { return int32(row) })
				requirePairs(t, left, right, join.Options{}, nestedPairs(wantLeft, wantRight))
			}
		}
	})
}

// requirePairs joins twice and checks the pairs of Rows, and the keys of Tables.
func requirePairs(t *testing.T, left, right *buffer.Buffer, options join.Options, want []pair) {
	t.Helper()
	for _, filter := range []strategy.JoinStrategy{strategy.Unfiltered, strategy.Filtered} {
		ctx := strategy.WithJoin(t.Context(), strategy.Join{Find: strategy.MeasuredPlaces, Filter: filter})
		leftRows, rightRows, err := join.Rows(ctx, left, right, join.Using("k0"), options)
		require.NoError(t, err)
		require.Equal(t, want, pairsOf(t, leftRows, rightRows))
		require.NoError(t, errors.Join(leftRows.Release(), rightRows.Release()))
	}
	ctx := strategy.WithJoin(t.Context(), strategy.Join{Find: strategy.MeasuredPlaces, Filter: strategy.Filtered})
	made, err := join.Tables(ctx, left, right, join.Using("k0"), options)
	require.NoError(t, err)
	keys := columntest.Download(t, left.Column(0)).(*array.Int32)
	got := columntest.Fetch(t, made).Column(0).(*array.Int32)
	require.Equal(t, len(want), got.Len())
	for i, p := range want {
		require.Equal(t, keys.Value(p.left), got.Value(i), "row %d", i)
	}
}
