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

	"github.com/gpuframe/gpuframe/bench/clickbench/internal/hits"
)

func main() {
	var f hits.Flags
	f.Register(flag.CommandLine)
	profile := flag.String("cpuprofile", "", "file to write a profile of the questions to, for go tool pprof")
	flag.Parse()
	if err := run(context.Background(), &f, *profile); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, f *hits.Flags, profile string) (err error) {
	table, err := hits.Open(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
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
	fmt.Printf("# %v\n", table)
	fmt.Printf("%8s %12s %12s %12s %10s\n", "question", "ms", "first", "peak MiB", "rows")
	var all, first time.Duration
	var failures []error
	for _, n := range f.Chosen() {
		m, err := table.Measure(ctx, n, f.Rounds)
		if err != nil {
			failures = append(failures, fmt.Errorf("question %d: %w", n, err))
			fmt.Printf("%8d FAILED %v\n", n, err)
			continue
		}
		all, first = all+m.Best, first+m.First
		fmt.Printf("%8d %12.2f %12.2f %12.1f %10d\n", n, hits.Milliseconds(m.Best), hits.Milliseconds(m.First), float64(m.Peak)/(1<<20), m.Rows)
	}
	fmt.Printf("%8s %12.2f %12.2f\n", "all", hits.Milliseconds(all), hits.Milliseconds(first))
	return errors.Join(failures...)
}
