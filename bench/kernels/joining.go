package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// joinFigure is one join, of tables that are made for it. Numbers of rows are those of
// 2^27 rows, and scaled by -rows.
type joinFigure struct {
	name        string
	left, right int
	// columns of both sides, of a column "row" with the numbers of the rows
	leftColumns, rightColumns func(rows int) []expr.Expr
	run                       func(b *bench, left, right *buffer.Buffer) work
	// rate is the required number of rows of both sides in a second, in 10^9, and writes
	// the required time as a multiple of the time to write the row numbers of pairs.
	rate   float64
	writes float64
	pairs  int
	// choices force a strategy, to compare it with the one that the join selects.
	choices strategy.Join
}

// with returns the figure with another strategy, and without a bar.
func (f joinFigure) with(name string, choices strategy.Join) joinFigure {
	f.name, f.choices, f.rate, f.writes = f.name+", "+name, choices, 0, 0
	return f
}

// compared returns figures, each followed by itself with every table that its keys can have,
// and with pairs that are counted before they are made.
func compared(figures ...joinFigure) (all []joinFigure) {
	for _, f := range figures {
		all = append(all, f, f.with("places", strategy.Join{Find: strategy.MeasuredPlaces}), f.with("hashed", strategy.Join{Find: strategy.HashTable}),
			f.with("counted", strategy.Join{Pair: strategy.Counted}))
	}
	return all
}

// joinTables and joinRows run a join by the column "key".
func joinTables(o join.Options) func(*bench, *buffer.Buffer, *buffer.Buffer) work {
	return func(b *bench, left, right *buffer.Buffer) work {
		o.Options = b.options()
		return func(ctx context.Context) (releaser, error) {
			return join.Tables(ctx, left, right, join.Using("key"), o)
		}
	}
}

type twoColumns struct{ a, b *column.Column }

func (c twoColumns) Release() error { return errors.Join(c.a.Release(), c.b.Release()) }

func joinRows(o join.Options) func(*bench, *buffer.Buffer, *buffer.Buffer) work {
	return func(b *bench, left, right *buffer.Buffer) work {
		o.Options = b.options()
		return func(ctx context.Context) (releaser, error) {
			x, y, err := join.Rows(ctx, left, right, join.Using("key"), o)
			return twoColumns{x, y}, err
		}
	}
}

func joinAsOf(o join.AsOfOptions) func(*bench, *buffer.Buffer, *buffer.Buffer) work {
	return func(b *bench, left, right *buffer.Buffer) work {
		o.Options = b.options()
		o.LeftColumns, o.RightColumns = []string{"key"}, []string{"payload"}
		return func(ctx context.Context) (releaser, error) {
			return join.AsOf(ctx, left, right, join.Using("key")[0], o)
		}
	}
}

// joins are the figures. No column has nulls.
func joins() []joinFigure {
	i32, i64, f64 := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64
	row := expr.Col("row")
	random := func(x expr.Expr, seed int) expr.Expr { return expr.Hash(x, expr.Lit(int64(seed))) }
	below := func(seed int, most int) expr.Expr {
		return random(row, seed).BitAnd(expr.Lit(uint64(1<<53 - 1))).CastWrap(f64).Mul(expr.Lit(0x1p-53 * float64(most))).CastWrap(i32)
	}
	// zipf is a number from 0 on: number k comes about as often as 1 / (k+1), Zipf's law with
	// the exponent 1.
	zipf := func(most int) func(int) []expr.Expr {
		unit := random(row, 8).BitAnd(expr.Lit(uint64(1<<53 - 1))).CastWrap(f64)
		return func(int) []expr.Expr {
			return []expr.Expr{unit.Mul(expr.Lit(0x1p-53 * math.Log(float64(most)))).Exp().CastWrap(i32).Sub(expr.Lit(int32(1))).As("key"),
				random(row, 9).CastWrap(i64).As("payload")}
		}
	}
	payload := random(row, 9).CastWrap(i64).As("payload")
	// Keys that occur once on each side, in another order.
	forwards := func(int) []expr.Expr { return []expr.Expr{random(row, 1).CastWrap(i64).As("key"), payload} }
	backwards := func(rows int) []expr.Expr {
		return []expr.Expr{random(expr.Lit(int32(rows-1)).Sub(row), 1).CastWrap(i64).As("key"), payload}
	}
	// The matches of neighbouring rows are far from each other.
	scattered := func(rows int) []expr.Expr {
		step := 7_654_321
		for new(big.Int).GCD(nil, nil, big.NewInt(int64(step)), big.NewInt(int64(rows))).Int64() != 1 {
			step++
		}
		far := row.CastWrap(i64).Mul(expr.Lit(int64(step))).Mod(expr.Lit(int64(rows))).CastWrap(i32)
		return []expr.Expr{random(far, 1).CastWrap(i64).As("key"), payload}
	}
	numbers := func(most int) func(int) []expr.Expr {
		return func(int) []expr.Expr { return []expr.Expr{below(2, most).As("key"), payload} }
	}
	own := func(rows int) []expr.Expr {
		return []expr.Expr{expr.Lit(int32(rows - 1)).Sub(row).As("key"), payload}
	}
	trades := func(seed int) func(int) []expr.Expr {
		return func(rows int) []expr.Expr {
			return []expr.Expr{below(seed, rows).CastWrap(i64).As("key"), below(seed+1, 1000).As("symbol"), payload}
		}
	}
	times := func(rows int) []expr.Expr {
		return []expr.Expr{row.CastWrap(i64).As("key"), below(4, 1000).As("symbol"), payload}
	}
	sameKey := func(int) []expr.Expr { return []expr.Expr{row.Mul(expr.Lit(int32(0))).As("key"), payload} }
	const million = 1_000_000
	list := compared(joinFigure{name: "i32 by 1,000 keys, row numbers", left: 10 * million, right: 1000, leftColumns: numbers(1000), rightColumns: own, run: joinRows(join.Options{}), rate: 60},
		joinFigure{name: "i32 semi", left: 100 * million, right: 10 * million, leftColumns: numbers(20 * million), rightColumns: own, run: joinTables(join.Options{Kind: join.Semi}), rate: 25},
		joinFigure{name: "i32 in a small range, row numbers", left: 10 * million, right: 10 * million, leftColumns: numbers(10 * million), rightColumns: own, run: joinRows(join.Options{})},
		joinFigure{name: "i64, one match each, row numbers", left: 10 * million, right: 10 * million, leftColumns: forwards, rightColumns: backwards, run: joinRows(join.Options{}), rate: 18})
	list = append(list, []joinFigure{
		{name: "i64, one match each, scattered, row numbers", left: 10 * million, right: 10 * million, leftColumns: forwards, rightColumns: scattered, run: joinRows(join.Options{}), rate: 18},
		{name: "i64, one match each, scattered, payloads", left: 10 * million, right: 10 * million, leftColumns: forwards, rightColumns: scattered, run: joinTables(join.Options{}), rate: 12},
		{name: "i64, one match each, scattered, payloads, large", left: 100 * million, right: 100 * million, leftColumns: forwards, rightColumns: scattered, run: joinTables(join.Options{}), rate: 10},
		{name: "i64, one match each, payloads", left: 10 * million, right: 10 * million, leftColumns: forwards, rightColumns: backwards, run: joinTables(join.Options{}), rate: 12},
		{name: "i64, one match each, payloads, large", left: 100 * million, right: 100 * million, leftColumns: forwards, rightColumns: backwards, run: joinTables(join.Options{}), rate: 10},
		{name: "i64, left join, payloads", left: 10 * million, right: 10 * million, leftColumns: forwards, rightColumns: backwards, run: joinTables(join.Options{Kind: join.Left, Order: join.LeftOrder})},
		{name: "i32 by 1,000 keys, payloads", left: 10 * million, right: 1000, leftColumns: numbers(1000), rightColumns: own, run: joinTables(join.Options{})},
		{name: "i32 anti", left: 100 * million, right: 10 * million, leftColumns: numbers(20 * million), rightColumns: own, run: joinTables(join.Options{Kind: join.Anti}), rate: 25},
		{name: "25 build keys", left: 25, right: 9_600_000, leftColumns: own, rightColumns: numbers(25), run: joinRows(join.Options{Order: join.LeftOrder}), writes: 2, pairs: 9_600_000},
		{name: "a key with a million rows", left: 100, right: million, leftColumns: sameKey, rightColumns: sameKey, run: joinRows(join.Options{Order: join.LeftOrder}), writes: 2, pairs: 100 * million},
		{name: "a key with most rows", left: 10 * million, right: 1 * million, leftColumns: func(int) []expr.Expr { return []expr.Expr{row.As("key")} },
			rightColumns: func(int) []expr.Expr {
				return []expr.Expr{expr.If(below(5, 100).Eq(expr.Lit(int32(0))), row, expr.Lit(int32(7))).As("key")}
			}, run: joinRows(join.Options{}), writes: 2, pairs: million},
	}...)
	list = append(list,
		joinFigure{name: "Zipf 1.0 build keys", left: million, right: 10 * million, leftColumns: own, rightColumns: zipf(million),
			run: joinRows(join.Options{Order: join.LeftOrder}), writes: 2, pairs: 10 * million},
		joinFigure{name: "Zipf 1.0 probe keys", left: 10 * million, right: million, leftColumns: zipf(million), rightColumns: own,
			run: joinRows(join.Options{}), writes: 2, pairs: 10 * million})
	for _, sorted := range []bool{false, true} {
		right, rate, name := trades(6), 2.0, "as of, 1,000 symbols"
		if sorted {
			right, rate, name = times, 8, "as of, 1,000 symbols, sorted"
		}
		list = append(list, joinFigure{name: name, left: 100 * million, right: 100 * million, leftColumns: trades(4), rightColumns: right, rate: rate,
			run: joinAsOf(join.AsOfOptions{By: join.Using("symbol"), Sorted: sorted})})
	}
	return list
}

// joinAll measures every join.
func (b *bench) joinAll(ctx context.Context) error {
	if err := b.copyRate(ctx); err != nil {
		return err
	}
	t := table.New("join", "time", "Grows/s", "bar", "")
	for _, f := range joins() {
		if !b.match.MatchString(f.name) {
			continue
		}
		if err := b.joinOnce(ctx, t, f); err != nil {
			t.Add(f.name, err.Error())
		}
	}
	if b.match.MatchString("texts") {
		if err := b.joinTexts(ctx, t); err != nil {
			t.Add("texts", err.Error())
		}
	}
	if b.match.MatchString("whole call") {
		if err := b.joinSmall(ctx, t); err != nil {
			t.Add("whole call", err.Error())
		}
	}
	return show("Joins", t)
}

// scaled returns a number of rows for the rows of the run.
func (b *bench) scaled(rows int) int {
	return max(int(float64(rows)*float64(b.rows)/(1<<27)), min(rows, 25))
}

// project makes a table of columns of expressions on "row".
func (b *bench) project(ctx context.Context, rows int, columns func(rows int) []expr.Expr) (*buffer.Buffer, error) {
	numbers, err := b.rowNumbers(ctx, rows)
	if err != nil {
		return nil, err
	}
	projected, err := expr.Project(ctx, numbers, columns(rows), b.options())
	return projected, errors.Join(err, numbers.Release())
}

func (b *bench) joinOnce(ctx context.Context, t *table.Table, f joinFigure) (err error) {
	left, err := b.project(ctx, b.scaled(f.left), f.leftColumns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, left.Release()) }()
	right, err := b.project(ctx, b.scaled(f.right), f.rightColumns)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, right.Release()) }()
	w := f.run(b, left, right)
	b.addJoin(ctx, t, f, func(ctx context.Context) (releaser, error) { return w(strategy.WithJoin(ctx, f.choices)) })
	return nil
}

// addJoin adds the line of a join.
func (b *bench) addJoin(ctx context.Context, t *table.Table, f joinFigure, w work) {
	rows := b.scaled(f.left) + b.scaled(f.right)
	if f.writes == 0 {
		b.addRate(ctx, t, f.name, rows, f.rate, w)
		return
	}
	took, err := b.onDevice(ctx, w)
	if err != nil {
		t.Add(f.name, err.Error())
		return
	}
	written := 16 * float64(b.scaled(f.pairs)) / b.copied
	times := took.Seconds() / written
	t.Add(fmt.Sprintf("%s, %d pairs", f.name, b.scaled(f.pairs)), milliseconds(took), fmt.Sprintf("%.2f", float64(rows)/took.Seconds()/1e9),
		fmt.Sprintf("%.1f × the time to write, bar %g %s", times, f.writes, verdict(times <= f.writes)))
}

// joinTexts measures joins by strings.
func (b *bench) joinTexts(ctx context.Context, t *table.Table) (err error) {
	rows := b.scaled(10_000_000)
	var tables []*buffer.Buffer
	for side := range 2 {
		order := rand.New(rand.NewPCG(1, uint64(side))).Perm(rows)
		next := 0
		texts, err := b.uploadTexts(ctx, rows, func(to []byte) []byte {
			next++
			return fmt.Appendf(to, "id%d", order[next-1])
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, texts.Release()) }()
		tables = append(tables, texts)
	}
	b.addRate(ctx, t, "texts \"id%d\", row numbers", 2*rows, 2, func(ctx context.Context) (releaser, error) {
		x, y, err := join.Rows(ctx, tables[0], tables[1], join.Using("text"), join.Options{Options: b.options()})
		return twoColumns{x, y}, err
	})
	return nil
}

// joinSmall measures a whole call of 1,000 rows on each side.
func (b *bench) joinSmall(ctx context.Context, t *table.Table) (err error) {
	var tables []*buffer.Buffer
	for range 2 {
		projected, err := b.project(ctx, 1000, func(rows int) []expr.Expr {
			return []expr.Expr{expr.Col("row").As("key"), expr.Col("row").As("payload")}
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, projected.Release()) }()
		tables = append(tables, projected)
	}
	took, err := b.byClock(ctx, joinTables(join.Options{})(b, tables[0], tables[1]))
	if err != nil {
		return err
	}
	t.Add("1,000 by 1,000, whole call", microseconds(took), "", "≤ 60 µs "+verdict(took.Microseconds() <= 60))
	return nil
}
