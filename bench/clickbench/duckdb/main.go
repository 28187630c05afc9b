// Duckdb runs the questions of bench/clickbench with gpuframe and with DuckDB, on the same files and in the same run,
// compares the answers, and prints both times.
//
//	go run . -rows 10000000 -folder DIR              # tables in memory, on the first GPU
//	go run . -rows 100000000 -folder DIR -parquet    # both read Parquet files
//	go run . -rows 100000 -device host -threads 2
//
// Each answer becomes a table; the fastest time of several counts. Answers are compared without their LIMIT, by
// their number of rows and a sum of each column: floats may differ by 10⁻⁹.
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

	"github.com/gpuframe/gpuframe/bench/clickbench/internal/hits"
	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
)

func main() {
	var f hits.Flags
	f.Register(flag.CommandLine)
	threads := flag.Int("threads", 0, "threads of DuckDB; 0 for all processors")
	flag.Parse()
	if err := run(context.Background(), &f, *threads); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, f *hits.Flags, threads int) (err error) {
	table, err := hits.Open(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	p, err := openPeer(table.Files(), f.Parquet, threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	version, err := p.Version()
	if err != nil {
		return err
	}
	fmt.Printf("# %v; DuckDB %s\n", table, version)
	fmt.Printf("%8s %12s %12s %9s %14s %12s %9s %12s %10s\n", "question", "gpuframe ms", "DuckDB ms", "ratio", "processors ms", "DuckDB", "ratio", "peak MiB", "rows")
	var ours, theirs, ourProcessors, theirProcessors time.Duration
	var failures []error
	for _, n := range f.Chosen() {
		measured, other, err := compare(ctx, table, p, n, f.Rounds)
		if err != nil {
			failures = append(failures, fmt.Errorf("question %d: %w", n, err))
			fmt.Printf("%8d FAILED %v\n", n, err)
			continue
		}
		ours, theirs = ours+measured.Best, theirs+other.Best
		ourProcessors, theirProcessors = ourProcessors+measured.Processors, theirProcessors+other.Processors
		fmt.Printf("%8d %s %12.1f %10d\n", n, pair(measured.Best, other.Best, measured.Processors, other.Processors), float64(measured.Peak)/(1<<20), measured.Rows)
	}
	fmt.Printf("%8s %s\n", "all", pair(ours, theirs, ourProcessors, theirProcessors))
	return errors.Join(failures...)
}

// pair formats the times of both sides. A ratio is DuckDB's time divided by gpuframe's: above 1 gpuframe is faster.
func pair(ours, theirs, ourProcessors, theirProcessors time.Duration) string {
	return fmt.Sprintf("%12.2f %12.2f %8.2f× %14.2f %12.2f %8.2f×", hits.Milliseconds(ours), hits.Milliseconds(theirs), float64(theirs)/float64(max(ours, 1)),
		hits.Milliseconds(ourProcessors), hits.Milliseconds(theirProcessors), float64(theirProcessors)/float64(max(ourProcessors, 1)))
}

// compare compares the answers to a question and measures both.
func compare(ctx context.Context, table *hits.Table, p *duckdb.Peer, question, rounds int) (measured, other hits.Measurement, err error) {
	text, err := table.Sums(ctx, question)
	if err != nil {
		return measured, other, err
	}
	want, err := p.Answer(text)
	if err != nil {
		return measured, other, fmt.Errorf("DuckDB: %w", err)
	}
	got, err := table.Answer(ctx, text)
	if err != nil {
		return measured, other, err
	}
	want.Columns = got.Columns // sums have no names
	if difference := got.Difference(want, nil); difference != "" {
		return measured, other, errors.New(difference)
	}
	if measured, err = table.Measure(ctx, question, rounds); err != nil {
		return measured, other, err
	}
	other.Best, other.Processors, err = p.Measure(clickbench.Questions[question], rounds)
	return measured, other, err
}
