// Command small measures whole calls on few rows, and what the driver does in each.
//
//	go -C bench run ./small [-device cuda:0] [-rows 1000] [-rounds 1001] [-only "five verbs: query"] [-cpuprofile FILE]
//
// A call is timed from its begin until its result is on the device. The time of processors is that of the whole process. The table of the driver's
// calls is of other runs, on the same device behind one that counts and times them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/bench/internal/verbs"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/testing/callcount"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

func main() { session.Main("small", run) }

// releaser is a result.
type releaser interface{ Release() error }

// call is one operation to measure.
type call struct {
	name string
	bar  string
	run  func(ctx context.Context) (releaser, error)
}

func run(ctx context.Context) (err error) {
	name := flag.String("device", "cuda:0", "device to measure")
	rows := flag.Int("rows", 1000, "rows of the tables")
	rounds := flag.Int("rounds", 1001, "calls, of which the median is taken")
	only := flag.String("only", "", "a part of the names of the calls to measure; empty for all")
	profile := flag.String("cpuprofile", "", "file to write a profile of the calls to, for go tool pprof")
	flag.Parse()
	e, err := gpuframe.Open(gpuframe.Device(*name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	counting, counted, err := callcount.Register(e.Device())
	if err != nil {
		return err
	}
	second, err := gpuframe.Open(gpuframe.Device(counting))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.Close()) }()
	// The lock keeps waits of other goroutines' threads out of the measurement. On the host these compute.
	if e.Device().Name() != "host" {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	fmt.Printf("%s: %s, %d rows\n\n", e.Device(), e.Device().Info().Name, *rows)
	took := map[string]cost{}
	stop, err := startProfile(*profile)
	if err != nil {
		return err
	}
	err = each(e, *rows, func(c call) (err error) {
		if strings.Contains(c.name, *only) {
			took[c.name], err = measure(ctx, e, c.run, *rounds)
		}
		return err
	})
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	t := table.New("call", "time", "of processors", "bar", "calls of the driver")
	err = each(second, *rows, func(c call) error {
		if !strings.Contains(c.name, *only) {
			return nil
		}
		calls, err := driverCalls(ctx, second, counted, c.run)
		t.Add(c.name, microseconds(took[c.name].wall), microseconds(took[c.name].processors), c.bar, calls)
		return err
	})
	return errors.Join(err, t.Print(os.Stdout))
}

func microseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1e3)
}

// cost is the median time of a call, and the mean time of all processors.
type cost struct{ wall, processors time.Duration }

// measure returns the cost of a call, after 200 others.
func measure(ctx context.Context, e *gpuframe.Engine, run func(context.Context) (releaser, error), rounds int) (c cost, err error) {
	stream := e.Manager().Stream()
	var times []time.Duration
	var before time.Duration
	for i := range 200 + rounds {
		if i == 200 {
			before = processor.Time()
		}
		began := time.Now()
		result, err := run(ctx)
		if err == nil {
			err = e.Device().Driver().StreamSynchronize(stream.Handle())
		}
		times = append(times, time.Since(began))
		if err == nil {
			err = result.Release()
		}
		if err != nil {
			return c, err
		}
	}
	c.processors = (processor.Time() - before) / time.Duration(rounds)
	times = times[200:]
	slices.Sort(times)
	c.wall = times[len(times)/2]
	return c, nil
}

// startProfile begins a profile of the processors in a file, if its path is not empty.
func startProfile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// driverCalls returns what the driver does in a call, after some others.
func driverCalls(ctx context.Context, e *gpuframe.Engine, counted *callcount.Device, run func(context.Context) (releaser, error)) (string, error) {
	var calls callcount.Calls
	for range 20 {
		counted.Take()
		result, err := run(ctx)
		if err != nil {
			return "", err
		}
		calls = counted.Take()
		if err := errors.Join(e.Manager().Stream().Synchronize(ctx), result.Release()); err != nil {
			return "", err
		}
	}
	return calls.String(), nil
}

// each calls f with each call on the tables of an engine.
func each(e *gpuframe.Engine, rows int, f func(call) error) (err error) {
	left, err := verbs.Table(e, rows, 7)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, left.Release()) }()
	right, err := verbs.Table(e, rows, 11)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, right.Release()) }()
	options := kernels.Options{Manager: e.Manager()}
	value := expr.Col("value")
	sum, keys := []group.Aggregate{group.Sum(value)}, group.Columns("key")
	again := verbs.Query(e, left)
	for _, c := range []call{
		{"group: sum f64 by i32, 100 groups", "≤ 40 µs", func(ctx context.Context) (releaser, error) {
			return group.By(left, keys...).Aggregate(ctx, sum, group.ByOptions{Options: options})
		}},
		{"group: four aggregates by two keys", "", func(ctx context.Context) (releaser, error) {
			return group.By(left, group.Columns("key", "row")...).Aggregate(ctx, []group.Aggregate{group.Sum(value), group.Min(value), group.Mean(value), group.CountAll()}, group.ByOptions{Options: options})
		}},
		{"sort: column f64", "≤ 25 µs, torch", func(ctx context.Context) (releaser, error) {
			return order.SortColumn(ctx, left.Column(1), order.ColumnOptions{Options: options})
		}},
		{"sort: table of three columns by f64", "", func(ctx context.Context) (releaser, error) {
			return order.Sort(ctx, left, []order.Key{{Column: "value"}}, options)
		}},
		{"join: i32, 1,000 by 1,000", "≤ 60 µs", func(ctx context.Context) (releaser, error) {
			return join.Tables(ctx, left, right, join.Using("row"), join.Options{Options: options})
		}},
		{"five verbs: operators", "", func(ctx context.Context) (releaser, error) { return directly(ctx, e, left) }},
		{"five verbs: query", "60 µs more", func(ctx context.Context) (releaser, error) { return again.Collect(ctx) }},
		{"five verbs: new query of the shape", "60 µs more", func(ctx context.Context) (releaser, error) { return verbs.Query(e, left).Collect(ctx) }},
	} {
		if err := f(c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

var (
	condition = expr.Col("value").Gt(expr.Lit(10.0))
	projected = []expr.Expr{expr.Col("key"), expr.Col("value").Mul(expr.Lit(2.0)).As("double")}
	doubleSum = []group.Aggregate{group.Sum(expr.Col("double")).As("sum")}
	sumKey    = []order.Key{{Column: "sum", Descending: true}}
)

// directly does the same by calls of the operators.
func directly(ctx context.Context, e *gpuframe.Engine, table *buffer.Buffer) (*buffer.Buffer, error) {
	options := kernels.Options{Manager: e.Manager()}
	steps := []func(*buffer.Buffer) (*buffer.Buffer, error){
		func(t *buffer.Buffer) (*buffer.Buffer, error) { return selection.Filter(ctx, t, condition, options) },
		func(t *buffer.Buffer) (*buffer.Buffer, error) { return expr.Project(ctx, t, projected, options) },
		func(t *buffer.Buffer) (*buffer.Buffer, error) {
			return group.By(t, group.Columns("key")...).Aggregate(ctx, doubleSum, group.ByOptions{Options: options})
		},
		func(t *buffer.Buffer) (*buffer.Buffer, error) { return order.Sort(ctx, t, sumKey, options) },
		func(t *buffer.Buffer) (*buffer.Buffer, error) {
			rows, err := t.NumRows(ctx)
			if err != nil {
				return nil, err
			}
			return t.Slice(0, min(rows, 10))
		},
	}
	current, err := table, table.Retain()
	for _, step := range steps {
		if err != nil {
			return nil, err
		}
		var next *buffer.Buffer
		next, err = step(current)
		current, err = release.OnError(next, err, current.Release())
	}
	return current, err
}
