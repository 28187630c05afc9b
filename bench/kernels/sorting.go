package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// sortFigure is one sort, of a table that is made for it.
type sortFigure struct {
	name    string
	columns []expr.Expr
	make    func(*bench, *buffer.Buffer) work
	// rate is the required number of rows in a second, in 10^9. rival is a peer, and
	// factor the required speed relative to it. than is an earlier figure, and times
	// the required speed relative to that one.
	rate   float64
	rival  string
	factor float64
	than   string
	times  float64
}

// sorts are the figures for tables of many rows. No column has nulls unless its name
// says so.
func (b *bench) sorts() []sortFigure {
	f32, f64, i32, i64 := arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	row := expr.Col("row")
	random := func(seed int, bits uint64) expr.Expr {
		return expr.Hash(row, expr.Lit(int64(seed))).BitAnd(expr.Lit(bits))
	}
	narrow := random(1, 1<<32-1).CastWrap(arrow.PrimitiveTypes.Uint32).As("key")
	wide := random(1, 1<<64-1)
	uniform := random(1, 1<<53-1).CastWrap(f64).Mul(expr.Lit(0x1p-53))
	payload := random(2, 1<<32-1).CastWrap(arrow.PrimitiveTypes.Uint32).As("payload")
	tenth := random(3, 0xff).Lt(expr.Lit(uint64(26)))
	below := func(seed int, most float64) expr.Expr {
		return random(seed, 1<<53-1).CastWrap(f64).Mul(expr.Lit(0x1p-53 * most)).CastWrap(i32)
	}
	var figures []sortFigure
	for _, k := range []struct {
		name, cub string
		key       expr.Expr
		nullable  bool
	}{
		{"u32", "u32", narrow, true},
		{"f32", "f32", uniform.CastWrap(f32).As("key"), false},
		{"u64", "u64", wide.As("key"), false},
		{"i64", "i64", wide.CastWrap(i64).As("key"), true},
		{"f64", "f64", uniform.As("key"), true},
	} {
		figures = append(figures,
			sortFigure{name: k.name, columns: []expr.Expr{k.key}, make: sortKeys, rival: "cub sort " + k.cub, factor: 1},
			sortFigure{name: k.name + " with u32", columns: []expr.Expr{k.key, payload}, make: sortBy("key"), rival: "cub sort " + k.cub + " with u32", factor: 1},
			sortFigure{name: k.name + " indices", columns: []expr.Expr{k.key}, make: indicesBy("key")},
		)
		if k.nullable {
			types := map[string]arrow.DataType{"u32": arrow.PrimitiveTypes.Uint32, "i64": i64, "f64": f64}
			figures = append(figures, sortFigure{
				name: k.name + ", 10 % nulls", columns: []expr.Expr{expr.If(tenth, expr.Null(types[k.name]), k.key).As("key null")},
				make: sortKeys, than: k.name, times: 1 / 1.1,
			})
		}
	}
	return append(figures,
		sortFigure{name: "i64 below 2^20", columns: []expr.Expr{random(1, 1<<20-1).CastWrap(i64).As("key")}, make: sortKeys, than: "i64", times: 2},
		sortFigure{name: "i64, sorted", columns: []expr.Expr{row.CastWrap(i64).As("key")}, make: sortKeys, than: "i64", times: 3},
		sortFigure{name: "i64, all equal", columns: []expr.Expr{row.CastWrap(i64).BitAnd(expr.Lit(int64(0))).As("key")}, make: sortKeys, than: "i64", times: 5},
		sortFigure{name: "three i32 below 1,000", columns: []expr.Expr{below(1, 1000).As("a"), below(2, 1000).As("b"), below(3, 1000).As("c")}, make: sortBy("a", "b", "c"), rate: 8},
		sortFigure{name: "i32 and f64", columns: []expr.Expr{narrow.CastWrap(i32).As("a"), uniform.As("b")}, make: sortBy("a", "b"), rate: 5},
		sortFigure{name: "decimal128", columns: []expr.Expr{wide.CastWrap(i64).Cast(&arrow.Decimal128Type{Precision: 38}).As("key")}, make: sortBy("key"), rate: 4},
		sortFigure{name: "top 100 of f64", columns: []expr.Expr{uniform.As("key")}, make: topOf(100), rate: 0.5 * b.copied / 8e9},
		sortFigure{name: "top 10,000 of f64", columns: []expr.Expr{uniform.As("key")}, make: topOf(10_000), rate: 0.4 * b.copied / 8e9},
	)
}

// sortAll measures every sort.
func (b *bench) sortAll(ctx context.Context) (err error) {
	if err := b.copyRate(ctx); err != nil {
		return err
	}
	numbers, err := b.rowNumbers(ctx, b.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, numbers.Release()) }()
	took := map[string]time.Duration{}
	t := table.New("sort", "time", "Grows/s", "bar", "")
	for _, f := range b.sorts() {
		if !b.match.MatchString(f.name) {
			continue
		}
		if took[f.name], err = b.sortOnce(ctx, numbers, f); err != nil {
			t.Add(f.name, err.Error())
			continue
		}
		t.Add(b.sortLine(f, took)...)
	}
	if err := errors.Join(b.sortTexts(ctx, t), b.searchAll(ctx, t)); err != nil {
		return err
	}
	return show(fmt.Sprintf("Sorts of %d rows", b.rows), t)
}

func (b *bench) sortOnce(ctx context.Context, numbers *buffer.Buffer, f sortFigure) (took time.Duration, err error) {
	data, err := expr.Project(ctx, numbers, f.columns, b.options())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	return b.onDevice(ctx, f.make(b, data))
}

func (b *bench) sortLine(f sortFigure, took map[string]time.Duration) []string {
	rate := float64(b.rows) / took[f.name].Seconds() / 1e9
	var bars []string
	if f.rate > 0 {
		bars = append(bars, fmt.Sprintf("≥ %.1f %s", f.rate, verdict(rate >= f.rate)))
	}
	if theirs, known := b.rivals[rival{f.rival, b.rows}]; known {
		ratio := theirs.Seconds() / took[f.name].Seconds()
		bars = append(bars, fmt.Sprintf("%.2f × %s (%s), bar %g %s", ratio, f.rival, milliseconds(theirs), f.factor, verdict(ratio >= f.factor)))
	}
	if f.than != "" {
		ratio := took[f.than].Seconds() / took[f.name].Seconds()
		bars = append(bars, fmt.Sprintf("%.2f × %s, bar %.2f %s", ratio, f.than, f.times, verdict(ratio >= f.times)))
	}
	return []string{f.name, milliseconds(took[f.name]), fmt.Sprintf("%.1f", rate), strings.Join(bars, "; ")}
}

func sortKeys(b *bench, data *buffer.Buffer) work {
	return func(ctx context.Context) (releaser, error) {
		return order.SortColumn(ctx, data.Column(0), order.ColumnOptions{Options: b.options()})
	}
}

func keysNamed(names []string) (keys []order.Key) {
	for _, name := range names {
		keys = append(keys, order.Key{Column: name})
	}
	return keys
}

func sortBy(names ...string) func(*bench, *buffer.Buffer) work {
	return func(b *bench, data *buffer.Buffer) work {
		return func(ctx context.Context) (releaser, error) {
			return order.Sort(ctx, data, keysNamed(names), b.options())
		}
	}
}

func indicesBy(names ...string) func(*bench, *buffer.Buffer) work {
	return func(b *bench, data *buffer.Buffer) work {
		return func(ctx context.Context) (releaser, error) {
			return order.Indices(ctx, data, keysNamed(names), b.options())
		}
	}
}

func topOf(k int) func(*bench, *buffer.Buffer) work {
	return func(b *bench, data *buffer.Buffer) work {
		return func(ctx context.Context) (releaser, error) {
			return order.TopKColumn(ctx, data.Column(0), k, order.TopOptions{Options: b.options()})
		}
	}
}

func (b *bench) sortColumn(data *buffer.Buffer, name string) work {
	return func(ctx context.Context) (releaser, error) {
		c, err := data.ColumnByName(name)
		if err != nil {
			return nil, err
		}
		return order.SortColumn(ctx, c, order.ColumnOptions{Options: b.options()})
	}
}
