package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	var d data
	name := flag.String("device", "", "device to measure; empty for the first GPU, or the host")
	rounds := flag.Int("rounds", 5, "times that a question runs; the fastest is printed")
	flag.IntVar(&d.rows, "rows", 10_000_000, "rows of the table")
	flag.IntVar(&d.k, "k", 100, "groups of the small keys")
	flag.IntVar(&d.nulls, "na", 0, "percentage of nulls")
	flag.BoolVar(&d.sorted, "sorted", false, "sort the rows by id1 to id6")
	flag.Uint64Var(&d.seed, "seed", 1, "seed of the data")
	flag.Parse()
	if err := run(context.Background(), *name, d, *rounds); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name string, d data, rounds int) (err error) {
	dev, err := device.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mgr.Close()) }()
	record := d.generate()
	x, err := buffer.FromRecord(mgr, record)
	record.Release()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Release()) }()
	fmt.Printf("# %s, %d rows, K = %d, %d %% nulls, sorted: %v\n", dev, d.rows, d.k, d.nulls, d.sorted)
	total := time.Duration(0)
	for _, q := range questions {
		best, groups, err := measure(ctx, q, x, mgr, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		total += best
		fmt.Printf("%-4s %-28s %10.3f ms %12d groups\n", q.name, q.text, milliseconds(best), groups)
	}
	fmt.Printf("all  %39.3f ms\n", milliseconds(total))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// measure answers a question and returns the fastest time and the number of groups.
func measure(ctx context.Context, q question, x *buffer.Buffer, mgr *memory.Manager, rounds int) (best time.Duration, groups int64, err error) {
	best = 1 << 62
	for i := range rounds + 1 {
		begin := time.Now()
		answer, err := q.answer(ctx, x)
		if err != nil {
			return 0, 0, err
		}
		if err := mgr.Stream().Synchronize(ctx); err != nil {
			return 0, 0, errors.Join(err, answer.Release())
		}
		if i > 0 { // the first call compiles kernels
			best = min(best, time.Since(begin))
		}
		groups, err = answer.NumRows(ctx)
		if err = errors.Join(err, answer.Release()); err != nil {
			return 0, 0, err
		}
	}
	return best, groups, nil
}
