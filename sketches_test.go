package gpuframe_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// sketched returns rows of a key of 0 to 2, a part, and strings and numbers with repeated values and nulls.
func sketched(t *testing.T, rows int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "part", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i % 3))
		b.Field(1).(*array.Int64Builder).Append(int64(i / 3 % 4))
		if i%7 == 0 {
			b.Field(2).AppendNull()
			b.Field(3).AppendNull()
			continue
		}
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprint("value ", i%1000*(i%3)))
		b.Field(3).(*array.Float64Builder).Append(float64(i%500) - 100)
	}
	r := b.NewRecord()
	t.Cleanup(r.Release)
	return r
}

// TestSketchesOfGroups compares estimates with the exact numbers, and merged sketches with those of all rows.
func TestSketchesOfGroups(t *testing.T) {
	record := sketched(t, 6000)
	k, part, s, x, sketch := gpuframe.Col("k"), gpuframe.Col("part"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("sketch")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, record.NewSlice(0, 1000), record.NewSlice(1000, 1001), record.NewSlice(1001, 6000))
		for name, value := range map[string]gpuframe.Expr{"strings": s, "floats": x, "integers": x.Cast(arrow.PrimitiveTypes.Int16)} {
			for _, row := range cells(t, q.GroupBy(k).Agg(value.ApproxCountDistinct().As("n"), value.CountDistinct().As("exact"))) {
				exact := float64(row[2].(int64))
				require.InDelta(t, exact, row[1], math.Max(0.08*exact, 0.5), name)
			}
			whole := q.GroupBy(k).Agg(value.HLLSketch(11).As("sketch")).Sort(k)
			merged := q.GroupBy(k, part).Agg(value.HLLSketch(11).As("sketch")).GroupBy(k).Agg(sketch.HLLMerge()).Sort(k)
			require.Equal(t, cells(t, whole), cells(t, merged), name)
			require.Equal(t, cells(t, q.Select(value.HLLSketch(11).As("sketch"))), cells(t, whole.Select(sketch.HLLMerge())), name)
		}
		require.Equal(t, [][]any{{int64(0), 0.0}}, cells(t, q.Filter(k.Lt(0)).Select(s.ApproxCountDistinct().As("n"), s.HLLSketch(12).HLLEstimate().As("e"))), "no rows")
		require.Equal(t, [][]any{{nil}}, cells(t, q.Filter(k.Lt(0)).Select(s.Unhex().HLLMerge().As("m"))), "no sketches")
		mixed := q.Head(1).Select(s.FillNull("00ff").Unhex().As("sketch"))
		require.Equal(t, [][]any{{nil}}, cells(t, mixed.Select(sketch.HLLEstimate().As("e"))), "other bytes")
	})
}

// TestSketchesRefused tests parameters and types.
func TestSketchesRefused(t *testing.T) {
	record := sketched(t, 10)
	s, x := gpuframe.Col("s"), gpuframe.Col("x")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		for message, refused := range map[string]gpuframe.Expr{
			"lg_k is 3, expected 4 to 21":  x.HLLSketch(3),
			"lg_k is 22, expected 4 to 21": s.HLLSketch(22),
			"expected sketches":            x.HLLMerge(),
			"which are binary":             s.HLLEstimate(),
			"k is 7, expected 8 to 65535":  x.KLLSketch(7),
			"k is 65536":                   x.KLLSketch(65536),
			"expected numbers, decimals":   s.Unhex().KLLSketch(200),
			"expected numbers, decimals, ": x.Gt(0).ApproxQuantile(0.5),
			"rank is 1.5, expected 0 to 1": s.Unhex().KLLQuantile(1.5),
			"rank is -1":                   x.ApproxQuantile(-1),
			"max_size is 7":                s.FrequentItemsSketch(7),
			"expected integers, bools":     x.FrequentItemsSketch(64),
			"n is 0, expected 1":           s.ApproxTopK(0),
		} {
			_, err := e.Records(nil, record).Select(refused.As("y")).Schema(t.Context())
			require.ErrorContains(t, err, message)
		}
	})
}

// TestQuantileSketches compares quantiles with exact ones, whole and merged sketches, and their numbers with those of values.
func TestQuantileSketches(t *testing.T) {
	record := sketched(t, 6000)
	k, part, x, sketch := gpuframe.Col("k"), gpuframe.Col("part"), gpuframe.Col("x"), gpuframe.Col("sketch")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, record.NewSlice(0, 1000), record.NewSlice(1000, 1001), record.NewSlice(1001, 6000))
		for name, value := range map[string]gpuframe.Expr{"doubles": x, "floats": x.Cast(arrow.PrimitiveTypes.Float32), "integers": x.Cast(arrow.PrimitiveTypes.Int16),
			"decimals": x.Cast(&arrow.Decimal128Type{Precision: 9, Scale: 2})} {
			exact := q.GroupBy(k).Agg(value.QuantileWith(0.9, "discrete").Cast(arrow.PrimitiveTypes.Float64), x.Count().As("n"), x.Max().As("most"))
			whole := q.GroupBy(k).Agg(value.KLLSketch(200).As("sketch"))
			merged := q.GroupBy(k, part).Agg(value.KLLSketch(200).As("sketch")).GroupBy(k).Agg(sketch.KLLMerge().As("sketch"))
			direct := cells(t, q.GroupBy(k).Agg(value.ApproxQuantile(0.9).As("q")).Sort(k))
			for i, row := range cells(t, exact.Sort(k)) {
				require.InDelta(t, row[1], direct[i][1], 16, name) // of 500 different values, 1.33 % are 7 and 2 errors 14
				for _, sketches := range []gpuframe.Query{whole, merged} {
					read := cells(t, sketches.Sort(k).Select(sketch.KLLQuantile(0.9).As("q"), sketch.KLLCount().As("n"), sketch.KLLQuantile(1).As("most"), sketch.KLLRank(1e9).As("rank"),
						sketch.KLLRank(149).As("middle")))[i]
					require.InDelta(t, row[1], read[0], 16, name)
					require.Equal(t, []any{row[2], row[3], 1.0}, read[1:4], name)
					require.InDelta(t, 0.5, read[4], 0.03, name)
				}
			}
			require.Equal(t, direct, cells(t, whole.Sort(k).Select(k, sketch.KLLQuantile(0.9).As("q"))), name)
		}
		none := q.Filter(k.Lt(0)).Select(x.KLLSketch(8).As("sketch"))
		require.Equal(t, [][]any{{int64(0), nil, nil}}, cells(t, none.Select(sketch.KLLCount().As("n"), sketch.KLLQuantile(0.5).As("q"), sketch.KLLRank(0).As("r"))), "no rows")
		require.Equal(t, [][]any{{nil}}, cells(t, q.Filter(k.Lt(0)).Select(x.ApproxQuantile(0.5).As("q"))), "no rows")
		require.Equal(t, [][]any{{nil, nil, nil}}, cells(t, q.Head(1).Select(gpuframe.Lit("00ff").Unhex().As("sketch")).
			Select(sketch.KLLCount().As("n"), sketch.KLLQuantile(0.5).As("q"), sketch.KLLRank(1).As("r"))), "other bytes")
	})
}

// TestQuantilesOfOtherTypes compares quantiles of times and strings, whole and of merged sketches, with exact ones.
func TestQuantilesOfOtherTypes(t *testing.T) {
	record := sketched(t, 6000)
	k, part, s, x, sketch := gpuframe.Col("k"), gpuframe.Col("part"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("sketch")
	whole := x.Cast(arrow.PrimitiveTypes.Int32)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, record.NewSlice(0, 1000), record.NewSlice(1000, 6000))
		for name, test := range map[string]struct {
			value, integer gpuframe.Expr
		}{
			"dates":      {whole.Cast(arrow.FixedWidthTypes.Date32), whole},
			"timestamps": {whole.Cast(arrow.PrimitiveTypes.Int64).Cast(&arrow.TimestampType{Unit: arrow.Nanosecond}), whole},
			"durations":  {whole.Cast(arrow.PrimitiveTypes.Int64).Cast(arrow.FixedWidthTypes.Duration_ms), whole},
		} {
			exact := cells(t, q.GroupBy(k).Agg(test.integer.QuantileWith(0.9, "discrete").Cast(arrow.PrimitiveTypes.Int64).As("q")).Sort(k))
			direct := q.GroupBy(k).Agg(test.value.ApproxQuantile(0.9).As("q")).Sort(k)
			integer := arrow.DataType(arrow.PrimitiveTypes.Int64)
			if name == "dates" {
				integer = arrow.PrimitiveTypes.Int32
			}
			merged := q.GroupBy(k, part).Agg(test.value.KLLSketch(200).As("sketch")).GroupBy(k).Agg(sketch.KLLLongsMerge().As("sketch")).Sort(k)
			own := cells(t, direct.Select(gpuframe.Col("q").Cast(integer).Cast(arrow.PrimitiveTypes.Int64).As("q")))
			others := cells(t, merged.Select(sketch.KLLLongsQuantile(0.9).As("q"), sketch.KLLLongsRank(149).As("r"), sketch.KLLCount().As("n")))
			for i, row := range exact {
				require.InDelta(t, row[1], own[i][0], 16, name)
				require.InDelta(t, row[1], others[i][0], 16, name)
				require.InDelta(t, 0.5, others[i][1], 0.03, name)
			}
		}
		strings := q.Filter(k.Eq(1)).Select(s.KLLSketch(200).As("sketch"), s.ApproxQuantile(0.5).As("q"), s.Max().As("most"), s.Count().As("n"))
		row := cells(t, strings.Select(sketch.KLLItemsQuantile(0.5).As("a"), gpuframe.Col("q"), sketch.KLLItemsQuantile(1).As("b"), gpuframe.Col("most"), sketch.KLLCount().As("c"), gpuframe.Col("n"),
			sketch.KLLItemsRank("zebra").As("r")))[0]
		require.Equal(t, []any{row[0], row[2], row[4], 1.0}, []any{row[1], row[3], row[5], row[6]})
		halves := q.Filter(k.Eq(1)).GroupBy(part).Agg(s.KLLSketch(200).As("sketch")).Select(sketch.KLLItemsMerge().As("sketch"))
		below := cells(t, q.Filter(k.Eq(1)).Select(s.Le(cells(t, halves.Select(sketch.KLLItemsQuantile(0.5).As("a")))[0][0]).Cast(arrow.PrimitiveTypes.Float64).Mean().As("m")))
		require.InDelta(t, 0.5, below[0][0], 0.03)
		require.Equal(t, [][]any{{nil, nil, nil}}, cells(t, strings.Select(sketch.KLLQuantile(0.5).As("a"), sketch.KLLLongsQuantile(0.5).As("b"), sketch.FrequentItems().As("c"))), "other kinds")
	})
}

// TestFrequentItemsOfGroups compares bounds with exact numbers, of whole and of merged sketches.
func TestFrequentItemsOfGroups(t *testing.T) {
	record := sketched(t, 6000)
	k, part, s, x, sketch, item := gpuframe.Col("k"), gpuframe.Col("part"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("sketch"), gpuframe.Col("items")
	number := x.Cast(arrow.PrimitiveTypes.Int32).FloorDiv(100)
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, record.NewSlice(0, 1000), record.NewSlice(1000, 6000))
		for name, test := range map[string]struct {
			value       gpuframe.Expr
			merge, read func(gpuframe.Expr) gpuframe.Expr
		}{
			"strings":  {s, gpuframe.Expr.FrequentItemsMerge, gpuframe.Expr.FrequentItems},
			"integers": {number, gpuframe.Expr.FrequentLongsMerge, gpuframe.Expr.FrequentLongs},
		} {
			exact := map[string]int64{}
			for _, row := range cells(t, q.Filter(test.value.IsValid()).GroupBy(k, test.value.As("v")).Agg(gpuframe.Count().As("n"))) {
				exact[fmt.Sprint(row[0], row[1])] = row[2].(int64)
			}
			whole := q.GroupBy(k).Agg(test.value.FrequentItemsSketch(1024).As("sketch"))
			merged := q.GroupBy(k, part).Agg(test.value.FrequentItemsSketch(1024).As("sketch")).GroupBy(k).Agg(test.merge(sketch).As("sketch"))
			for _, sketches := range []gpuframe.Query{whole, merged} {
				rows := cells(t, sketches.Select(k, test.read(sketch).As("items")).Explode("items").Select(k, item.Field("item").As("v"), item.Field("lower").As("l"),
					item.Field("upper").As("u"), item.Field("estimate").As("e")))
				require.NotEmpty(t, rows, name)
				for _, row := range rows {
					n := exact[fmt.Sprint(row[0], row[1])]
					require.True(t, row[2].(int64) <= n && n <= row[3].(int64) && row[4] == row[3], "%s: %v occurs %d times", name, row, n)
				}
			}
		}
		require.Equal(t, [][]any{{nil, nil}}, cells(t, q.Head(1).Select(gpuframe.Lit("00ff").Unhex().As("sketch")).Select(sketch.FrequentItems().As("a"), sketch.FrequentLongs().As("b"))), "other bytes")
	})
}

// TestTopValues compares the most frequent values with counts of them.
func TestTopValues(t *testing.T) {
	record := sketched(t, 6000)
	k, s, x, n := gpuframe.Col("k"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("n")
	value := gpuframe.Col("v")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := e.Records(nil, record.NewSlice(0, 1000), record.NewSlice(1000, 6000))
		weighted := gpuframe.If(x.Mod(7).Ge(3), 3, x.Mod(7)) // 3 is most frequent
		for name, v := range map[string]gpuframe.Expr{"floats": weighted, "integers": weighted.Cast(arrow.PrimitiveTypes.Int64), "bools": x.Gt(0), "strings": s.SubstringAt(7, 1),
			"dates": weighted.Cast(arrow.PrimitiveTypes.Int32).Cast(arrow.FixedWidthTypes.Date32)} {
			most := q.Filter(v.IsValid()).GroupBy(k, v.As("v")).Agg(gpuframe.Count().As("n"))
			want := map[any]int64{}
			for _, row := range cells(t, most.GroupBy(k).Agg(n.Max().As("n")).Sort(k)) {
				want[row[0]] = row[1].(int64)
			}
			top := q.GroupBy(k).Agg(v.ApproxTopK(1).As("v")).Explode("v")
			rows := cells(t, top.Join(most, gpuframe.Inner, "k", "v").Select(k, n))
			require.Len(t, rows, len(want), name)
			for _, row := range rows {
				require.Equal(t, want[row[0]], row[1], name)
			}
		}
		all := cells(t, q.Select(k.ApproxTopK(5).As("v")).Explode("v"))
		require.Equal(t, [][]any{{int64(0)}, {int64(1)}, {int64(2)}}, all, "equally frequent")
		require.Equal(t, [][]any{{int64(0)}}, cells(t, q.Filter(k.Lt(0)).Select(s.ApproxTopK(3).As("v")).Select(value.ListLength().As("n"))), "no rows")
	})
}

// TestLongFrequentItems reads more text than offsets reach to, a few sketches at a time, and refuses a single sketch of more.
func TestLongFrequentItems(t *testing.T) {
	record := sketched(t, 6000)
	k, s, sketch := gpuframe.Col("k"), gpuframe.Col("s"), gpuframe.Col("sketch")
	e := engineOn(t, devicetest.Open(t, "host"))
	sketches, err := e.Records(nil, record).Filter(k.Gt(0)).GroupBy(k).Agg(s.FrequentItemsSketch(64).As("sketch")).Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, sketches.Release()) }()
	query := sketches.Query().Select(sketch.FrequentItems().As("items")).Explode("items").Select(gpuframe.Col("items").Field("item").LengthBytes().Sum().As("n"))
	bytes := cells(t, query)[0][0].(int64)
	_, err = query.Collect(strategy.WithMaximumOffset(t.Context(), bytes/4))
	require.ErrorIs(t, err, memory.ErrOverflow)
	require.ErrorContains(t, err, "their offsets reach to")
	f, err := query.Collect(strategy.WithMaximumOffset(t.Context(), bytes-1))
	require.NoError(t, err)
	require.Equal(t, [][]any{{bytes}}, cells(t, f.Query()))
	require.NoError(t, f.Release())
}

// TestSketchesOfTables compares aggregates of many tables, whose states are merged, with those in an order, which have the list
// of the values of a group, and with exact quantiles; also with a budget that divides tables.
func TestSketchesOfTables(t *testing.T) {
	const rows, tables = 3000, 40
	record := sketched(t, rows)
	var parts []arrow.Record
	for i := range tables {
		parts = append(parts, record.NewSlice(int64(i*rows/tables), int64((i+1)*rows/tables)))
	}
	k, s, x, sketch := gpuframe.Col("k"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("sketch")
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		small, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(2<<20))
		require.NoError(t, err)
		defer func() { require.NoError(t, small.Close()) }()
		unlimited := engineOn(t, dev)
		for name, e := range map[string]*gpuframe.Engine{"no budget": unlimited, "a budget": small} {
			q, together := e.Records(nil, parts...), unlimited.Records(nil, record)
			list := map[string]gpuframe.Expr{
				"hll": s.HLLSketch(11), "few": x.HLLSketch(11).Where(x.Lt(-90)), "none": x.HLLSketch(4).Where(gpuframe.Lit(false)), "distinct": s.ApproxCountDistinct(), "count": x.KLLSketch(200).KLLCount(),
				"least": x.ApproxQuantile(0), "most": s.ApproxQuantile(1), "most where": x.ApproxQuantile(1).Where(x.Lt(17)), "no quantile": x.ApproxQuantile(0.5).Where(x.Gt(1e6)),
			}
			var groups, lists []gpuframe.Expression
			for name, value := range list {
				groups, lists = append(groups, value.As(name)), append(lists, value.OrderBy(x).As(name))
			}
			names := slices.Sorted(maps.Keys(list))
			require.Equal(t, lines(t, together.GroupBy(k).Agg(lists...).Sort(k).Select(names)), lines(t, q.GroupBy(k).Agg(groups...).Sort(k).Select(names)), name)
			require.Equal(t, lines(t, together.Select(lists).Select(names)), lines(t, q.Select(groups).Select(names)), name)
			require.Equal(t, [][]any{{int64(0), nil, int64(0), nil}}, cells(t, q.Filter(k.Lt(0)).Select(s.ApproxCountDistinct().As("n"), s.ApproxQuantile(0.5).As("q"), x.KLLSketch(8).KLLCount().As("c"), s.Unhex().KLLMerge().As("m"))), name)
			if e == small {
				continue
			}
			for i, row := range cells(t, q.GroupBy(k).Agg(x.QuantileWith(0.3, "discrete").As("exact"), x.ApproxQuantile(0.3).As("q"), x.KLLSketch(200).KLLQuantile(0.3).As("read")).Sort(k)) {
				require.InDelta(t, row[1], row[2], 16, "%s %d", name, i)
				require.InDelta(t, row[1], row[3], 16, "%s %d", name, i)
			}
			states := q.GroupBy(k, "part").Agg(s.HLLSketch(11).As("sketch"))
			damaged := states.With(gpuframe.If(k.Eq(1).And(gpuframe.Col("part").Eq(3)), gpuframe.Lit("00ff").Unhex(), sketch).As("sketch"))
			merged := cells(t, damaged.GroupBy(k).Agg(sketch.HLLMerge().HLLEstimate().As("n"), sketch.HLLMerge().Where(gpuframe.Col("part").Lt(0)).As("none")).Sort(k))
			require.Nil(t, merged[1][1], "%s: a value that is no sketch", name)
			require.NotNil(t, merged[0][1], name)
			require.Nil(t, merged[0][2], "%s: no sketches", name)
		}
	})
}

// TestProblemsOfSketches has messages of functions that others compute: they name the function that was called, and no part of it.
func TestProblemsOfSketches(t *testing.T) {
	record := sketched(t, 10)
	e := engineOn(t, devicetest.Open(t, "host"))
	k, s, x := gpuframe.Col("k"), gpuframe.Col("s"), gpuframe.Col("x")
	q := e.Records(nil, record).With(gpuframe.MapOf(s.Split(" "), s.Split(" ")).As("map"))
	entries := gpuframe.Col("map")
	for message, refused := range map[string]gpuframe.Expr{
		"approx_top_k: n is 0, expected 1 to 1000000":           x.ApproxTopK(0),
		"approx_top_k: values of map<utf8, utf8":                entries.ApproxTopK(2),
		"approx_top_k(`sum(x)`) is an aggregate of an":          x.Sum().ApproxTopK(2),
		"entropy: cannot compare map<":                          entries.Entropy(),
		"entropy(`mean(x)`) is an aggregate of an":              x.Mean().Entropy(),
		"histogram: the elements: values of type map<":          entries.Histogram(),
		"histogram(`max(x)`) is an aggregate of an":             x.Max().Histogram(),
		"lg_k is 3, expected 4 to 21":                           x.HLLSketch(3),
		"values of map[utf8, utf8], expected numbers":           entries.ApproxCountDistinct(),
		"approx_count_distinct(`sum(x)`) is an aggregate of an": x.Sum().ApproxCountDistinct(),
		"the rank is 2, expected 0 to 1":                        x.ApproxQuantile(2),
		"values of bool, expected numbers, decimals, times":     x.Gt(0).KLLSketch(200),
	} {
		for verb, query := range map[string]gpuframe.Query{
			"groups": q.GroupBy(k).Agg(refused.As("y")), "sets": q.Rollup(k).Agg(refused.As("y")), "rows": q.Select(refused.As("y")), "windows": q.With(refused.Over(gpuframe.By(k)).As("y")),
		} {
			_, err := query.Schema(t.Context())
			require.ErrorContains(t, err, message, verb)
			for _, part := range []string{"frequent_values", "distinct_", "count_values", "list(", "list_", "top_items", "concat", "quantile_of", "\x00"} {
				require.NotContains(t, err.Error(), part, verb)
			}
		}
	}
	for message, refused := range map[string]gpuframe.Expr{
		"approx_top_k: its condition is float64, expected bool":   x.ApproxTopK(2).Where(x),
		"entropy: its condition is utf8, expected bool":           x.Entropy().Where(s),
		"approx_count_distinct(x) where s: its condition is utf8": x.ApproxCountDistinct().Where(s),
	} {
		_, err := q.GroupBy(k).Agg(refused.As("y")).Schema(t.Context())
		require.ErrorContains(t, err, message)
	}
}
