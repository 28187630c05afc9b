package join_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// TestIndexAgainstNestedLoops probes one index with several tables.
func TestIndexAgainstNestedLoops(t *testing.T) {
	for _, name := range []string{"int32", "int64", "encoded", "signs", "two integers", "mixed"} {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				r := property.Random(t)
				mgr := devicetest.Manager(t, dev, memory.Options{})
				spiller, err := spill.NewSpiller(mgr, spill.Options{})
				require.NoError(t, err)
				defer func() { require.NoError(t, spiller.Close()) }()
				for _, kind := range []join.Kind{join.Inner, join.Left, join.Semi, join.Anti, join.Cross} {
					if !chosen(r, dev, 3) {
						continue
					}
					o := drawOptions(r, kind)
					_, right := lengths(r, dev)
					b := drawSide(t, mgr, r, keyKinds[name], true, right, 0.1, "b")
					probeParts(t, mgr, r, dev, b, keyKinds[name], o, []*spill.Spiller{nil, spiller}[r.IntN(2)])
				}
			})
		})
	}
}

func probeParts(t *testing.T, mgr *memory.Manager, r *rand.Rand, dev *device.Device, b *side, kinds []keyKind, o join.Options, spiller *spill.Spiller) {
	t.Helper()
	ctx, _ := anyStrategy(t, r)
	var ix *join.Index
	for range 3 {
		left, _ := lengths(r, dev)
		a := drawSide(t, mgr, r, kinds, false, left, 0.1, "a")
		if ix == nil {
			var err error
			ix, err = join.Build(ctx, a.table.Schema(), b.table, keysOf(o, kinds), o)
			require.NoError(t, err)
		}
		leftRows, rightRows, err := ix.Rows(ctx, a.table)
		require.NoError(t, err)
		got := pairsOf(t, leftRows, rightRows)
		require.NoError(t, leftRows.Release())
		require.NoError(t, rightRows.Release())
		require.Equal(t, model(a, b, o, false), got, "%+v", o)
		result, err := ix.Probe(ctx, a.table)
		require.NoError(t, err)
		rows, err := result.NumRows(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, len(got), rows)
		require.NoError(t, result.Release())
		if spiller != nil {
			require.NoError(t, ix.Spill(spiller))
			require.NoError(t, mgr.Stream().Synchronize(t.Context()))
			moved, err := spiller.Reclaim(t.Context(), 1<<40)
			require.NoError(t, err)
			if len(b.keys) > 0 && o.Kind != join.Cross {
				require.Positive(t, moved, "the build side is spilled")
			}
		}
	}
	require.NoError(t, ix.Release())
}

// TestIndexMovesWhileItIsUsed probes an index from several goroutines while its memory is
// moved to the host again and again.
func TestIndexMovesWhileItIsUsed(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	spiller, err := spill.NewSpiller(mgr, spill.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, spiller.Close()) }()
	r := rand.New(rand.NewPCG(9, 9))
	a, b := drawSide(t, mgr, r, keyKinds["int64"], false, 30, 0.1, "a"), drawSide(t, mgr, r, keyKinds["int64"], true, 20, 0.1, "b")
	ix, err := join.Build(t.Context(), a.table.Schema(), b.table, join.Using("k0"), join.Options{})
	require.NoError(t, err)
	require.NoError(t, ix.Spill(spiller))
	want := model(a, b, join.Options{}, false)
	rows := make([]int64, 12)
	failures := make([]error, len(rows))
	var callers sync.WaitGroup
	for i := range rows {
		callers.Go(func() {
			result, err := ix.Probe(t.Context(), a.table)
			if err == nil {
				rows[i], err = result.NumRows(t.Context())
			}
			failures[i] = errors.Join(err, result.Release())
		})
		_, err := spiller.Reclaim(t.Context(), 1<<40)
		require.NoError(t, err)
	}
	callers.Wait()
	require.NoError(t, errors.Join(failures...))
	for _, n := range rows {
		require.EqualValues(t, len(want), n)
	}
	require.NoError(t, ix.Release())
}

func TestIndexRefusals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	r := rand.New(rand.NewPCG(1, 1))
	a := drawSide(t, mgr, r, keyKinds["int32"], false, 5, 0, "a")
	b := drawSide(t, mgr, r, keyKinds["int64"], true, 5, 0, "b")
	for _, kind := range []join.Kind{join.Right, join.Full} {
		_, err := join.Build(t.Context(), a.table.Schema(), b.table, join.Using("k0"), join.Options{Kind: kind})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "join: build: ")
	}
	ix, err := join.Build(t.Context(), a.table.Schema(), b.table, join.Using("k0"), join.Options{})
	require.NoError(t, err)
	_, err = ix.Probe(t.Context(), b.table)
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorContains(t, err, "join: probe: the left table has the schema")
	require.NoError(t, ix.Release())
}

// TestBatches compares the parts of a result with the model.
func TestBatches(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, kind := range kinds {
			for _, most := range []int64{1, 7, 64, 0} {
				if !chosen(r, dev, 6) {
					continue
				}
				o := join.Options{Kind: kind, MaxRows: most, Order: join.Order(r.IntN(2))}
				if (kind == join.Inner || kind == join.Cross) && r.IntN(2) == 0 {
					o.Where = where
				}
				left, right := r.IntN(20), r.IntN(20)
				a := drawSide(t, mgr, r, keyKinds["utf8"], false, left, 0.1, "a")
				b := drawSide(t, mgr, r, keyKinds["utf8"], true, right, 0.1, "b")
				checkBatches(t, a, b, o)
			}
		}
	})
}

func checkBatches(t *testing.T, a, b *side, o join.Options) {
	t.Helper()
	ctx, _ := anyStrategy(t, a.random)
	var got []string
	for part, err := range join.Batches(ctx, a.table, b.table, keysOf(o, keyKinds["utf8"]), o) {
		require.NoError(t, err)
		if o.MaxRows > 0 {
			require.LessOrEqual(t, part.Capacity(), o.MaxRows)
		}
		require.NotZero(t, part.Capacity())
		got = append(got, columntest.Texts(columntest.Fetch(t, part).Column(0))...)
	}
	var want []string
	left, right := textsOf(t, a)["k0"], textsOf(t, b)["k0"]
	for _, p := range model(a, b, o, byRight(a, b, o)) {
		switch {
		case p.left >= 0:
			want = append(want, left[p.left])
		default:
			want = append(want, right[p.right])
		}
	}
	require.Equal(t, want, got, "%+v", o)
}

// TestBatchesEnd stops a loop, and refuses a condition that parts cannot decide.
func TestBatchesEnd(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	table := tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int64, []int64{1, 2, 3, 4})
	for part, err := range join.Batches(t.Context(), table, table, nil, join.Options{Kind: join.Cross, MaxRows: 3}) {
		require.NoError(t, err)
		require.NoError(t, part.Release())
		break
	}
	for _, err := range join.Batches(t.Context(), table, table, join.Using("k0"), join.Options{Kind: join.Left, Where: where}) {
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.ErrorContains(t, err, "join: batches: ")
	}
}
