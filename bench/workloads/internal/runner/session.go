// Package runner loads the tables of a set and runs its questions with gpuframe.
package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
)

// Session is an engine with the tables of a set in device memory. Its methods may not be called concurrently.
type Session struct {
	Set question.Set
	// Lines are the lines of Go of each question.
	Lines  map[string]int
	engine *gpuframe.Engine
	frames []*gpuframe.Frame
	tables question.Tables
}

// Open generates the tables of a set, of which the largest has the number of rows, on an engine, which stays the
// caller's. The caller closes the session.
func Open(ctx context.Context, e *gpuframe.Engine, set question.Set, rows int) (s *Session, err error) {
	s = &Session{Set: set, engine: e, tables: question.Tables{}}
	defer func() {
		if err != nil {
			s, err = nil, errors.Join(err, s.Close())
		}
	}()
	if s.Lines, err = set.Lines(); err != nil {
		return s, err
	}
	for _, t := range set.Tables {
		frame, err := t.Make(e, rows).Collect(ctx, gpuframe.Tag(t.Name))
		if err != nil {
			return s, fmt.Errorf("table %s: %w", t.Name, err)
		}
		s.frames = append(s.frames, frame)
		s.tables[t.Name] = e.Table(frame.Table())
	}
	return s, nil
}

// Close releases the tables.
func (s *Session) Close() (err error) {
	for _, f := range s.frames {
		err = errors.Join(err, f.Release())
	}
	return err
}

// WriteParquet writes each table to a file of its name in a folder. Lists of a fixed size, which gpuframe does not write to
// Parquet, become lists.
func (s *Session) WriteParquet(ctx context.Context, folder string) error {
	for name, table := range s.tables {
		schema, err := table.Schema(ctx)
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		for _, field := range schema.Fields() {
			if list, isFixed := field.Type.(*arrow.FixedSizeListType); isFixed {
				table = table.With(gpuframe.Col(field.Name).ListSlice(0, int(list.Len())))
			}
		}
		if _, err := table.WriteFile(ctx, filepath.Join(folder, name+".parquet"), gpuframe.Parquet()); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

// run collects the answer to a question, which the caller releases.
func (s *Session) run(ctx context.Context, q question.Question) (*gpuframe.Frame, error) {
	query, err := q.Query(ctx, s.tables)
	if err != nil {
		return nil, err
	}
	return query.Collect(ctx)
}

// Answer runs a question.
func (s *Session) Answer(ctx context.Context, q question.Question) (a answer.Answer, err error) {
	frame, err := s.run(ctx, q)
	if err != nil {
		return a, err
	}
	record, err := frame.Record(ctx)
	if err = errors.Join(err, frame.Release()); err != nil {
		return a, err
	}
	defer record.Release()
	return answer.Of(record), nil
}

// Time returns the time of the clock and the processor time of a question, from its text in Go until the result is in
// device memory.
func (s *Session) Time(ctx context.Context, q question.Question) (c Cost, err error) {
	begin, before := time.Now(), processor.Time()
	frame, err := s.run(ctx, q)
	if err != nil {
		return c, err
	}
	err = s.engine.Manager().Stream().Synchronize(ctx)
	c = Cost{time.Since(begin), processor.Time() - before}
	return c, errors.Join(err, frame.Release())
}

// Best returns the least cost of a question after a first run.
func (s *Session) Best(ctx context.Context, q question.Question, rounds int) (Cost, error) {
	best := Most
	for i := range rounds + 1 {
		c, err := s.Time(ctx, q)
		if err != nil {
			return c, err
		}
		if i > 0 {
			best = best.Least(c)
		}
	}
	return best, nil
}
