package join_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// TestEstimatesAreBounds compares estimates with the memory of joins of all kinds.
func TestEstimatesAreBounds(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		choices := property.Random(t)
		for _, name := range slices.Sorted(maps.Keys(keyKinds)) {
			key := keyKinds[name]
			for _, kind := range kinds {
				if !chosen(choices, dev, 8) || name == "mixed" || name == "encoded" || name == "codes" {
					continue
				}
				r := rand.New(rand.NewPCG(7, uint64(kind)))
				a, b := drawSide(t, mgr, r, key, false, 60, 0.2, "a"), drawSide(t, mgr, r, key, true, 50, 0.2, "b")
				o := join.Options{Kind: kind, NullsEqual: name == "utf8" || name == "bool", LeftColumns: []string{"v", "a"}}
				if kind != join.Semi && kind != join.Anti {
					o.RightColumns = []string{"b"}
				}
				columntest.CheckBound(t, mgr, fmt.Sprintf("%s, %v", name, kind), 2<<20, func(options kernels.Options) (*buffer.Buffer, error) {
					o.Options = options
					return join.Tables(t.Context(), a.table, b.table, keysOf(o, key), o)
				})
			}
		}
	})
}

// TestEstimatesOfManyRows requires that the bounds of tables with a unique key are near.
func TestEstimatesOfManyRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		if devicetest.Emulated(dev) && testing.Short() {
			return
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := 20_000
		for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
			keys, other := make([]int64, n), make([]int64, n)
			for i := range keys {
				keys[i], other[i] = int64(i)*7919%1_000_003, int64(i/3)*7919%1_000_003
			}
			a, b := tableOfKeys(t, mgr, of, other), tableOfKeys(t, mgr, of, keys)
			b.Column(0).LearnUnique(column.Yes)
			for _, kind := range []join.Kind{join.Inner, join.Left, join.Full, join.Semi} {
				columntest.CheckBound(t, mgr, fmt.Sprintf("%v, %v", of, kind), uint64(1<<21+240*n), func(o kernels.Options) (*buffer.Buffer, error) {
					return join.Tables(t.Context(), a, b, join.Using("k0"), join.Options{Options: o, Kind: kind})
				})
			}
		}
	})
}

// TestEstimatesOfWidePlaces requires a bound of an index whose keys have as many places as the host takes, and spans of each.
func TestEstimatesOfWidePlaces(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	const n = 200_000
	keys := make([]int64, n)
	for i := range keys {
		keys[i] = int64(i * 8)
	}
	keys[n/2] = keys[0]
	table := tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int64, keys)
	columntest.CheckBound(t, mgr, "wide places", 1<<26, func(o kernels.Options) (*join.Index, error) {
		return join.Build(t.Context(), table.Schema(), table, join.Using("k0"), join.Options{Options: o})
	})
}

// TestEstimatesOfFewLeftRows requires bounds of joins that sort many pairs by their left rows.
func TestEstimatesOfFewLeftRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		rows := 4000
		if !devicetest.Emulated(dev) {
			rows = 20_000
		}
		ctx := strategy.WithJoin(t.Context(), strategy.Join{Probe: strategy.ProbedRight})
		a, b := tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int32, make([]int64, 40)), tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int32, make([]int64, rows))
		columntest.CheckBound(t, mgr, "few left rows", uint64(2<<20+1200*rows), func(o kernels.Options) (*buffer.Buffer, error) {
			return join.Tables(ctx, a, b, join.Using("k0"), join.Options{Options: o, Order: join.LeftOrder})
		})
	})
}

// TestEstimatesWithoutBound are refused.
func TestEstimatesWithoutBound(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(8, 8))
	kind := keyKinds["utf8"]
	a, b := drawSide(t, mgr, r, kind, false, 10, 0, "a"), drawSide(t, mgr, r, kind, true, 10, 0, "b")
	for name, o := range map[string]join.Options{
		"no bound, because rows of the other table": {},
		"a condition": {Where: where},
	} {
		_, err := kernels.EstimateOf(func(options kernels.Options) (*buffer.Buffer, error) {
			o.Options = options
			return join.Tables(t.Context(), a.table, b.table, join.Using("k0"), o)
		})
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.ErrorContains(t, err, name)
	}
}

// TestRefusedResultNamesItsBytes joins in a budget that only the result exceeds.
func TestRefusedResultNamesItsBytes(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{Budget: 2_500_000})
	keys := make([]int64, 400)
	table := tableOfKeys(t, mgr, arrow.PrimitiveTypes.Int64, keys)
	_, err := join.Tables(t.Context(), table, table, join.Using("k0"), join.Options{})
	require.ErrorIs(t, err, memory.ErrBudget)
	require.ErrorContains(t, err, "the result has 160000 rows, and columns of 1280")
}

// TestEstimatesOfSearchesAreBounds compares estimates of as-of joins, joins by ranges and
// indexes with their memory.
func TestEstimatesOfSearchesAreBounds(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := property.Random(t)
		mgr := devicetest.Manager(t, dev, memory.Options{})
		rows := 20_000
		if devicetest.Emulated(dev) || testing.Short() {
			rows = 2000
		}
		slack := uint64(3<<20 + 700*rows)
		turn := property.Turn(t)
		leftOut := func(i int) bool { return devicetest.Emulated(dev) && !testing.Short() && (i+turn)%2 != 0 }
		for i, name := range []string{"int32", "widths", "far", "float64", "float16", "units"} {
			if leftOut(i) || !chosen(r, dev, 4) {
				continue
			}
			kind := asOfKinds[name]
			if name == "int32" {
				kind.span = rows
			}
			a, b := drawTimed(t, mgr, r, kind, false, rows, false), drawTimed(t, mgr, r, kind, true, rows, false)
			for by, on := range [][]join.On{nil, join.Using("s")} {
				for _, matched := range []bool{false, true} {
					o := join.AsOfOptions{By: on, MatchedOnly: matched, LeftColumns: []string{"t", "s"}, RightColumns: []string{"row"}}
					columntest.CheckBound(t, mgr, fmt.Sprintf("as of, %s, %d, %v", name, by, matched), slack, func(options kernels.Options) (*buffer.Buffer, error) {
						o.Options = options
						return join.AsOf(t.Context(), a.table, b.table, join.On{Left: "t", Right: "t"}, o)
					})
				}
			}
			if kind.span == 0 {
				continue
			}
			for _, kind := range []join.Kind{join.Inner, join.Left, join.Semi, join.Anti} {
				o := join.Options{Kind: kind, LeftColumns: []string{"row"}, MaxRows: int64(4 * rows)}
				if kind == join.Inner || kind == join.Left {
					o.RightColumns = []string{"row"}
				}
				columntest.CheckBound(t, mgr, fmt.Sprintf("range, %s, %v", name, kind), slack, func(options kernels.Options) (*buffer.Buffer, error) {
					o.Options = options
					return join.Range(t.Context(), a.table, b.table, join.Between{Low: "t", High: "t", Right: "t", Bounds: join.Closed}, nil, o)
				})
			}
		}
		for i, name := range slices.Sorted(maps.Keys(keyKinds)) {
			key := keyKinds[name]
			if leftOut(i) || !chosen(r, dev, 6) || name == "mixed" || name == "encoded" || name == "codes" {
				continue
			}
			a, b := drawSide(t, mgr, r, key, false, 1, 0, "a"), drawSide(t, mgr, r, key, true, rows, 0.2, "b")
			o := join.Options{Kind: join.Inner}
			columntest.CheckBound(t, mgr, "index, "+name, slack, func(options kernels.Options) (*join.Index, error) {
				o.Options = options
				return join.Build(t.Context(), a.table.Schema(), b.table, keysOf(o, key), o)
			})
		}
	})
}
