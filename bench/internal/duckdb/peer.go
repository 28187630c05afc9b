// Package duckdb runs statements with DuckDB, for benchmarks that compare with it. The program imports DuckDB's driver:
// this package does not, so that the module bench is small.
package duckdb

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
)

// Peer is a DuckDB with a database in memory. Its methods may not be called concurrently.
type Peer struct{ DB *sql.DB }

// Open opens an empty database. threads is 0 for all processors. The caller closes the peer.
func Open(threads int) (*Peer, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	p := &Peer{db}
	p.DB.SetMaxOpenConns(1) // settings belong to a connection
	if threads > 0 {
		err = p.Execute(fmt.Sprintf("set threads=%d", threads))
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close closes the database.
func (p *Peer) Close() error { return p.DB.Close() }

// Execute runs a statement.
func (p *Peer) Execute(text string) error {
	_, err := p.DB.Exec(text)
	return err
}

// Version returns DuckDB's version and the number of its threads.
func (p *Peer) Version() (version string, err error) {
	err = p.DB.QueryRow("select version() || ', ' || current_setting('threads') || ' threads'").Scan(&version)
	return version, err
}

// Measure returns the least time of the clock and the least processor time of a query. Its result becomes a table.
func (p *Peer) Measure(text string, rounds int) (best, processors time.Duration, err error) {
	best, processors = 1<<62, 1<<62
	for range rounds {
		took, used, err := p.Time(text)
		if err != nil {
			return 0, 0, err
		}
		best, processors = min(best, took), min(processors, used)
	}
	return best, processors, nil
}

// Time returns the time of the clock and the processor time of a query. Its result becomes a table.
func (p *Peer) Time(text string) (took, processors time.Duration, err error) {
	begin, before := time.Now(), processor.Time()
	err = p.Execute("create or replace temporary table answer as " + text)
	return time.Since(begin), processor.Time() - before, err
}

// Answer returns the rows of a query, as texts. Lists, structs and maps are JSON.
func (p *Peer) Answer(text string) (a answer.Answer, err error) {
	columns, err := p.columns(text)
	if err != nil {
		return a, err
	}
	rows, err := p.DB.Query("select " + columns + " from (" + text + ")")
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if a.Columns, err = rows.Columns(); err != nil {
		return a, err
	}
	for rows.Next() {
		values := make([]sql.NullString, len(a.Columns))
		targets := make([]any, len(values))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return a, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			if row[i] = answer.Null; v.Valid {
				row[i] = v.String
			}
		}
		a.Rows = append(a.Rows, row)
	}
	return a, rows.Err()
}

// columns returns the columns of a query as expressions of texts.
func (p *Peer) columns(text string) (columns string, err error) {
	rows, err := p.DB.Query("select column_name, column_type from (describe " + text + ")")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var list []string
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return "", err
		}
		name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		if strings.ContainsAny(kind, "[") || strings.HasPrefix(kind, "STRUCT") || strings.HasPrefix(kind, "MAP") {
			list = append(list, "to_json("+name+")::varchar as "+name)
		} else {
			list = append(list, name+"::varchar as "+name)
		}
	}
	return strings.Join(list, ", "), rows.Err()
}
