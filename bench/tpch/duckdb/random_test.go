package main

import (
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
)

var (
	randomQueries = flag.Int("queries", 400, "the number of random queries that TestRandomQueries compares")
	firstQuery    = flag.Int("first-query", 0, "the seed of the first of them")
)

// TestRandomQueries compares random queries on random tables with DuckDB.
func TestRandomQueries(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	p, err := duckdb.Open(0)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	require.NoError(t, p.Execute(querytest.SQLMacros))
	withRows := 0
	for seed := *firstQuery; seed < *firstQuery+*randomQueries; seed++ {
		options := querytest.Options{Verbs: 2 + seed%5, Rows: 20, Least: 5 * (seed % 3), SQL: true}
		c := rapid.Custom(func(t *rapid.T) *querytest.Case { return querytest.Draw(t, e, options) }).Example(seed)
		if err := compareQuery(t, p, c); err != nil {
			t.Errorf("query %d: %v\n%s\n%s", seed, err, c.Text, c.SQL)
		}
		if len(c.Want.Rows) > 0 {
			withRows++
		}
		require.NoError(t, c.Query.Evict())
		c.Release()
		require.Zero(t, e.Manager().Stats().InUse)
	}
	t.Logf("%d of %d queries have rows", withRows, *randomQueries)
	require.Greater(t, withRows, *randomQueries/10)
}

// compareQuery runs a query by both.
func compareQuery(t *testing.T, p *duckdb.Peer, c *querytest.Case) error {
	want, err := rowsOf(p, c)
	if err != nil {
		return fmt.Errorf("DuckDB: %w", err)
	}
	frame, err := c.Query.Collect(t.Context())
	if err != nil {
		return err
	}
	record, err := frame.Record(t.Context())
	if err = errors.Join(err, frame.Release()); err != nil {
		return err
	}
	defer record.Release()
	if err := want.Check(record); err != nil {
		return fmt.Errorf("DuckDB has other rows: %w\nthe model: %v", err, c.Want.Check(record))
	}
	return nil
}

// rowsOf returns the rows of a query in DuckDB.
func rowsOf(p *duckdb.Peer, c *querytest.Case) (*querytest.Table, error) {
	rows, err := p.DB.Query(c.SQL)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	table := &querytest.Table{Columns: c.Want.Columns, Ordered: c.Want.Ordered}
	for rows.Next() {
		row := make(querytest.Row, len(table.Columns))
		places := make([]any, len(row))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for i, value := range row {
			if narrow, ok := value.(int32); ok {
				row[i] = int64(narrow)
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table, rows.Err()
}
