package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
)

// ablate prints a line for each query: its processor time, and how many times as long it takes
// without each of the optimizer's passes.
func (s *settings) ablate(ctx context.Context, of *session.Session) error {
	passes := gpuframe.Passes()
	fmt.Printf("# %v; scale factor %v, seed %d; processor time of the fastest of %d runs, and the factor without each pass\n", of, s.Scale, s.Seed, s.Rounds)
	fmt.Printf("| | ms | %s |\n|%s\n", strings.Join(passes, " | "), strings.Repeat(" --- |", len(passes)+2))
	total := make([]time.Duration, len(passes)+1)
	var failures []error
	for _, q := range s.Chosen() {
		with, err := of.Measure(ctx, q, s.Rounds)
		if err != nil {
			failures = append(failures, fmt.Errorf("query %d: %w", q.Number, err))
			continue
		}
		total[0] += with.Processor
		line := fmt.Sprintf("| %d %s | %.0f |", q.Number, q.Name, session.Milliseconds(with.Processor))
		for i, pass := range passes {
			without, err := of.Measure(ctx, q, s.Rounds, gpuframe.WithoutPasses(pass))
			if err != nil {
				failures = append(failures, fmt.Errorf("query %d without %q: %w", q.Number, pass, err))
				line += " failed |"
				continue
			}
			total[i+1] += without.Processor
			line += fmt.Sprintf(" %.2f |", float64(without.Processor)/float64(max(with.Processor, 1)))
		}
		fmt.Println(line)
	}
	line := fmt.Sprintf("| all | %.0f |", session.Milliseconds(total[0]))
	for _, t := range total[1:] {
		line += fmt.Sprintf(" %.2f |", float64(t)/float64(max(total[0], 1)))
	}
	fmt.Println(line)
	return errors.Join(failures...)
}
