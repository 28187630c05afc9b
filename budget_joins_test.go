package gpuframe_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// skewed returns records of which most rows have one key: a key with nulls, a place, a string.
func skewed(t *testing.T, seed uint64, batches, rows int) []arrow.Record {
	random := rand.New(rand.NewPCG(seed, 7))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "place", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	var list []arrow.Record
	for batch := range batches {
		for i := range rows {
			switch key := b.Field(0).(*array.Int32Builder); random.IntN(20) {
			case 0:
				key.AppendNull()
			case 1:
				key.Append(random.Int32N(50))
			default:
				key.Append(7)
			}
			b.Field(1).(*array.Int64Builder).Append(int64(batch*rows + i))
			b.Field(2).(*array.StringBuilder).Append([]string{"", "Oslo", "a text of some length", "Zürich"}[random.IntN(4)])
		}
		list = append(list, b.NewRecord())
		t.Cleanup(list[batch].Release)
	}
	return list
}

// TestJoinsOfOneKey joins tables of which one key has most rows, more than the budget has room for,
// and tables without keys.
func TestJoinsOfOneKey(t *testing.T) {
	few, many := skewed(t, 1, 2, 20), skewed(t, 2, 13, 1000)
	key, place, text := gpuframe.Col("key"), gpuframe.Col("place"), gpuframe.Col("text")
	near := gpuframe.Matching(place.Mul(10).Sub(gpuframe.Col("place_right")).Abs().Lt(40).And(place.Mod(3).Lt(2)))
	queries := map[string]func(e *gpuframe.Engine) gpuframe.Query{}
	for _, kind := range []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Semi, gpuframe.Anti} {
		if testing.Short() && kind == gpuframe.Inner || race.Enabled && kind != gpuframe.Left {
			continue // the pairs of a left join are made in the same way
		}
		queries["few "+kind.String()] = func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, few...).Join(e.Records(nil, many...), kind, key, near)
		}
		if testing.Short() {
			continue
		}
		queries["pairs "+kind.String()] = func(e *gpuframe.Engine) gpuframe.Query {
			q := e.Records(nil, few[0]).Join(e.Records(nil, many...), kind, key, gpuframe.NullsMatch())
			return q.GroupBy(place).Agg(gpuframe.Count(), text.Max())
		}
	}
	queries["cross"] = func(e *gpuframe.Engine) gpuframe.Query {
		right := e.Records(nil, many...).Select(place.As("other"))
		return e.Records(nil, few[0]).Join(right, gpuframe.Cross).GroupBy(text).Agg(gpuframe.Count(), gpuframe.Col("other").Sum())
	}
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		large := engineOn(t, dev)
		small, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(100_000))
		require.NoError(t, err)
		for name, query := range queries {
			t.Run(name, func(t *testing.T) {
				needs, err := query(small).Needs(t.Context())
				require.NoError(t, err)
				require.NoError(t, small.Manager().SetBudget(5*needs.Smallest/4))
				want := lines(t, query(large))
				got := lines(t, query(small))
				slices.Sort(want)
				slices.Sort(got)
				require.Equal(t, len(want), len(got))
				require.True(t, slices.Equal(want, got))
				require.Zero(t, small.Manager().Stats().InUse)
			})
		}
		require.NoError(t, small.Close())
	})
}

// TestFailuresOfJoinsOfOneKey fails allocations and ends contexts while such joins run. Nothing is
// left.
func TestFailuresOfJoinsOfOneKey(t *testing.T) {
	dev := devicetest.Open(t, "host")
	fault := adaptor.NewFault(memory.NewDriverResource(dev), adaptor.FaultOptions{})
	mgr := devicetest.Manager(t, dev, memory.Options{Resource: fault, Budget: 400_000})
	e := gpuframe.EngineOnSeveral(mgr)
	defer func() { require.NoError(t, e.Close()) }()
	few, many := skewed(t, 1, 1, 12), skewed(t, 2, 10, 1000)
	place := gpuframe.Col("place")
	near := gpuframe.Matching(place.Mul(500).Sub(gpuframe.Col("place_right")).Abs().Lt(100).And(place.Mod(3).Lt(2)))
	lost := errors.New("lost")
	for _, kind := range []gpuframe.JoinKind{gpuframe.Left, gpuframe.Semi} {
		if testing.Short() && kind == gpuframe.Left {
			continue
		}
		q := e.Records(nil, few...).Join(e.Records(nil, many...), kind, gpuframe.Col("key"), near)
		failed, stopped := 0, 0
		for nth := uint64(1); ; nth += 1 + 2*nth {
			fault.Arm(adaptor.FaultOptions{Allocate: adaptor.FaultRule{Nth: nth}, AllocateError: lost})
			err := read(t.Context(), q)
			require.Zero(t, mgr.Stats().InUse)
			if err == nil {
				break
			}
			failed++
			require.ErrorIs(t, err, lost)
		}
		fault.Arm(adaptor.FaultOptions{})
		for step := int64(1); ; step += 1 + 2*step {
			ctx := newCountingContext(step)
			err := read(ctx, q)
			require.Zero(t, mgr.Stats().InUse)
			if ctx.asked.Load() < step {
				require.NoError(t, err)
				break
			}
			stopped++
			require.ErrorIs(t, err, errStopped)
		}
		require.Greater(t, failed, 5, kind)
		require.Greater(t, stopped, 5, kind)
	}
}
