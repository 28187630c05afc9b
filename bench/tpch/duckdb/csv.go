package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
)

// readCSV prints the time in which DuckDB reads a CSV file, or one of JSON lines, into a table in memory.
func (s *settings) readCSV() (err error) {
	info, err := os.Stat(s.csv)
	if err != nil {
		return err
	}
	p, err := duckdb.Open(s.threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	version, err := p.Version()
	if err != nil {
		return err
	}
	fmt.Printf("# DuckDB %s; %s\n", version, s.csv)
	reader := "read_csv"
	if strings.HasSuffix(s.csv, ".jsonl") {
		reader = "read_json"
	}
	took, _, err := p.Measure("select * from "+reader+"('"+strings.ReplaceAll(s.csv, "'", "''")+"')", s.Rounds)
	if err != nil {
		return err
	}
	var rows int64
	if err := p.DB.QueryRow("select count(*) from answer").Scan(&rows); err != nil {
		return err
	}
	fmt.Printf("all columns    %d rows %8.1f ms %6.2f GB/s\n", rows, session.Milliseconds(took), float64(info.Size())/took.Seconds()/1e9)
	return nil
}
