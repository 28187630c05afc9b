package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// joinAblation measures joins with one match for each row by the number of rows, with the
// choices that operators otherwise make: the table of the build side, whether the host waits before
// it looks for rows, and whether payloads are gathered. bench/kernels/partitioned_join.cu has
// partitions.
func (b *bench) joinAblation(ctx context.Context) error {
	t := table.New("rows of each side", "places", "hashed", "hashed, counted", "hashed, a payload of each side", "hashed, Grows/s")
	most := bits.Len(uint(b.rows)) - 1
	for n := min(10, most); n <= most; n++ {
		if err := b.joinOfSize(ctx, t, n); err != nil {
			t.Add(fmt.Sprintf("2^%d", n), err.Error())
		}
	}
	return show("Joins by size, ms", t)
}

// joinOfSize adds the line of joins of 2^n rows by 2^n rows.
func (b *bench) joinOfSize(ctx context.Context, t *table.Table, n int) (err error) {
	rows := 1 << n
	row := expr.Col("row")
	payload := expr.Hash(row, expr.Lit(int64(9))).CastWrap(arrow.PrimitiveTypes.Int64).As("payload")
	key := func(x expr.Expr) expr.Expr { return x.CastWrap(arrow.PrimitiveTypes.Int64).As("key") }
	// The step is odd, so it permutes the rows.
	scattered := row.CastWrap(arrow.PrimitiveTypes.Int64).Mul(expr.Lit(int64(7_654_321))).BitAnd(expr.Lit(int64(rows - 1)))
	var tables [2]*buffer.Buffer
	for side, x := range []expr.Expr{row, scattered} {
		projected, err := b.project(ctx, rows, func(int) []expr.Expr { return []expr.Expr{key(x), payload} })
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, projected.Release()) }()
		tables[side] = projected
	}
	took := map[string]time.Duration{}
	for name, c := range map[string]struct {
		run     func(*bench, *buffer.Buffer, *buffer.Buffer) work
		choices strategy.Join
	}{
		"places":   {joinRows(join.Options{}), strategy.Join{Find: strategy.MeasuredPlaces}},
		"hashed":   {joinRows(join.Options{}), strategy.Join{Find: strategy.HashTable}},
		"counted":  {joinRows(join.Options{}), strategy.Join{Find: strategy.HashTable, Pair: strategy.Counted}},
		"payloads": {joinTables(join.Options{}), strategy.Join{Find: strategy.HashTable}},
	} {
		w := c.run(b, tables[0], tables[1])
		if took[name], err = b.onDevice(ctx, func(ctx context.Context) (releaser, error) { return w(strategy.WithJoin(ctx, c.choices)) }); err != nil {
			return err
		}
	}
	t.Add(fmt.Sprintf("2^%d", n), milliseconds(took["places"]), milliseconds(took["hashed"]), milliseconds(took["counted"]), milliseconds(took["payloads"]),
		fmt.Sprintf("%.2f", float64(2*rows)/took["hashed"].Seconds()/1e9))
	return nil
}
