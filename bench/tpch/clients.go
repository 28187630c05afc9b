package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
)

// together runs all chosen queries by each of some clients at the same time, in another order for
// each client and round, and compares the answers with those of the queries alone.
func (s *settings) together(ctx context.Context, db *session.Session) error {
	chosen := s.Chosen()
	alone := make([]answer.Answer, len(chosen))
	began := time.Now()
	for range 2 { // the first time compiles kernels
		began = time.Now()
		for i, q := range chosen {
			var err error
			if alone[i], err = db.Answer(ctx, q); err != nil {
				return fmt.Errorf("query %d: %w", q.Number, err)
			}
		}
	}
	single := time.Since(began)
	began = time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for client := range s.clients {
		group.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(client), 1))
			for range s.Rounds {
				for _, i := range random.Perm(len(chosen)) {
					q := chosen[i]
					got, err := db.Answer(ctx, q)
					if err != nil {
						return fmt.Errorf("query %d, client %d: %w", q.Number, client, err)
					}
					if difference := got.Difference(alone[i], q.Order); difference != "" {
						return fmt.Errorf("query %d, client %d: another answer than alone: %s", q.Number, client, difference)
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	queries := s.clients * s.Rounds * len(chosen)
	fmt.Printf("# %d clients: %d answers equal to those alone, %.0f queries/s; one client %.0f\n",
		s.clients, queries, float64(queries)/time.Since(began).Seconds(), float64(len(chosen))/single.Seconds())
	return nil
}
