package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// groupFigure is one group-by, of a table that is made for it.
type groupFigure struct {
	name       string
	columns    []expr.Expr
	keys       []string
	aggregates []group.Aggregate
	// bytes is the number of bytes of a row that have to be read.
	bytes float64
	// share is the required part of the reach: of the rate at which the columns are read.
	share float64
	// than is an earlier figure, and times the most that this one may take relative to it.
	than  string
	times float64
	// rows is the number of rows, if it is not that of the others.
	rows int
	// choice is how the groups are found and added up, if that is not left to the operator.
	choice strategy.Group
	// anew groups another slice of the table in each call, of which nothing is known.
	anew bool
}

// groupings are the figures for tables of many rows.
func (b *bench) groupings() []groupFigure {
	f64, i32 := arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32
	row := expr.Col("row")
	unit := func(seed int) expr.Expr {
		return expr.Hash(row, expr.Lit(int64(seed))).BitAnd(expr.Lit(uint64(1<<53 - 1))).CastWrap(f64).Mul(expr.Lit(0x1p-53))
	}
	key := func(groups int) expr.Expr { return unit(1).Mul(expr.Lit(float64(groups))).CastWrap(i32).As("key") }
	x := unit(2).As("x")
	sum := []group.Aggregate{group.Sum(expr.Col("x"))}
	single := func(name string, key expr.Expr, share float64) groupFigure {
		return groupFigure{name: name, columns: []expr.Expr{key, x}, keys: []string{"key"}, aggregates: sum, bytes: 12, share: share}
	}
	against := func(f groupFigure, than string, times float64) groupFigure {
		f.than, f.times = than, times
		return f
	}
	figures := []groupFigure{
		single("sum f64, 100 groups", key(100), 0.75),
		single("sum f64, 10^4 groups", key(10_000), 0.5),
		single("sum f64, 10^6 groups", key(1_000_000), 0.15),
		single("sum f64, 2^26 groups", key(1<<26), 0.09),
	}
	name := func(exponent int) string { return fmt.Sprintf("curve 2^%d groups", exponent) }
	for exponent := 0; 1<<exponent <= b.rows; exponent++ {
		f := single(name(exponent), key(1<<exponent), 0)
		if exponent > 0 {
			f = against(f, name(exponent-1), 1.6)
		}
		figures = append(figures, f)
	}
	for _, exponent := range []int{13, 14, 15, 16, 17, 18} {
		f := single(name(exponent), key(1<<exponent), 0)
		variants := []groupVariant{
			{"whole slices", strategy.Group{Without: strategy.Queues}},
			{"whole slices, words of counts", strategy.Group{Without: strategy.Queues | strategy.DerivedMarks}},
			{"whole slices, words of counts, tiles with products", strategy.Group{Without: strategy.Queues | strategy.DerivedMarks | strategy.LinearTiles}},
			{"partitions", strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1}},
			{"partitions, moves of any columns", strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, Without: strategy.PlainMoves, MeasuredRows: 1}},
			{"records", strategy.Group{Add: strategy.Records, MeasuredRows: 1}},
		}
		switch {
		case exponent < 15:
			variants = variants[:3]
		case exponent == 17:
			variants = variants[3:] // whole slices are too many
		case exponent == 18:
			variants = variants[3:5] // it has records
		}
		figures = append(figures, f.variants(variants)...)
	}
	skewedKey := func(groups float64) expr.Expr {
		return expr.If(unit(3).Lt(expr.Lit(0.9)), expr.Lit(int32(7)), unit(1).Mul(expr.Lit(groups)).CastWrap(i32)).As("key")
	}
	sortedKey := func(groups float64) expr.Expr {
		return row.CastWrap(f64).Mul(expr.Lit(groups / float64(b.rows))).CastWrap(i32).As("key")
	}
	figures = append(figures,
		against(single("one key has 90 % of the rows", skewedKey(1e6), 0), "sum f64, 10^6 groups", 3),
		against(single("all rows are equal", row.BitAnd(expr.Lit(int32(0))).As("key"), 0), "sum f64, 100 groups", 3),
		against(single("distinct keys", row.CastWrap(i32).As("key"), 0), name(26), 3),
		against(single("sorted, 10^6 groups", sortedKey(1e6), 0), "sum f64, 10^6 groups", 3),
		against(single("one key has 90 % of the rows, 2^17 groups", skewedKey(1<<17), 0), name(17), 3),
		against(single("sorted, 2^17 groups", sortedKey(1<<17), 0), name(17), 3),
	)
	wide := groupFigure{name: "eight aggregates of four f64, 1,000 groups", columns: []expr.Expr{key(1000)}, keys: []string{"key"}, bytes: 36, share: 1 / 1.3}
	for i := range 4 {
		name := fmt.Sprint("x", i)
		wide.columns = append(wide.columns, unit(10+i).As(name))
		wide.aggregates = append(wide.aggregates, group.Sum(expr.Col(name)), group.Max(expr.Col(name)))
	}
	whole := func(groups int) groupFigure {
		decimal := &arrow.Decimal128Type{Precision: 38, Scale: 2}
		f := groupFigure{name: fmt.Sprintf("sum decimal128, %d groups", groups), keys: []string{"key"}, bytes: 20,
			columns:    []expr.Expr{key(groups), expr.Hash(row, expr.Lit(int64(4))).BitAnd(expr.Lit(uint64(1<<40 - 1))).CastWrap(arrow.PrimitiveTypes.Int64).Cast(decimal).As("x")},
			aggregates: sum,
		}
		return f
	}
	figures = append(figures, b.groupVariants(single("sum f64, 10^6 groups", key(1_000_000), 0), single("sum f64, 2^26 groups", key(1<<26), 0))...)
	figures = append(figures, scatteredKeys(key, unit, row, x)...)
	figures = append(figures, severalKeys(unit, row)...)
	small := func(seed int, below float64, name string) expr.Expr {
		return unit(seed).Mul(expr.Lit(below)).CastWrap(i32).As(name)
	}
	joint := groupFigure{name: "correlation of two int32, 10^4 groups", keys: []string{"key"}, bytes: 12,
		columns:    []expr.Expr{key(10_000), small(5, 5, "v1"), small(6, 15, "v2")},
		aggregates: []group.Aggregate{group.Correlation(expr.Col("v1"), expr.Col("v2"))},
	}
	deviation := single("standard deviation of f64, 10^4 groups", key(10_000), 0)
	deviation.aggregates = []group.Aggregate{group.StdDev(expr.Col("x"), 1)}
	figures = append(figures, joint, deviation)
	conditional := single("sum f64 where x < 0.5, 100 groups", key(100), 0.75).where()
	figures = append(figures, wide, whole(1_000_000), conditional, whole(128), against(whole(129), "sum decimal128, 128 groups", 1.05))
	figures = append(figures, wide.variants([]groupVariant{{"all bits of extremes", strategy.Group{Without: strategy.HighHalves}}, {"words of counts", strategy.Group{Without: strategy.DerivedMarks}}})...)
	products := []groupVariant{{"tiles with products", strategy.Group{Without: strategy.LinearTiles}}}
	return append(append(figures, conditional.variants(products)...), whole(128).variants(products)...)
}

// anyRatio is the bar of a figure that is only compared.
const anyRatio = 1000

// scatteredKeys are sums by scattered i64: in the way that is chosen by an estimate of the groups, by a hash table that numbers
// the rows, and by partitions by hashes. Columns remember their bounds and the estimate, so calls with these look for them in a slice
// of the table. Skewed, sorted and distinct keys follow.
func scatteredKeys(key func(groups int) expr.Expr, unit func(seed int) expr.Expr, row, x expr.Expr) (figures []groupFigure) {
	sum, i64 := []group.Aggregate{group.Sum(expr.Col("x"))}, arrow.PrimitiveTypes.Int64
	scattered := func(e expr.Expr) expr.Expr { return expr.Hash(e).CastWrap(i64).As("key") }
	sumBy := func(name string, key expr.Expr) groupFigure {
		return groupFigure{name: name, columns: []expr.Expr{key, x}, keys: []string{"key"}, aggregates: sum, bytes: 16}
	}
	name := func(groups int) string { return fmt.Sprintf("sum f64, %d scattered groups", groups) }
	for _, groups := range []int{1000, 10_000, 30_000, 100_000, 1_000_000, 1 << 26} {
		chosen := sumBy(name(groups), scattered(key(groups)))
		figures = append(figures, chosen)
		for _, v := range []struct {
			name   string
			choice strategy.Group
			anew   bool
		}{
			{"numbered", strategy.Group{Find: strategy.Numbers}, false},
			{"by hashes", strategy.Group{Find: strategy.Hashes, Groups: groups}, false},
			{"with bounds and estimate", strategy.Group{}, true},
			{"numbered, with bounds", strategy.Group{Find: strategy.Numbers}, true},
		} {
			f := chosen
			f.name, f.choice, f.anew, f.than, f.times = chosen.name+", "+v.name, v.choice, v.anew, chosen.name, anyRatio
			figures = append(figures, f)
		}
	}
	uniform, large := name(1_000_000), name(1<<26)
	million := func(fraction expr.Expr) expr.Expr {
		return fraction.Mul(expr.Lit(1e6)).CastWrap(arrow.PrimitiveTypes.Int32)
	}
	skewed := expr.If(unit(3).Lt(expr.Lit(0.9)), expr.Lit(int32(7)), million(unit(1)))
	sorted := row.CastWrap(i64).ShiftRight(expr.Lit(int64(7))).Mul(expr.Lit(int64(1)<<40 + 1)).As("key")
	for _, f := range []groupFigure{
		sumBy("scattered keys, one has 90 % of the rows", scattered(skewed)),
		sumBy("scattered keys, sorted, 2^20 groups", sorted),
		sumBy("scattered keys, distinct", scattered(row)),
	} {
		f.than, f.times = uniform, 3
		if f.name == "scattered keys, distinct" {
			f.than = large
		}
		numbered := f
		numbered.name, numbered.choice, numbered.than, numbered.times = f.name+", numbered", strategy.Group{Find: strategy.Numbers}, f.name, anyRatio
		figures = append(figures, f, numbered)
	}
	return figures
}

// severalKeys are group-bys by several keys and of sorted values: those of db-benchmark that take most time.
func severalKeys(unit func(seed int) expr.Expr, row expr.Expr) []groupFigure {
	i32 := arrow.PrimitiveTypes.Int32
	below := func(seed, n int) expr.Expr {
		return unit(seed).Mul(expr.Lit(float64(n))).CastWrap(i32).As(fmt.Sprint("key", seed))
	}
	x, ascending := unit(2).As("x"), row.CastWrap(arrow.PrimitiveTypes.Float64).As("x")
	operand := expr.Col("x")
	largest := func(name string, groups int, values expr.Expr) groupFigure {
		return groupFigure{name: name, columns: []expr.Expr{below(30, groups), values}, keys: []string{"key30"}, aggregates: []group.Aggregate{group.Largest(operand, 2)}, bytes: 12}
	}
	distinct := groupFigure{name: "sum f64 by six keys, distinct rows", bytes: 32, aggregates: []group.Aggregate{group.Sum(operand), group.CountAll()}, columns: []expr.Expr{x, row.CastWrap(i32).As("last")}}
	for i, n := range []int{100, 100, 1_000_000, 100, 1_000_000} {
		distinct.columns = append(distinct.columns, below(30+i, n))
		distinct.keys = append(distinct.keys, fmt.Sprint("key", 30+i))
	}
	distinct.keys = append(distinct.keys, "last")
	return append(medians(unit, row), []groupFigure{
		largest("largest two f64, 10^6 groups", 1_000_000, x), largest("largest two f64, 100 groups", 100, x),
		largest("largest two ascending f64, 10^6 groups", 1_000_000, ascending), largest("largest two ascending f64, 100 groups", 100, ascending),
		distinct,
	}...)
}

// medians are medians of groups by a sort of all rows, and in the way that the operator chooses.
func medians(unit func(seed int) expr.Expr, row expr.Expr) (figures []groupFigure) {
	i32 := arrow.PrimitiveTypes.Int32
	key := func(groups int) expr.Expr { return unit(30).Mul(expr.Lit(float64(groups))).CastWrap(i32).As("key30") }
	other := unit(31).Mul(expr.Lit(100.0)).CastWrap(i32).As("key31")
	skewed := expr.If(unit(32).Lt(expr.Lit(0.9)), expr.Lit(int32(7)), unit(30).Mul(expr.Lit(1e4)).CastWrap(i32)).As("key30")
	x, five := unit(2).As("x"), unit(2).Mul(expr.Lit(5.0)).CastWrap(i32).As("x")
	ascending := row.CastWrap(arrow.PrimitiveTypes.Float64).As("x")
	for _, f := range []groupFigure{
		{name: "median f64, 100 x 100 groups", columns: []expr.Expr{key(100), other, x}, keys: []string{"key30", "key31"}, bytes: 16},
		{name: "median f64, 1 group", columns: []expr.Expr{key(1), x}},
		{name: "median f64, 100 groups", columns: []expr.Expr{key(100), x}},
		{name: "median f64, 10^5 groups", columns: []expr.Expr{key(100_000), x}},
		{name: "median f64, one key has 90 % of the rows", columns: []expr.Expr{skewed, x}},
		{name: "median ascending f64, 10^4 groups", columns: []expr.Expr{key(10_000), ascending}},
		{name: "median i32 of five values, 10^4 groups", columns: []expr.Expr{key(10_000), five}, bytes: 8},
	} {
		f.aggregates = []group.Aggregate{group.Median(expr.Col("x"))}
		if len(f.keys) == 0 {
			f.keys = []string{"key30"}
		}
		if f.bytes == 0 {
			f.bytes = 12
		}
		sorted := f
		sorted.name, sorted.choice = f.name+", by a sort", strategy.Group{Values: strategy.SortedValues}
		f.than, f.times = sorted.name, 1
		figures = append(figures, sorted, f)
	}
	return figures
}

// groupVariant is a choice of strategies.
type groupVariant struct {
	name   string
	choice strategy.Group
}

// variants are a figure with other choices, relative to it.
func (f groupFigure) variants(list []groupVariant) (figures []groupFigure) {
	for _, v := range list {
		variant := f
		variant.name, variant.choice, variant.share, variant.than, variant.times = f.name+", "+v.name, v.choice, 0, f.name, 1
		figures = append(figures, variant)
	}
	return figures
}

// groupVariants are other kernels, and other sizes of partitions and of tiles, than those that are chosen.
func (b *bench) groupVariants(bases ...groupFigure) (figures []groupFigure) {
	for _, f := range bases {
		figures = append(figures, f.variants([]groupVariant{
			{"moves of any columns", strategy.Group{Without: strategy.PlainMoves}},
			{"tiles of 8 rows", strategy.Group{MoveRows: 8}},
			{"two levels", strategy.Group{DigitBits: 1}},
			{"two levels, tiles of 8 rows", strategy.Group{DigitBits: 1, MoveRows: 8}},
			{"2^10 keys in a partition", strategy.Group{PlaceBits: 10}},
			{"2^11 keys in a partition", strategy.Group{PlaceBits: 11}},
			{"2^11 keys in a partition, tiles of 8 rows", strategy.Group{PlaceBits: 11, MoveRows: 8}},
			{"2^12 keys in a partition, large blocks", strategy.Group{PlaceBits: 12, PartitionThreads: 1024}},
		})...)
	}
	return figures
}

// where gives the aggregates a condition, which is to be part of the same pass.
func (f groupFigure) where() groupFigure {
	conditional := make([]group.Aggregate, len(f.aggregates))
	for i, a := range f.aggregates {
		conditional[i] = a.Where(expr.Col("x").Lt(expr.Lit(0.5)))
	}
	f.aggregates = conditional
	return f
}

// groupAll measures every group-by.
func (b *bench) groupAll(ctx context.Context) (err error) {
	if err := b.copyRate(ctx); err != nil {
		return err
	}
	numbers, err := b.rowNumbers(ctx, b.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, numbers.Release()) }()
	took := map[string]time.Duration{}
	t := table.New("group-by", "time", "Grows/s", "of reach", "bar")
	for _, f := range b.groupings() {
		if !b.match.MatchString(f.name) {
			continue
		}
		if took[f.name], err = b.groupOnce(ctx, numbers, f, b.onDevice); err != nil {
			t.Add(f.name, err.Error())
			continue
		}
		t.Add(b.groupLine(f, took)...)
	}
	if err := b.groupTexts(ctx, numbers, t, took); err != nil {
		return err
	}
	if err := show(fmt.Sprintf("Groups of %d rows", b.rows), t); err != nil || !b.match.MatchString("1,000 rows") {
		return err
	}
	return b.groupSmall(ctx)
}

func (b *bench) groupOnce(ctx context.Context, numbers *buffer.Buffer, f groupFigure, measure func(context.Context, work) (time.Duration, error)) (took time.Duration, err error) {
	data, err := expr.Project(ctx, numbers, f.columns, b.options())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	return measure(ctx, b.groupWork(data, f))
}

func (b *bench) groupLine(f groupFigure, took map[string]time.Duration) []string {
	seconds, rows := took[f.name].Seconds(), float64(b.rows)
	if f.rows > 0 {
		rows = float64(f.rows)
	}
	// The copy rate counts bytes read and bytes written.
	reached := rows * f.bytes / b.copied / seconds
	bar := ""
	if f.share > 0 {
		bar = fmt.Sprintf("≥ %.2f %s", f.share, verdict(reached >= f.share))
	}
	if than, known := took[f.than]; known {
		ratio := seconds / than.Seconds()
		bar = fmt.Sprintf("%.2f × the time of %q, at most %.2f %s", ratio, f.than, f.times, verdict(ratio <= f.times))
	}
	return []string{f.name, milliseconds(took[f.name]), fmt.Sprintf("%.1f", rows/seconds/1e9), fmt.Sprintf("%.3f", reached), bar}
}

// groupTexts measures group-bys of short strings: as many "id000" to "id099", and on an eighth of the rows a million different "id0000000000" to "id0000999999".
func (b *bench) groupTexts(ctx context.Context, numbers *buffer.Buffer, t *table.Table, took map[string]time.Duration) (err error) {
	for _, texts := range []struct {
		name, format  string
		rows, numbers int
		bytes, share  float64
	}{
		{`sum and mean f64 by "id%03d", 100 groups`, "id%03d", b.rows, 100, 4 + 5 + 8, 0.4},
		{`sum and mean f64 by "id%010d", 10^6 groups`, "id%010d", b.rows / 8, 1_000_000, 4 + 12 + 8, 0},
	} {
		f := groupFigure{name: texts.name, keys: []string{"text"}, bytes: texts.bytes, share: texts.share, rows: texts.rows,
			aggregates: []group.Aggregate{group.Sum(expr.Col("x")), group.Mean(expr.Col("x"))}}
		if !b.match.MatchString(f.name) {
			continue // the host takes seconds to make them
		}
		r, memo := rand.New(rand.NewPCG(1, 2)), make([][]byte, texts.numbers)
		err := b.groupTextsOf(ctx, numbers, t, took, f, func(to []byte) []byte {
			id := r.IntN(texts.numbers)
			if memo[id] == nil {
				memo[id] = fmt.Appendf(nil, texts.format, id)
			}
			return append(to, memo[id]...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// groupTextsOf measures a figure of a table of texts.
func (b *bench) groupTextsOf(ctx context.Context, numbers *buffer.Buffer, t *table.Table, took map[string]time.Duration, f groupFigure, text func([]byte) []byte) (err error) {
	rows := f.rows
	texts, err := b.uploadTexts(ctx, rows, text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, texts.Release()) }()
	first, err := numbers.Slice(0, int64(rows))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.Release()) }()
	x := expr.Col("row").CastWrap(arrow.PrimitiveTypes.Float64).Mul(expr.Lit(0x1p-27)).As("x")
	values, err := expr.Project(ctx, first, []expr.Expr{x}, b.options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, values.Release()) }()
	data, err := texts.AppendColumn(values.Schema().Field(0), values.Column(0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	if took[f.name], err = b.onDevice(ctx, b.groupWork(data, f)); err != nil {
		return err
	}
	t.Add(b.groupLine(f, took)...)
	return nil
}

// groupWork is the group-by of a figure.
func (b *bench) groupWork(data *buffer.Buffer, f groupFigure) work {
	return func(ctx context.Context) (grouped releaser, err error) {
		if f.choice != (strategy.Group{}) {
			ctx = strategy.WithGroup(ctx, f.choice)
		}
		input := data
		if f.anew {
			slice, err := data.Slice(0, data.Capacity())
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, slice.Release()) }()
			input = slice
		}
		return group.By(input, group.Columns(f.keys...)...).Aggregate(ctx, f.aggregates, group.ByOptions{Options: b.options()})
	}
}

// groupSmall measures a whole call for few rows.
func (b *bench) groupSmall(ctx context.Context) (err error) {
	const rows, most = 1000, 40 * time.Microsecond
	numbers, err := b.rowNumbers(ctx, rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, numbers.Release()) }()
	t := table.New("group-by", "whole call", "bar")
	for _, f := range b.groupings()[:1] {
		took, err := b.groupOnce(ctx, numbers, f, b.byClock)
		if err != nil {
			return err
		}
		t.Add(f.name, microseconds(took), fmt.Sprintf("≤ %s %s", microseconds(most), verdict(took <= most)))
	}
	return show(fmt.Sprintf("Groups of %d rows", rows), t)
}
