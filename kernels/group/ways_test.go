package group_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestEachWayOnce runs the kernels of each way to add up groups once, with few rows of which most have
// one key, requires that they ran, and compares the results with the host. It is small enough for compute-sanitizer's racecheck.
func TestEachWayOnce(t *testing.T) {
	mgr, counted, _ := ofQuantiles(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := partitionRecord(rand.New(rand.NewPCG(33, 34)), partitionDraws["skewed"], 5000, 60)
	defer record.Release()
	f64, i64, u64 := expr.Col("f64"), expr.Col("i64"), expr.Col("u64")
	several := []group.Aggregate{group.Sum(f64), group.Count(i64), group.Sum(u64), group.Max(expr.Col("day")), group.Min(f64)}
	single := []group.Aggregate{group.Sum(f64)}
	for _, test := range []struct {
		name       string
		choice     strategy.Group
		kernel     string
		aggregates []group.Aggregate
	}{
		{"accumulate", strategy.Group{}, "accumulate", several},
		{"tiles", strategy.Group{Add: strategy.Tiles}, "add_tiles", several},
		{"tiles with products", strategy.Group{Add: strategy.Tiles, Without: strategy.LinearTiles}, "add_tile_products", several},
		{"slices", strategy.Group{Add: strategy.Tiles, MeasuredRows: 1, SlotBytes: 900}, "add_tiles", several},
		{"outside", strategy.Group{Add: strategy.Tiles, Outside: 1}, "add_columns", single},
		{"records of one word", strategy.Group{Add: strategy.Records, MeasuredRows: 1}, "add_records_1", []group.Aggregate{group.CountAll()}},
		{"records of four words", strategy.Group{Add: strategy.Records, MeasuredRows: 1}, "add_records_4", single},
		{"records of eight words", strategy.Group{Add: strategy.Records, MeasuredRows: 1}, "add_records_8", several},
		{"partitions", strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 4}, "partition_groups", several},
		{"partitions of two levels", strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 3, DigitBits: 1, MoveRows: 8}, "partition_move_again_small", single},
		{"hashes", strategy.Group{Find: strategy.Hashes, Groups: 60, PlaceBits: 4}, "partition_slots", several},
		{"hashes of chunks", strategy.Group{Find: strategy.Hashes, PlaceBits: 7, ChunkRows: 900}, "partition_chunk_slots", single},
		{"chunks", strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 4, PartitionThreads: 1024, ChunkRows: 600}, "partition_groups_wide", several},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answers []*buffer.Buffer
			counted.Take()
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), test.choice), test.aggregates, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err)
				answers = append(answers, made)
				require.NoError(t, table.Release())
			}
			kernels := counted.Take().Kernels
			require.NotZero(t, kernels[test.kernel], "%v", kernels)
			requireEqual(t, columntest.Fetch(t, answers[0]), columntest.Fetch(t, answers[1]), test.name)
		})
	}
}
