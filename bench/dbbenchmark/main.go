package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/joins"
	"github.com/gpuframe/gpuframe/bench/internal/mark"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	var d groupby.Data
	name := session.Device()
	rounds := flag.Int("rounds", 5, "times that a question runs; the fastest is printed")
	task := flag.String("task", "groupby", "questions to answer: groupby or join")
	flag.Func("only", "`names` of the questions on group-by to answer, such as q1,q9", func(names string) error {
		only = strings.Split(names, ",")
		return nil
	})
	flag.BoolVar(&profile, "profile", false, "answer each question once more, one on group-by before the others too, with GPUFRAME_PROFILE_MARK set for bench/profile")
	d.Flags()
	flag.Parse()
	answer := map[string]answering{"groupby": groupings, "join": joinings}[*task]
	if answer == nil {
		log.Fatalf("the task is %q, expected groupby or join", *task)
	}
	if err := run(context.Background(), *name, d, *rounds, answer); err != nil {
		log.Fatal(err)
	}
}

// only has the names of the questions to answer, or none for all. profile asks for one more
// answer of each question, with a mark for bench/profile/driver_profile.c.
var (
	only    []string
	profile bool
)

// answering makes the tables of a task and prints the time of each question.
type answering func(ctx context.Context, dev *device.Device, mgr *memory.Manager, d groupby.Data, rounds int) error

func run(ctx context.Context, name string, d groupby.Data, rounds int, answer answering) error {
	return session.Run(name, func(dev *device.Device, mgr *memory.Manager) error { return answer(ctx, dev, mgr, d, rounds) })
}

func groupings(ctx context.Context, dev *device.Device, mgr *memory.Manager, d groupby.Data, rounds int) (err error) {
	record := d.Generate()
	x, err := buffer.FromRecord(mgr, record)
	record.Release()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Release()) }()
	fmt.Printf("# %s, %v\n", dev, d)
	total := time.Duration(0)
	for _, q := range groupby.Questions {
		if only != nil && !slices.Contains(only, q.Name) {
			continue
		}
		if profile {
			if err := answerMarked(ctx, q.Name+", first call", q, x, mgr); err != nil {
				return fmt.Errorf("%s: %w", q.Name, err)
			}
		}
		best, groups, err := q.Measure(ctx, x, mgr, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		total += best
		fmt.Printf("%-4s %-28s %10.3f ms %12d groups\n", q.Name, q.Text, milliseconds(best), groups)
		if profile {
			if err := answerMarked(ctx, q.Name, q, x, mgr); err != nil {
				return fmt.Errorf("%s: %w", q.Name, err)
			}
		}
	}
	fmt.Printf("all  %39.3f ms\n", milliseconds(total))
	return nil
}

// answerMarked answers a question once, with a name as the mark of the profile.
func answerMarked(ctx context.Context, name string, q groupby.Question, x *buffer.Buffer, mgr *memory.Manager) error {
	return mark.Run(ctx, name, mgr.Stream(), func() error {
		_, _, err := q.Measure(ctx, x, mgr, 0)
		return err
	})
}

func joinings(ctx context.Context, dev *device.Device, mgr *memory.Manager, d groupby.Data, rounds int) (err error) {
	generator := joins.Data{Rows: d.Rows, Nulls: d.Nulls, Sorted: d.Sorted, Seed: d.Seed}
	records := generator.Generate()
	tables, err := records.Load(mgr)
	records.Release()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tables.Release()) }()
	fmt.Printf("# %s, %v\n", dev, generator)
	total := time.Duration(0)
	for _, q := range joins.Questions {
		best, rows, err := q.Measure(ctx, tables, mgr, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		total += best
		fmt.Printf("%-4s %-28s %10.3f ms %12d rows\n", q.Name, q.Text, milliseconds(best), rows)
		if profile {
			if err := mark.Run(ctx, q.Name, mgr.Stream(), func() error {
				_, _, err := q.Measure(ctx, tables, mgr, 0)
				return err
			}); err != nil {
				return fmt.Errorf("%s: %w", q.Name, err)
			}
		}
	}
	fmt.Printf("all  %39.3f ms\n", milliseconds(total))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
