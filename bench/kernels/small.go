package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// small measures operators on a thousand rows, for which the cost of the calls
// dominates.
func (b *bench) small(ctx context.Context) (err error) {
	const rows = 1000
	data, err := b.generate(ctx, rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.release(), data.Release()) }()
	// The lock keeps waits of other goroutines' threads out of the measurement.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := table.New("operator", "time", "bar", "torch", "bar ≤ torch")
	for _, f := range []struct {
		name, rival string
		work        work
		// bar is the most time it may take. Zero means 15 µs.
		bar time.Duration
	}{
		{"add f32", "torch add f32", b.evaluate(data, expr.Col("x").Add(expr.Col("y"))), 0},
		{"(x*2+y)>1 & (x<y) f32", "torch fused", b.evaluate(data, fused()), 0},
		{"sum f64", "torch sum f64", b.reduce(data, reduce.Sum(expr.Col("v"))), 0},
		{"filter and sum f64", "torch filter sum f64", b.reduce(data, reduce.Sum(expr.Col("v")).Where(expr.Col("x").Gt(expr.Lit(0.5)))), 0},
		{"filter f64 by mask", "torch filter f64", b.filterMask(data, "v"), 0},
		{"filter f64 by expression", "torch filter f64", b.filter(data, expr.Col("v").Gt(expr.Lit(0.5)), "v"), 0},
		{"take f64", "torch take random f64", b.take(data, "random", selection.Null), 0},
		{"take f64, checked", "torch take random f64", b.take(data, "random", selection.Check), 0},
		{"cumulative sum f64", "torch cumsum f64", b.cumulativeSum(data), 0},
		{"sort f64", "torch sort f64", b.sortColumn(data, "v"), 25 * time.Microsecond},
	} {
		took, err := b.byClock(ctx, f.work)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		bar := f.bar
		if bar == 0 {
			bar = 15 * time.Microsecond
		}
		cells := []string{f.name, microseconds(took), fmt.Sprintf("≤ %v %s", bar, verdict(took <= bar))}
		if theirs, known := b.rivals[rival{f.rival, rows}]; known {
			cells = append(cells, microseconds(theirs), verdict(took <= theirs))
		}
		t.Add(cells...)
	}
	return show(fmt.Sprintf("%d rows, from the call until the result is on the device", rows), t)
}

// first measures the cost of a new expression, the first time and later.
func (b *bench) first(ctx context.Context) (err error) {
	data, err := b.generate(ctx, 1000)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.release(), data.Release()) }()
	t := table.New("", "time", "bar")
	const compileBar, callBar = 10 * time.Millisecond, 5 * time.Microsecond
	for _, operations := range []int{5, 12} {
		compile, err := b.compile(ctx, data, operations)
		if err != nil {
			return err
		}
		t.Add(fmt.Sprintf("first use of an expression of %d operations", operations), milliseconds(compile),
			fmt.Sprintf("≤ %v %s", compileBar, verdict(compile <= compileBar)))
	}

	again, err := b.enqueue(ctx, b.evaluate(data, fused()))
	if err != nil {
		return err
	}
	plain, err := b.plainLaunch(ctx, data)
	if err != nil {
		return err
	}
	t.Add("a launch with as many arguments", microseconds(plain), "")
	over := again - plain
	t.Add("the same expression again", microseconds(again), "")
	t.Add("over the launch", microseconds(over), fmt.Sprintf("≤ %v %s", callBar, verdict(over <= callBar)))
	return show("what an expression costs, 1,000 rows", t)
}

// compile returns the time of a call that compiles a new expression.
func (b *bench) compile(ctx context.Context, data *buffer.Buffer, operations int) (time.Duration, error) {
	var times []time.Duration
	for range 9 {
		// A shape that no cache has, of this process or of the driver on disk.
		e := unmet(operations)
		began := time.Now()
		result, err := expr.Evaluate(ctx, data, []expr.Expr{e}, b.options())
		if err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
		if err := columns(result).Release(); err != nil {
			return 0, err
		}
	}
	return median(times), nil
}

// unmet returns an expression of random shape with the given number of operations.
func unmet(operations int) expr.Expr {
	e := expr.Col("x")
	for range operations - 1 {
		switch rand.IntN(4) {
		case 0:
			e = e.Add(expr.Col("y"))
		case 1:
			e = e.Mul(expr.Col("y"))
		case 2:
			e = e.Sub(expr.Col("x"))
		case 3:
			e = expr.Min(e, expr.Col("y"))
		}
	}
	return e.Gt(expr.Lit(0.25))
}

// enqueue returns the time of a call, without waiting for its work each time.
func (b *bench) enqueue(ctx context.Context, w work) (time.Duration, error) {
	var times []time.Duration
	for range 301 {
		const calls = 20
		began := time.Now()
		for range calls {
			result, err := w(ctx)
			if err == nil {
				err = result.Release()
			}
			if err != nil {
				return 0, err
			}
		}
		times = append(times, time.Since(began)/calls)
		if err := b.stream.Synchronize(ctx); err != nil {
			return 0, err
		}
	}
	return median(times), nil
}
