package group_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// textDraws are distributions of strings of few and of many numbers, and of strings without.
var textDraws = map[string]func(r *rand.Rand) string{
	"three digits":    func(r *rand.Rand) string { return fmt.Sprintf("id%03d", r.IntN(100)) },
	"ten digits":      func(r *rand.Rand) string { return fmt.Sprintf("id%010d", r.IntN(1_000_000_000)*r.IntN(2)) },
	"one byte":        func(r *rand.Rand) string { return string("ANR"[r.IntN(3)]) },
	"one value":       func(*rand.Rand) string { return "the same" },
	"empty":           func(*rand.Rand) string { return "" },
	"several lengths": func(r *rand.Rand) string { return "0123456789abcdef"[:r.IntN(17)] },
	"ends with zeros": func(r *rand.Rand) string { return "ab\x00\x00\x00"[:r.IntN(6)] },
	"any three bytes": func(r *rand.Rand) string {
		b := make([]byte, r.IntN(4))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return string(b)
	},
	"any eight bytes": func(r *rand.Rand) string {
		x := r.Uint64N(3) * 0x9e3779b97f4a7c15
		return fmt.Sprintf("%c%c%c%c%c%c%c%c", x&0x7f, x>>8&0x7f, x>>16&0x7f, x>>24&0x7f, x>>32&0x7f, x>>40&0x7f, x>>48&0x7f, x>>57)
	},
	"long": func(r *rand.Rand) string { return fmt.Sprintf("seventeen bytes %d", r.IntN(5)) },
}

// textRecord is n rows of strings t, with or without nulls, binaries b, integers k and floats x.
func textRecord(r *rand.Rand, draw func(*rand.Rand) string, n int, nulls bool) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "b", Type: arrow.BinaryTypes.Binary},
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for range n {
		if nulls && r.IntN(4) == 0 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(draw(r))
		}
		b.Field(1).(*array.BinaryBuilder).Append([]byte{"xyz"[r.IntN(3)]})
		b.Field(2).(*array.Int32Builder).Append(int32(r.IntN(3)))
		b.Field(3).(*array.Float64Builder).Append(r.NormFloat64())
	}
	return b.NewRecord()
}

// TestTextNumbers compares groups by the numbers of strings with the host's groups by strings: all
// distributions, alone and with other keys, slices, conditions, and each order.
func TestTextNumbers(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(71, 72))
	x := expr.Col("x")
	lists := [][]group.Aggregate{
		{group.Sum(x), group.Mean(x), group.CountAll()},
		{group.First(x), group.Max(expr.Col("t")), group.ArgMin(x), group.Median(x)},
	}
	keys := [][]string{{"t"}, {"t", "b"}, {"k", "t"}, {"b", "k"}}
	choices := []strategy.Group{{TextRows: 1}, {Add: strategy.Tiles, TextRows: 1, MaskedRows: 1}, {Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, TextRows: 1, PlaceBits: 4}, {Add: strategy.Records, MeasuredRows: 1, TextRows: 1}}
	round := 0
	for _, name := range slices.Sorted(maps.Keys(textDraws)) {
		draw := textDraws[name]
		for _, nulls := range []bool{false, true} {
			round++
			record := textRecord(r, draw, 1+r.IntN(700), nulls)
			choice := choices[r.IntN(len(choices))]
			list, key, where, whole := lists[r.IntN(4)/3], keys[r.IntN(len(keys))], r.IntN(3) == 0, r.IntN(2) == 0
			options := group.ByOptions{Order: []group.Order{group.ByKey, group.FirstAppearance}[r.IntN(2)], Nulls: group.Nulls(r.IntN(2))}
			title := fmt.Sprintf("%s, nulls %v, keys %v, %+v, %+v, where %v, all rows %v, %d aggregates", name, nulls, key, choice, options, where, whole, len(list))
			var answers []arrow.Record
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				part := table
				if !whole {
					part, err = table.Slice(table.Capacity()/3, table.Capacity()/2)
					require.NoError(t, err)
				}
				query := group.By(part, group.Columns(key...)...)
				if where {
					query = query.Where(x.Gt(expr.Lit(-1.0)))
				}
				made, err := query.Aggregate(strategy.WithGroup(t.Context(), choice), list, options)
				require.NoError(t, err, title)
				answers = append(answers, columntest.Fetch(t, made))
				if !whole {
					require.NoError(t, part.Release())
				}
				require.NoError(t, table.Release())
			}
			require.True(t, answers[0].Schema().Equal(answers[1].Schema()), "%s: %v, %v", title, answers[0].Schema(), answers[1].Schema())
			requireEqual(t, answers[0], answers[1], title)
			record.Release()
		}
	}
	require.Equal(t, 2*len(textDraws), round)
}

// TestTextNumbersAreUsed requires the order of the numbers, which groups by strings do not have.
func TestTextNumbersAreUsed(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	record := textRecord(rand.New(rand.NewPCG(73, 74)), textDraws["one byte"], 300, false)
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	ctx := strategy.WithGroup(t.Context(), strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, TextRows: 1, PlaceBits: 1})
	made, err := group.By(table, group.Columns("t", "b")...).Aggregate(ctx, []group.Aggregate{group.CountAll()})
	require.NoError(t, err)
	require.NoError(t, table.Release())
	answer := columntest.Fetch(t, made)
	require.Equal(t, []string{"A", "N", "R", "A", "N", "R", "A", "N", "R"}, columntest.Texts(answer.Column(0)))
	total := int64(0)
	for _, n := range answer.Column(2).(*array.Int64).Int64Values() {
		total += n
	}
	require.EqualValues(t, 300, total)
}

// TestAllDistinctRows groups rows of which every one is a group, by strings and integers. The keys of the result
// have the memory of the rows.
func TestAllDistinctRows(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	row, turn := 0, property.Turn(t)
	record := textRecord(rand.New(rand.NewPCG(75, 76)), func(*rand.Rand) string { row++; return fmt.Sprintf("id%05d", row*7919%100_000) }, 2200, false)
	defer record.Release()
	x := expr.Col("x")
	for i, choice := range []strategy.Group{{MeasuredRows: 1, TextRows: 1}, {Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, TextRows: 1, PlaceBits: 4}, {TextRows: 1}} {
		for _, keys := range [][]string{{"k", "t"}, {"t", "x", "k", "b"}, {"t"}} {
			for j, options := range []group.ByOptions{{Order: group.FirstAppearance}, {Order: group.ByKey}} {
				if !ofTurn(mgr, i+j+len(keys)+turn, 3) {
					continue
				}
				var answers []arrow.Record
				for _, m := range []*memory.Manager{host, mgr} {
					table, err := buffer.FromRecord(m, record)
					require.NoError(t, err)
					part, err := table.Slice(int64(10*i), 2100)
					require.NoError(t, err)
					query := group.By(part, group.Columns(keys...)...)
					made, err := query.Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.Sum(x), group.CountAll(), group.Largest(x, 2)}, options)
					require.NoError(t, err)
					require.NoError(t, part.Release())
					require.NoError(t, table.Release())
					answers = append(answers, columntest.Fetch(t, made))
				}
				require.EqualValues(t, 2100, answers[0].NumRows())
				requireEqual(t, answers[0], answers[1], fmt.Sprint(choice, keys, options))
			}
		}
	}
}

// TestEveryAllocationOfTextNumbersFails fails each allocation.
func TestEveryAllocationOfTextNumbersFails(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		failEach(t, dev, func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
			ctx = strategy.WithGroup(ctx, strategy.Group{TextRows: 1})
			return group.By(table, group.Columns("s")...).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("x"))}, group.ByOptions{Order: group.ByKey})
		})
	})
}
