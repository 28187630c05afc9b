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

	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
)

// settings are the flags of the program.
type settings struct {
	session.Flags
	explain  bool
	ablation bool
	profiled int
	clients  int
	answers  string
	profile  string
	marked   bool
}

func main() {
	var s settings
	s.Register(flag.CommandLine)
	flag.BoolVar(&s.explain, "explain", false, "print the plans of the queries, and do not run them")
	flag.BoolVar(&s.ablation, "ablation", false, "measure the queries without each pass of the optimizer")
	flag.IntVar(&s.profiled, "operations", 0, "print this number of operations of each query, those that take the most time")
	flag.IntVar(&s.clients, "clients", 0, "run the queries by this number of clients at the same time, compare the answers with those alone, and measure nothing else")
	flag.StringVar(&s.answers, "answers", "", "folder of answers: those in it are compared, the others are written; empty for neither")
	flag.StringVar(&s.profile, "cpuprofile", "", "file to write a profile of the queries to, for go tool pprof")
	flag.BoolVar(&s.marked, "profile", false, "run each query once more after the others, with GPUFRAME_PROFILE_MARK set for bench/profile")
	flag.Parse()
	if err := s.run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func (s *settings) run(ctx context.Context) (err error) {
	var g *data.Generator
	folder := ""
	if s.Parquet {
		var remove func() error
		if g, folder, remove, err = s.Files(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remove()) }()
	} else if g, err = data.New(s.Scale, s.Seed); err != nil {
		return err
	}
	db, err := session.Open(ctx, g, s.Options(folder))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if s.explain {
		return s.explained(ctx, db)
	}
	if s.profile != "" {
		stop, err := startProfile(s.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if s.clients > 0 {
		return s.together(ctx, db)
	}
	if !s.ablation && s.profiled == 0 {
		return s.measure(ctx, db)
	}
	if s.profiled > 0 {
		err = s.operations(ctx, db)
	}
	if s.ablation {
		err = errors.Join(err, s.ablate(ctx, db))
	}
	return err
}

func startProfile(path string) (stop func() error, err error) {
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

// explained prints the plans.
func (s *settings) explained(ctx context.Context, db *session.Session) error {
	for _, q := range s.Chosen() {
		query, err := db.Query(ctx, q)
		if err != nil {
			return err
		}
		text, err := query.Explain(ctx)
		if err != nil {
			return fmt.Errorf("query %d: %w", q.Number, err)
		}
		fmt.Printf("# %d: %s\n%s\n", q.Number, q.Name, text)
	}
	return nil
}

// measure prints a line for each query.
func (s *settings) measure(ctx context.Context, db *session.Session) error {
	fmt.Printf("# %v; scale factor %v, seed %d\n", db, s.Scale, s.Seed)
	fmt.Printf("%2s  %-34s %12s %14s %12s %8s\n", "", "", "ms", "processor ms", "peak MiB", "rows")
	total, processor := time.Duration(0), time.Duration(0)
	var failures []error
	for _, q := range s.Chosen() {
		m, err := db.Measure(ctx, q, s.Rounds)
		if err == nil && s.marked {
			err = db.Marked(ctx, q)
		}
		if err == nil && s.answers != "" {
			err = checkAnswer(ctx, db, q, s.answers)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("query %d: %w", q.Number, err))
			fmt.Printf("%2d  %-34s FAILED\n", q.Number, q.Name)
			continue
		}
		total, processor = total+m.Best, processor+m.Processor
		fmt.Printf("%2d  %-34s %12.2f %14.2f %12.1f %8d\n", q.Number, q.Name, session.Milliseconds(m.Best), session.Milliseconds(m.Processor), float64(m.Peak)/(1<<20), m.Rows)
	}
	fmt.Printf("    %-34s %12.2f %14.2f\n", "all", session.Milliseconds(total), session.Milliseconds(processor))
	return errors.Join(failures...)
}
