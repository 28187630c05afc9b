package group_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// mergedParts merges partial results that partitions make of three parts of a table.
func mergedParts(t *testing.T, mgr *memory.Manager, record arrow.Record, keys []string, aggregates []group.Aggregate, choices strategy.Group) arrow.Record {
	t.Helper()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	var parts []*buffer.Buffer
	begin, n := int64(0), record.NumRows()
	for _, end := range []int64{n / 3, n/3 + 1, n} {
		part, err := table.Slice(begin, end-begin)
		require.NoError(t, err)
		partial, err := group.By(part, group.Columns(keys...)...).Partial(strategy.WithGroup(t.Context(), choices), aggregates)
		require.NoError(t, err)
		defer func() { require.NoError(t, partial.Release()) }()
		require.NoError(t, part.Release())
		parts, begin = append(parts, partial), end
	}
	merged, err := group.Merge(t.Context(), record.Schema(), parts, aggregates, group.ByOptions{Order: group.ByKey})
	require.NoError(t, err)
	return columntest.Fetch(t, merged)
}

func wholeOnHost(t *testing.T, host *memory.Manager, record arrow.Record, keys []string, aggregates []group.Aggregate) arrow.Record {
	t.Helper()
	table, err := buffer.FromRecord(host, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	made, err := group.By(table, group.Columns(keys...)...).Aggregate(t.Context(), aggregates, group.ByOptions{Order: group.ByKey})
	require.NoError(t, err)
	return columntest.Fetch(t, made)
}

func requireSame(t *testing.T, want, got arrow.Record, of string) {
	t.Helper()
	for c := range int(want.NumCols()) {
		require.Equal(t, exactTexts(want.Column(c)), exactTexts(got.Column(c)), "%s: %s", of, want.ColumnName(c))
	}
}

// TestPartialPartitions merges states that partitions make, of every type that partitions add up.
func TestPartialPartitions(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(31, 32))
	choices := []strategy.Group{{PlaceBits: 6}, {PlaceBits: 5, DigitBits: 1, ChunkRows: 300}}
	keys := [][]string{{"k"}, {"tiny", "k"}, {"u64"}} // the last by numbers
	for i, aggregates := range partitionAggregates() {
		if brief(mgr) && i%2 == 1 {
			continue
		}
		name := []string{"uniform", "skewed", "distinct"}[i%3]
		record := partitionRecord(r, partitionDraws[name], 900, 150)
		defer record.Release()
		by, chosen := keys[i%3], choices[i%2]
		chosen.Find, chosen.Add, chosen.MeasuredRows = strategy.Partitions, strategy.Partitions, 1
		requireSame(t, wholeOnHost(t, host, record, by, aggregates), mergedParts(t, mgr, record, by, aggregates, chosen), name)
	}
}

// TestPartialBins merges sums of floats of which the largest exponents of the groups lie around the
// places where bins begin, and sums of decimals.
func TestPartialBins(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 30, Scale: 2}},
	}, nil)
	r := rand.New(rand.NewPCG(33, 34))
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for row := range 1200 {
		k := r.IntN(90)
		b.Field(0).(*array.Int32Builder).Append(int32(k))
		x := math.Ldexp(1+r.Float64(), k%45)
		switch {
		case k == 7:
			x = 0
		case row%3 == 0:
			x = -math.Ldexp(1+r.Float64(), k%45-r.IntN(20))
		case row%400 == 1: // a value that the guess of the partition does not fit
			x = math.Ldexp(x, 60)
		}
		b.Field(1).(*array.Float64Builder).Append(x)
		b.Field(2).(*array.Decimal128Builder).Append(decimal128.New(int64(r.IntN(1000)-500), r.Uint64()))
	}
	record := b.NewRecord()
	defer record.Release()
	of := map[string]arrow.Record{"all": record, "those that fit a guess": record.NewSlice(2, 390)}
	defer of["those that fit a guess"].Release()
	for name, some := range of {
		for _, aggregates := range [][]group.Aggregate{{group.Sum(expr.Col("x")), group.Mean(expr.Col("x"))}, {group.Sum(expr.Col("d")), group.Mean(expr.Col("d")), group.CountAll()}} {
			requireSame(t, wholeOnHost(t, host, some, []string{"k"}, aggregates),
				mergedParts(t, mgr, some, []string{"k"}, aggregates, strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 5}), name)
		}
	}
}
