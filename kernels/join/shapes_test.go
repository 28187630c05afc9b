package join_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// shape is the keys of both sides.
type shape struct {
	name string
	// draw returns the key of a row. distinct is about n.
	left, right func(r *rand.Rand, row, n int) int64
}

var shapes = []shape{
	{"distinct", func(r *rand.Rand, _, n int) int64 { return int64(r.IntN(2 * n)) }, func(_ *rand.Rand, row, _ int) int64 { return 2 * int64(row) }},
	{"few keys", func(r *rand.Rand, _, n int) int64 { return int64(r.IntN(n)) }, func(r *rand.Rand, _, n int) int64 { return int64(r.IntN(n / 50)) }},
	{"one key has most rows", func(_ *rand.Rand, row, n int) int64 { return int64(row) }, func(r *rand.Rand, row, n int) int64 { return int64(n - 1 - r.IntN(20)/19) }},
	{"the key of empty slots", func(r *rand.Rand, row, n int) int64 { return int64(r.IntN(n)) - 5 }, func(_ *rand.Rand, row, _ int) int64 { return int64(row) - 5 }},
}

// mapJoin joins by a map, in the order of the left side.
func mapJoin(left, right []int64) (pairs []pair) {
	rows := map[int64][]int{}
	for j, key := range right {
		rows[key] = append(rows[key], j)
	}
	for i, key := range left {
		for _, j := range rows[key] {
			pairs = append(pairs, pair{i, j})
		}
	}
	return pairs
}

func tableOfKeys(t testing.TB, mgr *memory.Manager, of arrow.DataType, keys []int64) *buffer.Buffer {
	t.Helper()
	var c *column.Column
	if of.ID() == arrow.INT32 {
		narrow := make([]int32, len(keys))
		for i, key := range keys {
			narrow[i] = int32(key)
		}
		c = columntest.ColumnOf(t, mgr, of, narrow)
	} else {
		c = columntest.ColumnOf(t, mgr, of, keys)
	}
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "k0", Type: of}}, nil), []*column.Column{c}, buffer.Rows{Count: int64(len(keys))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

// TestShapes joins more rows than a block writes, of keys that are spread in ways that
// hash tables and expansions may not like.
func TestShapes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		n := 100_000
		if devicetest.Emulated(dev) || testing.Short() {
			n = 3000
		}
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, s := range shapes {
			t.Run(s.name, func(t *testing.T) {
				of := []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}[i%2]
				left, right := make([]int64, n), make([]int64, n/3)
				for i := range left {
					left[i] = s.left(r, i, n)
				}
				for i := range right {
					right[i] = s.right(r, i, n)
				}
				a, b := tableOfKeys(t, mgr, of, left), tableOfKeys(t, mgr, of, right)
				want := mapJoin(left, right)
				for _, choices := range strategies() {
					if !chosen(r, dev, 4) {
						continue
					}
					ctx := strategy.WithJoin(t.Context(), choices)
					leftRows, rightRows, err := join.Rows(ctx, a, b, join.Using("k0"), join.Options{})
					require.NoError(t, err)
					got := pairsOf(t, leftRows, rightRows)
					require.NoError(t, leftRows.Release())
					require.NoError(t, rightRows.Release())
					require.Equal(t, want, got, "%+v", choices)
					semi, err := join.Tables(ctx, a, b, join.Using("k0"), join.Options{Kind: join.Semi})
					require.NoError(t, err)
					require.Equal(t, semiKeys(left, right), columntest.Fetch(t, semi).Column(0).(interface{ Len() int }).Len())
				}
			})
		}
	})
}

func semiKeys(left, right []int64) (n int) {
	known := map[int64]bool{}
	for _, key := range right {
		known[key] = true
	}
	for _, key := range left {
		if known[key] {
			n++
		}
	}
	return n
}

// TestAllHashesEqual joins keys that all begin at one slot.
func TestAllHashesEqual(t *testing.T) {
	join.CollideAll(t)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := rand.New(rand.NewPCG(1, 4))
		mgr := devicetest.Manager(t, dev, memory.Options{})
		kind := keyKinds["two integers"]
		for _, each := range kinds {
			a, b := drawSide(t, mgr, r, kind, false, 50, 0.1, "a"), drawSide(t, mgr, r, kind, true, 40, 0.1, "b")
			checkRows(t, a, b, kind, join.Options{Kind: each})
		}
		keys := make([]int64, 300)
		for i := range keys {
			keys[i] = r.Int64()
		}
		table := tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int64, keys)
		result, err := join.Tables(t.Context(), table, table, join.Using("k0"), join.Options{})
		require.NoError(t, err)
		require.Equal(t, keys, columntest.Fetch(t, result).Column(0).(*array.Int64).Int64Values())
	})
}

// TestWideKeysAreShortened joins by integers of more than 64 bits in a small range.
func TestWideKeysAreShortened(t *testing.T) {
	kind := []keyKind{keyKinds["int32"][0], {arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, same("-7", "1", "100")}}
	kind[0].values = same("0", "1", "-1", "7")
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := rand.New(rand.NewPCG(1, 5))
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, nullsEqual := range []bool{false, true} {
			a, b := drawSide(t, mgr, r, kind, false, 50, 0.1, "a"), drawSide(t, mgr, r, kind, true, 40, 0.1, "b")
			checkRows(t, a, b, kind, join.Options{Kind: join.Full, NullsEqual: nullsEqual})
		}
	})
}

// TestDistinctBuildSides joins by keys that occur once on the build side, with and without
// rows that have no match.
func TestDistinctBuildSides(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, below := range []int{40, 60} {
			a, b := &side{value: make([]*int32, 50), random: r}, &side{value: make([]*int32, 40), random: r}
			var left, right []int64
			for range 50 {
				left = append(left, int64(r.IntN(below)))
				a.keys = append(a.keys, []string{strconv.FormatInt(left[len(left)-1], 10)})
			}
			for _, key := range r.Perm(40) {
				right = append(right, int64(key))
				b.keys = append(b.keys, []string{strconv.Itoa(key)})
			}
			a.table, b.table = tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int64, left), tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int64, right)
			for _, kind := range kinds {
				if kind != join.Cross && chosen(r, dev, 2) {
					checkRows(t, a, b, keyKinds["int64"], join.Options{Kind: kind})
					checkTable(t, a, b, keyKinds["int64"], join.Options{Kind: kind})
				}
			}
			result, err := join.Tables(t.Context(), a.table, b.table, join.Using("k0"), join.Options{Kind: join.Left})
			require.NoError(t, err)
			require.Equal(t, a.table.Column(0).Pointer(), result.Column(0).Pointer(), "the left columns are shared")
			require.NoError(t, result.Release())
		}
	})
}

// TestKnownBounds joins the same tables again. The first join learns the bounds of the build
// keys, so the others know their places, and for repeated keys that they repeat. Most shapes have
// rows without a match, in several tiles.
func TestKnownBounds(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n, ctx := 5000, strategy.WithJoin(t.Context(), strategy.Join{Find: strategy.MeasuredPlaces})
		shapes := map[string]func(i int) (left, right int64){
			"distinct, all match":  func(i int) (int64, int64) { return int64(r.IntN(n/2)) - 700, int64(n/2-1-i) - 700 },
			"distinct, few match":  func(i int) (int64, int64) { return int64(r.IntN(9*n)) - 700, int64(n/2-1-i) - 700 },
			"distinct, none match": func(i int) (int64, int64) { return int64(-i - 1), int64(i) },
			"repeated":             func(i int) (int64, int64) { return int64(i - 90), int64(r.IntN(90)) - 80 },
			"one key":              func(i int) (int64, int64) { return int64(i%1000) - 500, -3 },
		}
		for name, shape := range property.InOrder(shapes) {
			for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
				if !chosen(r, dev, 3) {
					continue
				}
				left, right := make([]int64, n), make([]int64, n/2)
				for i := range left {
					var key int64
					if left[i], key = shape(i); i < len(right) {
						right[i] = key
					}
				}
				a, b := tableOfKeys(t, mgr, of, left), tableOfKeys(t, mgr, of, right)
				want := mapJoin(left, right)
				for range 3 {
					leftRows, rightRows, err := join.Rows(ctx, a, b, join.Using("k0"), join.Options{})
					require.NoError(t, err)
					require.Equal(t, want, pairsOf(t, leftRows, rightRows), "%s, %v", name, of)
					require.NoError(t, errors.Join(leftRows.Release(), rightRows.Release()))
				}
				if dev.Kind() != device.Host {
					_, known := b.Column(0).Bounds()
					require.True(t, known, "%s, %v", name, of)
				}
			}
		}
	})
}
