package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/joins"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// mostRows is the most rows of an answer that are compared one by one.
const mostRows = 100_000

// joinings compares the questions of joins.
func joinings(ctx context.Context, mgr *memory.Manager, p *peer, d groupby.Data, rounds int) (err error) {
	tables := joins.Data{Rows: d.Rows, Nulls: d.Nulls, Sorted: d.Sorted, Seed: d.Seed}.Generate()
	loaded, err := tables.Load(mgr)
	if err == nil {
		err = p.load(ctx, tables)
	}
	tables.Release()
	if err != nil {
		return errors.Join(err, loaded.Release())
	}
	defer func() { err = errors.Join(err, loaded.Release()) }()
	var ours, theirs time.Duration
	var failures []error
	for _, q := range joins.Questions {
		mine, rows, err := q.Measure(ctx, loaded, mgr, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
		other, err := p.measure(q.SQL(), rounds)
		if err != nil {
			return fmt.Errorf("%s: DuckDB: %w", q.Name, err)
		}
		verdict := "equal"
		if err := compareJoins(ctx, q, loaded, p); err != nil {
			verdict = "DIFFERENT"
			failures = append(failures, fmt.Errorf("%s: %w", q.Name, err))
		}
		ours, theirs = ours+mine, theirs+other
		fmt.Printf("%-4s %-28s %10.3f ms %10.3f ms %8.2f × %10d rows, %s\n", q.Name, q.Text, milliseconds(mine), milliseconds(other), ratio(other, mine), rows, verdict)
	}
	fmt.Printf("all  %39.3f ms %10.3f ms %8.2f ×\n", milliseconds(ours), milliseconds(theirs), ratio(theirs, ours))
	return errors.Join(failures...)
}

// compareJoins compares an answer with the table "answer" of DuckDB.
func compareJoins(ctx context.Context, q joins.Question, tables joins.Loaded, p *peer) (err error) {
	answer, err := q.Answer(ctx, tables)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Release()) }()
	ours, err := joins.Checks(ctx, answer)
	if err != nil {
		return err
	}
	theirs, err := p.answer(joins.ChecksSQL(answer.Schema(), "answer"), 0)
	if err != nil {
		return err
	}
	for i, number := range ours {
		if other := theirs[""][i]; !same(number, other) {
			return fmt.Errorf("check %d is %v, not %v", i, number, other)
		}
	}
	if ours[0] > mostRows {
		return nil
	}
	return compareRows(ctx, answer, p)
}

// compareRows compares the rows of an answer, in any order.
func compareRows(ctx context.Context, answer *buffer.Buffer, p *peer) error {
	record, err := answer.Record(ctx)
	if err != nil {
		return err
	}
	defer record.Release()
	var names []string
	for _, f := range record.Schema().Fields() {
		names = append(names, f.Name)
	}
	theirs, err := p.answer(fmt.Sprintf("select %s, 1 from answer", strings.Join(names, ", ")), len(names))
	if err != nil {
		return err
	}
	byKey := answers{}
	for row := range int(record.NumRows()) {
		var key strings.Builder
		for _, c := range record.Columns() {
			key.WriteString(textOf(valueAt(c, row)) + "|")
		}
		byKey[key.String()] = append(byKey[key.String()], 1.0)
	}
	if difference := byKey.difference(theirs); difference != "" {
		return errors.New(difference)
	}
	return nil
}
