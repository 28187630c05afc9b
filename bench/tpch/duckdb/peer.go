package main

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // the driver

	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/answer"
)

// peer is a DuckDB with a database in memory.
type peer struct{ db *sql.DB }

// openPeer opens a database with the tables in the Parquet files of a folder: as tables in
// memory, or as views that read the files. threads is 0 for all processors.
func openPeer(folder string, views bool, threads int) (*peer, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	p := &peer{db}
	err = p.set(threads)
	kind := "table"
	if views {
		kind = "view"
	}
	for _, t := range data.Tables {
		files := strings.ReplaceAll(filepath.Join(folder, t.String()+"-*.parquet"), "'", "''")
		if err == nil {
			err = p.execute(fmt.Sprintf("create %s %s as select * from read_parquet('%s')", kind, t, files))
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// set sets the number of threads.
func (p *peer) set(threads int) error {
	p.db.SetMaxOpenConns(1) // settings belong to a connection
	if threads > 0 {
		return p.execute(fmt.Sprintf("set threads=%d", threads))
	}
	return nil
}

func (p *peer) close() error { return p.db.Close() }

func (p *peer) execute(text string) error {
	_, err := p.db.Exec(text)
	return err
}

// version returns DuckDB's version and the number of its threads.
func (p *peer) version() (version string, err error) {
	err = p.db.QueryRow("select version() || ', ' || current_setting('threads') || ' threads'").Scan(&version)
	return version, err
}

// measure returns the fastest time of a query. Its result becomes a table.
func (p *peer) measure(text string, rounds int) (best time.Duration, err error) {
	best = 1 << 62
	for range rounds {
		begin := time.Now()
		if err := p.execute("create or replace temporary table answer as " + text); err != nil {
			return 0, err
		}
		best = min(best, time.Since(begin))
	}
	return best, nil
}

// answer returns the rows of a query, as texts.
func (p *peer) answer(text string) (a answer.Answer, err error) {
	rows, err := p.db.Query("select columns(*)::varchar from (" + text + ")")
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
