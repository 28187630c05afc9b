// Duckdb answers the questions of bench/dbbenchmark with gpuframe and with DuckDB,
// on the same data and in the same run, compares the answers, and prints both times.
//
//	go run . -rows 100000000                      # on the first GPU
//	go run . -rows 100000000 -task join
//	go run . -rows 100000000 -task sort -threads 16
//	go run . -rows 100000000 -task window -threads 16
//	go run . -device host -rows 1000000 -threads 2 -na 5
//
// Both have the table in memory, and each answer becomes a table, as in DuckDB's own entry
// of db-benchmark; the fastest time counts. Sums of floats of DuckDB depend on its threads:
// they may differ by 10⁻⁹. Answers to joins are compared by their rows up to 10⁵ of them, and
// always by counts and sums of each column, and of its products with the key of the row.
//
// It is a separate module because DuckDB's library has 56 MB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	var d groupby.Data
	d.Flags()
	name := flag.String("device", "", "device of gpuframe; empty for the first GPU, or the host")
	threads := flag.Int("threads", 0, "threads of DuckDB; 0 for all processors")
	rounds := flag.Int("rounds", 3, "times that a question runs; the fastest is printed")
	task := flag.String("task", "groupby", "questions to answer: groupby, join, sort or window")
	flag.Parse()
	answer := map[string]answering{"groupby": groupings, "join": joinings, "sort": sortings, "window": windowed}[*task]
	if answer == nil {
		log.Fatalf("the task is %q, expected groupby, join, sort or window", *task)
	}
	if err := run(context.Background(), *name, d, *threads, *rounds, answer); err != nil {
		log.Fatal(err)
	}
}

// answering makes the tables of a task for both sides and compares the questions.
type answering func(ctx context.Context, mgr *memory.Manager, p *peer, d groupby.Data, rounds int) error

func run(ctx context.Context, name string, d groupby.Data, threads, rounds int, answer answering) error {
	return session.Run(name, func(_ *device.Device, mgr *memory.Manager) error {
		return measure(ctx, mgr, d, threads, rounds, answer)
	})
}

func measure(ctx context.Context, mgr *memory.Manager, d groupby.Data, threads, rounds int, answer answering) (err error) {
	p, err := openPeer(threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	version, err := p.version()
	if err != nil {
		return err
	}
	fmt.Printf("# %s; DuckDB %s; %v\n", mgr.Device(), version, d)
	return answer(ctx, mgr, p, d, rounds)
}

func groupings(ctx context.Context, mgr *memory.Manager, p *peer, d groupby.Data, rounds int) error {
	return withTable(ctx, mgr, p, d, func(x *buffer.Buffer) error {
		return compareQuestions(ctx, x, mgr, p, rounds)
	})
}

// compareQuestions prints a line for each question.
func compareQuestions(ctx context.Context, x *buffer.Buffer, mgr *memory.Manager, p *peer, rounds int) error {
	var ours, theirs time.Duration
	var failures []error
	for _, q := range groupby.Questions {
		mine, groups, err := q.Measure(ctx, x, mgr, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		other, err := p.measure(q.SQL, rounds)
		if err != nil {
			return fmt.Errorf("%s: DuckDB: %w", q.Name, err)
		}
		verdict := "equal"
		if err := compareAnswers(ctx, q, x, p); err != nil {
			verdict = "DIFFERENT"
			failures = append(failures, err)
		}
		ours, theirs = ours+mine, theirs+other
		fmt.Printf("%-4s %-28s %10.3f ms %10.3f ms %8.2f × %10d groups, %s\n", q.Name, q.Text, milliseconds(mine), milliseconds(other), ratio(other, mine), groups, verdict)
	}
	fmt.Printf("all  %39.3f ms %10.3f ms %8.2f ×\n", milliseconds(ours), milliseconds(theirs), ratio(theirs, ours))
	return errors.Join(failures...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// compareAnswers compares the answers to a question.
func compareAnswers(ctx context.Context, q groupby.Question, x *buffer.Buffer, p *peer) error {
	answer, err := q.Answer(ctx, x)
	if err != nil {
		return err
	}
	record, err := answer.Record(ctx)
	if err = errors.Join(err, answer.Release()); err != nil {
		return err
	}
	defer record.Release()
	theirs, err := p.answer(q.SQL, len(q.Keys))
	if err != nil {
		return err
	}
	if difference := answersOf(record, len(q.Keys), true).difference(theirs); difference != "" {
		return fmt.Errorf("%s: %s", q.Name, difference)
	}
	return nil
}
