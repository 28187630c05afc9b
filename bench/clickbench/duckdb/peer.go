package main

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

// peer is a DuckDB with hits in memory, or as a view of the files.
type peer struct{ db *sql.DB }

func openPeer(files string, view bool, threads int) (p *peer, err error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	p = &peer{db}
	p.db.SetMaxOpenConns(1) // settings belong to a connection
	if threads > 0 {
		err = p.execute(fmt.Sprintf("set threads=%d", threads))
	}
	kind := "table"
	if view {
		kind = "view"
	}
	if err == nil {
		err = p.execute(fmt.Sprintf("create %s hits as select * from read_parquet('%s')", kind, files))
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
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

// measure returns the fastest time of a question. Its result becomes a table.
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

// answer returns the first row of a statement's answer, as texts.
func (p *peer) answer(text string) ([]string, error) {
	rows, err := p.db.Query("select columns(*)::varchar from (" + text + ")")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	if !rows.Next() {
		return nil, errors.Join(rows.Err(), errors.New("no row"))
	}
	if err := rows.Scan(targets...); err != nil {
		return nil, err
	}
	texts := make([]string, len(values))
	for i, v := range values {
		if texts[i] = "null"; v.Valid {
			texts[i] = v.String
		}
	}
	return texts, rows.Close()
}
