package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
)

// ablate prints a line for each query: its time, and how many times as long it takes without
// each of the optimizer's passes. On the host the times are those of the processors, which a
// loaded machine changes less. Each pass must leave the answer as it is.
func (s *settings) ablate(ctx context.Context, db *session.Session) error {
	passes := gpuframe.Passes()
	timeOf, kind := func(m session.Measurement) time.Duration { return m.Best }, "time"
	if db.IsHost() {
		timeOf, kind = func(m session.Measurement) time.Duration { return m.Processor }, "processor time"
	}
	fmt.Printf("# %v; scale factor %v, seed %d; %s of the fastest of %d runs, and the factor without each pass\n", db, s.Scale, s.Seed, kind, s.Rounds)
	fmt.Printf("| | ms | %s |\n|%s\n", strings.Join(passes, " | "), strings.Repeat(" --- |", len(passes)+2))
	total := make([]time.Duration, len(passes)+1)
	var failures []error
	for _, q := range s.Chosen() {
		with, err := db.Measure(ctx, q, s.Rounds)
		if err != nil {
			failures = append(failures, fmt.Errorf("query %d: %w", q.Number, err))
			continue
		}
		want, err := db.Answer(ctx, q)
		if err != nil {
			return err
		}
		total[0] += timeOf(with)
		line := fmt.Sprintf("| %d %s | %.2f |", q.Number, q.Name, session.Milliseconds(timeOf(with)))
		for i, pass := range passes {
			without, err := db.Measure(ctx, q, s.Rounds, gpuframe.WithoutPasses(pass))
			if err == nil {
				err = sameAnswer(ctx, db, q, want, pass)
			}
			if err != nil {
				failures = append(failures, fmt.Errorf("query %d without %q: %w", q.Number, pass, err))
				line += " failed |"
				continue
			}
			total[i+1] += timeOf(without)
			line += fmt.Sprintf(" %.2f |", float64(timeOf(without))/float64(max(timeOf(with), 1)))
		}
		fmt.Println(line)
	}
	line := fmt.Sprintf("| all | %.2f |", session.Milliseconds(total[0]))
	for _, t := range total[1:] {
		line += fmt.Sprintf(" %.2f |", float64(t)/float64(max(total[0], 1)))
	}
	fmt.Println(line)
	return errors.Join(failures...)
}

// sameAnswer refuses an answer without a pass that is another one than with it.
func sameAnswer(ctx context.Context, db *session.Session, q queries.Query, want answer.Answer, pass string) error {
	got, err := db.Answer(ctx, q, gpuframe.WithoutPasses(pass))
	if err != nil {
		return err
	}
	if difference := got.Difference(want, q.Order); difference != "" {
		return fmt.Errorf("another answer: %s", difference)
	}
	return nil
}
