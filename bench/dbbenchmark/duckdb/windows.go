package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	fastest "github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/measure"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// windowing is a function of windows of the table of the questions.
type windowing struct {
	name, text, over string
	windows          window.Windows
	function         window.Function
	// tolerance is the relative difference that the sums of the results may have. Rows with
	// equal keys have any order in DuckDB.
	tolerance float64
}

var windowings = []windowing{
	{
		"w1", "mean of 100 rows by id6", "avg(v3) over (order by id6 rows between 99 preceding and current row)",
		window.Windows{OrderBy: keysOf("id6")}, window.Mean(expr.Col("v3")).Rows(-99, 0), 1e-3,
	},
	{
		"w2", "the same by id6, v3", "avg(v3) over (order by id6, v3 rows between 99 preceding and current row)",
		window.Windows{OrderBy: keysOf("id6", "v3")}, window.Mean(expr.Col("v3")).Rows(-99, 0), 1e-9,
	},
	{
		"w3", "row_number by id4", "row_number() over (partition by id4 order by v3)",
		window.Windows{PartitionBy: keysOf("id4"), OrderBy: keysOf("v3")}, window.RowNumber(), 1e-9,
	},
}

func keysOf(names ...string) (keys []order.Key) {
	for _, name := range names {
		keys = append(keys, order.Key{Column: name})
	}
	return keys
}

// windowed compares functions of windows.
func windowed(ctx context.Context, mgr *memory.Manager, p *peer, d groupby.Data, rounds int) error {
	return withTable(ctx, mgr, p, d, func(x *buffer.Buffer) error {
		var failures []error
		for _, w := range windowings {
			if err := w.compare(ctx, x, mgr, p, rounds); err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", w.name, err))
			}
		}
		return errors.Join(failures...)
	})
}

// compare prints a line for a function.
func (w windowing) compare(ctx context.Context, x *buffer.Buffer, mgr *memory.Manager, p *peer, rounds int) error {
	answer := func() (*buffer.Buffer, error) {
		columns, err := window.Over(ctx, x, w.windows, []window.Function{w.function})
		if err != nil {
			return nil, err
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: columns[0].Type(), Nullable: true}}, nil)
		table, err := buffer.New(schema, []*column.Column{columns[0]}, x.Rows())
		return table, errors.Join(err, columns[0].Release())
	}
	ours, rows, err := fastest.Fastest(ctx, mgr, rounds, answer)
	if err != nil {
		return err
	}
	theirs, err := p.measure("select "+w.over+" as x from x", rounds)
	if err != nil {
		return fmt.Errorf("DuckDB: %w", err)
	}
	verdict := "equal"
	if err = w.check(ctx, answer, p); err != nil {
		verdict = "DIFFERENT"
	}
	fmt.Printf("%-4s %-28s %10.3f ms %10.3f ms %8.2f × %10d rows, %s\n", w.name, w.text, milliseconds(ours), milliseconds(theirs), ratio(theirs, ours), rows, verdict)
	return err
}

// check compares the number of the results, their sum and the sum of their squares.
func (w windowing) check(ctx context.Context, answer func() (*buffer.Buffer, error), p *peer) error {
	table, err := answer()
	if err != nil {
		return err
	}
	record, err := table.Record(ctx)
	if err = errors.Join(err, table.Release()); err != nil {
		return err
	}
	defer record.Release()
	var ours [3]float64
	for row := range int(record.NumRows()) {
		value := 0.0
		switch c := record.Column(0).(type) {
		case *array.Float64:
			value = c.Value(row)
		case *array.Int64:
			value = float64(c.Value(row))
		}
		if record.Column(0).IsValid(row) {
			ours[0]++
			ours[1] += value
			ours[2] += value * value
		}
	}
	theirs, err := p.answer("select cast(count(x) as double), sum(cast(x as double)), sum(cast(x as double) * x) from answer", 0)
	if err != nil {
		return err
	}
	for i, sum := range ours {
		other, ok := theirs[""][i].(float64)
		if !ok || math.Abs(sum-other) > w.tolerance*math.Abs(other) {
			return fmt.Errorf("check %d is %v, and %v in DuckDB", i, sum, theirs[""][i])
		}
	}
	return nil
}
