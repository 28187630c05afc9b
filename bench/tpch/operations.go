package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
)

// operations prints the operations of each query that take the most time, and the rows and
// bytes that they yield. Each operation waits for the device, so their sum exceeds the time of
// the query without a profile.
func (s *settings) operations(ctx context.Context, db *session.Session) error {
	fmt.Printf("# %v; scale factor %v, seed %d; operations of the fastest of %d runs\n", db, s.Scale, s.Seed, s.Rounds)
	var failures []error
	for _, q := range s.Chosen() {
		m, err := db.Measure(ctx, q, s.Rounds)
		if err != nil {
			failures = append(failures, fmt.Errorf("query %d: %w", q.Number, err))
			continue
		}
		list, err := s.profileOf(ctx, db, q)
		if err != nil {
			failures = append(failures, fmt.Errorf("query %d: %w", q.Number, err))
			continue
		}
		fmt.Printf("# %d %s: %.2f ms, %.2f with a profile\n", q.Number, q.Name, session.Milliseconds(m.Best), session.Milliseconds(total(list)))
		slices.SortStableFunc(list, func(a, b gpuframe.OperationProfile) int { return cmp.Compare(b.Time, a.Time) })
		for _, o := range list[:min(len(list), s.profiled)] {
			fmt.Printf("%8.2f ms %14s rows %10s  %s\n", session.Milliseconds(o.Time), humanize.Comma(o.Rows), humanize.IBytes(o.Bytes), o.Name)
		}
	}
	return errors.Join(failures...)
}

// profileOf returns the operations of the fastest run of a query with a profile.
func (s *settings) profileOf(ctx context.Context, db *session.Session, q queries.Query) (best []gpuframe.OperationProfile, err error) {
	for range max(s.Rounds, 1) {
		var p gpuframe.Profile
		if _, err := db.Measure(ctx, q, 0, gpuframe.Profiled(&p)); err != nil {
			return nil, err
		}
		if list := p.Operations(); best == nil || total(list) < total(best) {
			best = list
		}
	}
	return best, nil
}

// total is the time of all operations.
func total(list []gpuframe.OperationProfile) (sum time.Duration) {
	for _, o := range list {
		sum += o.Time
	}
	return sum
}
