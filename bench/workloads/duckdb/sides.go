package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/bench/workloads/internal/runner"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// sides are gpuframe and DuckDB with the same tables.
type sides struct {
	ours *runner.Session
	peer *duckdb.Peer
}

// openSides generates the tables of a set. DuckDB gets them by Parquet files.
func openSides(ctx context.Context, e *gpuframe.Engine, set question.Set, rows, threads int) (s *sides, err error) {
	s = &sides{}
	defer func() {
		if err != nil {
			s, err = nil, errors.Join(err, s.close())
		}
	}()
	if s.ours, err = runner.Open(ctx, e, set, rows); err != nil {
		return s, err
	}
	if s.peer, err = duckdb.Open(threads); err != nil {
		return s, err
	}
	folder, err := os.MkdirTemp("", "workloads")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := s.ours.WriteParquet(ctx, folder); err != nil {
		return s, err
	}
	for _, t := range set.Tables {
		file := strings.ReplaceAll(filepath.Join(folder, t.Name+".parquet"), "'", "''")
		if err := s.peer.Execute(fmt.Sprintf("create table %s as select %s from read_parquet('%s')", t.Name, cmp.Or(t.Columns, "*"), file)); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *sides) close() (err error) {
	if s.ours != nil {
		err = s.ours.Close()
	}
	if s.peer != nil {
		err = errors.Join(err, s.peer.Close())
	}
	return err
}

// compare compares the answers to a question, and returns the number of their rows.
func (s *sides) compare(ctx context.Context, q question.Question) (rows int, err error) {
	want, err := s.peer.Answer(q.SQL)
	if err != nil {
		return 0, fmt.Errorf("DuckDB: %w", err)
	}
	got, err := s.ours.Answer(ctx, q)
	if err != nil {
		return 0, err
	}
	if difference := got.Difference(want, q.Order); difference != "" {
		return 0, errors.New(difference)
	}
	return len(got.Rows), nil
}

// measure runs both sides in turns, and returns the least cost of each.
func (s *sides) measure(ctx context.Context, q question.Question, rounds int) (runner.Pair, error) {
	best := runner.Pair{Ours: runner.Most, Theirs: runner.Most}
	for range rounds {
		ours, err := s.ours.Time(ctx, q)
		if err != nil {
			return best, err
		}
		var theirs runner.Cost
		if theirs.Wall, theirs.Processors, err = s.peer.Time(q.SQL); err != nil {
			return best, fmt.Errorf("DuckDB: %w", err)
		}
		best = runner.Pair{Ours: best.Ours.Least(ours), Theirs: best.Theirs.Least(theirs)}
	}
	return best, nil
}
