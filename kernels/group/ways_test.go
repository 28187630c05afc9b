package group_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestEachWayOnce runs the kernels of each way to add up groups once, with few rows of which most have
// one key, and compares the results with the host. It is small enough for compute-sanitizer's racecheck.
func TestEachWayOnce(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	record := partitionRecord(rand.New(rand.NewPCG(33, 34)), partitionDraws["skewed"], 5000, 60)
	defer record.Release()
	f64, i64, u64 := expr.Col("f64"), expr.Col("i64"), expr.Col("u64")
	several := []group.Aggregate{group.Sum(f64), group.Count(i64), group.Sum(u64), group.Max(expr.Col("day")), group.Min(f64)}
	single := []group.Aggregate{group.Sum(f64)}
	for _, test := range []struct {
		name       string
		choice     strategy.Group
		aggregates []group.Aggregate
	}{
		{"accumulate", strategy.Group{}, several},
		{"tiles", strategy.Group{Add: "tiles"}, several},
		{"tiles with products", strategy.Group{Add: "tiles", Without: strategy.LinearTiles}, several},
		{"slices", strategy.Group{Add: "tiles", SlotBytes: 900}, several},
		{"outside", strategy.Group{Add: "tiles", Outside: 1}, single},
		{"records of one word", strategy.Group{Add: "records", MeasuredRows: 1}, []group.Aggregate{group.CountAll()}},
		{"records of four words", strategy.Group{Add: "records", MeasuredRows: 1}, single},
		{"records of eight words", strategy.Group{Add: "records", MeasuredRows: 1}, several},
		{"partitions", strategy.Group{Find: "partitions", Add: "partitions", MeasuredRows: 1, PlaceBits: 4}, several},
		{"partitions of two levels", strategy.Group{Find: "partitions", Add: "partitions", MeasuredRows: 1, PlaceBits: 3, DigitBits: 1, MoveRows: 8}, single},
		{"hashes", strategy.Group{Find: "hashes", Groups: 60, PlaceBits: 4}, several},
		{"hashes of chunks", strategy.Group{Find: "hashes", PlaceBits: 7, ChunkRows: 900}, single},
		{"chunks", strategy.Group{Find: "partitions", Add: "partitions", MeasuredRows: 1, PlaceBits: 4, PartitionThreads: 1024, ChunkRows: 600}, several},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answers []*buffer.Buffer
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), test.choice), test.aggregates, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err)
				answers = append(answers, made)
				require.NoError(t, table.Release())
			}
			requireEqual(t, columntest.Fetch(t, answers[0]), columntest.Fetch(t, answers[1]), test.name)
		})
	}
}
