package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
)

// readCSV prints the time in which DuckDB reads a CSV file into a table in memory.
func (s *settings) readCSV() (err error) {
	info, err := os.Stat(s.csv)
	if err != nil {
		return err
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	p := &peer{db}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.set(s.threads); err != nil {
		return err
	}
	version, err := p.version()
	if err != nil {
		return err
	}
	fmt.Printf("# DuckDB %s; %s\n", version, s.csv)
	took, err := p.measure("select * from read_csv('"+strings.ReplaceAll(s.csv, "'", "''")+"')", s.Rounds)
	if err != nil {
		return err
	}
	var rows int64
	if err := db.QueryRow("select count(*) from answer").Scan(&rows); err != nil {
		return err
	}
	fmt.Printf("all columns    %d rows %8.1f ms %6.2f GB/s\n", rows, session.Milliseconds(took), float64(info.Size())/took.Seconds()/1e9)
	return nil
}
