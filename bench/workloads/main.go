package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/pprof"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/bench/workloads/internal/runner"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

func main() {
	var f runner.Flags
	f.Register(flag.CommandLine)
	profile := flag.String("cpuprofile", "", "file to write a profile of the questions to, for go tool pprof")
	flag.Parse()
	if err := run(context.Background(), &f, *profile); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, f *runner.Flags, profile string) (err error) {
	e, err := gpuframe.Open(gpuframe.Device(f.Device))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	fmt.Printf("%v; %d rows\n", e.Device(), f.Rows)
	var failures []error
	for _, set := range f.Chosen() {
		failures = append(failures, runSet(ctx, e, f, set, profile))
	}
	return errors.Join(failures...)
}

// runSet prints the times of a set.
func runSet(ctx context.Context, e *gpuframe.Engine, f *runner.Flags, set question.Set, profile string) (err error) {
	s, err := runner.Open(ctx, e, set, f.Rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return errors.Join(err, file.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, file.Close())
		}()
	}
	fmt.Printf("\n%s: %s\n\n", set.Name, set.Title)
	lines := table.New("question", "lines of Go", "ms", "processor ms")
	var total runner.Cost
	var failures []error
	for _, q := range set.Questions {
		best, err := s.Best(ctx, q, f.Rounds)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %s: %w", set.Name, q.Name, err))
			lines.Add(q.Name, "", "FAILED")
			continue
		}
		total = runner.Cost{Wall: total.Wall + best.Wall, Processors: total.Processors + best.Processors}
		lines.Add(q.Name, fmt.Sprint(s.Lines[q.Name]), milliseconds(best.Wall), milliseconds(best.Processors))
	}
	lines.Add("all", "", milliseconds(total.Wall), milliseconds(total.Processors))
	return errors.Join(append(failures, lines.Print(os.Stdout))...)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", runner.Milliseconds(d)) }
