// Duckdb answers the queries of bench/tpch with gpuframe and with DuckDB, on the same data and
// in the same run, compares the answers, and prints both times.
//
//	go run . -sf 10                        # tables in memory, on the first GPU
//	go run . -sf 1 -device host -threads 2
//	go run . -sf 10 -parquet               # both read Parquet files
//	go run . -sf 0.01 -write ../queries/testdata
//	go run . -csv FILE -threads 16         # only DuckDB's time to read a CSV file: see bench/csv
//	go run . -sf 10 -copy zstd             # both write lineitem as Parquet
//
// Each answer becomes a table; the fastest time of several counts. Floats may differ by
// 10⁻⁹, and everything else may not. Rows must come in the order of the query. With -write
// the answers of DuckDB are written as the expected ones of the tests.
//
// It is a separate module because DuckDB's library has 56 MB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
)

// settings are the flags of the program.
type settings struct {
	session.Flags
	threads          int
	write, csv, copy string
	writer, codec    string
}

func main() {
	var s settings
	s.Register(flag.CommandLine)
	flag.IntVar(&s.threads, "threads", 0, "threads of DuckDB; 0 for all processors")
	flag.StringVar(&s.write, "write", "", "folder to write DuckDB's answers to")
	flag.StringVar(&s.csv, "csv", "", "CSV file, or one of JSON lines (.jsonl), that DuckDB reads into a table, instead of the queries")
	flag.StringVar(&s.copy, "copy", "", "compression of a Parquet file of lineitem that both write, instead of the queries")
	flag.StringVar(&s.writer, "writer", "", "with -parquet: duckdb or gpuframe, which writes the files that both read; empty for those of arrow-go")
	flag.StringVar(&s.codec, "codec", "", "with -writer: the compression; empty for Snappy")
	flag.Parse()
	if err := s.run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func (s *settings) run(ctx context.Context) (err error) {
	if s.csv != "" {
		return s.readCSV()
	}
	g, folder, remove, err := s.Files(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if s.writer != "" {
		if folder, err = s.rewritten(ctx, folder); err != nil {
			return err
		}
	}
	p, err := openPeer(folder, s.Parquet, s.threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if s.write != "" {
		return s.writeAnswers(p)
	}
	if s.copy != "" {
		return s.compareCopies(ctx, g, folder, p)
	}
	return s.compare(ctx, g, folder, p)
}

// writeAnswers writes a file for each query.
func (s *settings) writeAnswers(p *duckdb.Peer) error {
	for _, q := range queries.All {
		text, err := q.SQL(s.Scale)
		if err != nil {
			return err
		}
		a, err := p.Answer(text)
		if err != nil {
			return fmt.Errorf("query %d: %w", q.Number, err)
		}
		path := filepath.Join(s.write, fmt.Sprintf("answer%02d.txt", q.Number))
		if err := os.WriteFile(path, []byte(a.String()), 0o644); err != nil {
			return err
		}
		fmt.Printf("%2d  %6d rows\n", q.Number, len(a.Rows))
	}
	return nil
}

// open opens gpuframe's side, and describes both.
func (s *settings) open(ctx context.Context, g *data.Generator, folder string, p *duckdb.Peer) (db *session.Session, sides string, err error) {
	version, err := p.Version()
	if err != nil {
		return nil, "", err
	}
	if db, err = session.Open(ctx, g, s.Options(folder)); err != nil {
		return nil, "", err
	}
	return db, fmt.Sprintf("%v; DuckDB %s", db, version), nil
}

// compare prints a line for each query.
func (s *settings) compare(ctx context.Context, g *data.Generator, folder string, p *duckdb.Peer) (err error) {
	db, sides, err := s.open(ctx, g, folder, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fmt.Printf("# %s; scale factor %v, seed %d\n", sides, s.Scale, s.Seed)
	fmt.Printf("%2s  %-34s %12s %12s %9s %14s %12s %9s %12s %8s\n", "", "", "gpuframe ms", "DuckDB ms", "ratio", "processors ms", "DuckDB", "ratio", "peak MiB", "rows")
	var all times
	var failures []error
	for _, q := range s.Chosen() {
		measured, other, err := s.compareQuery(ctx, db, p, q)
		if err != nil {
			failures = append(failures, fmt.Errorf("query %d: %w", q.Number, err))
			fmt.Printf("%2d  %-34s FAILED %v\n", q.Number, q.Name, err)
			continue
		}
		t := times{measured.Best, other.Best, measured.Processor, other.Processor}
		for i := range all {
			all[i] += t[i]
		}
		fmt.Printf("%2d  %-34s %v %12.1f %8d\n", q.Number, q.Name, t, float64(measured.Peak)/(1<<20), measured.Rows)
	}
	fmt.Printf("    %-34s %v\n", "all", all)
	return errors.Join(failures...)
}

// times are gpuframe's time of the clock and DuckDB's, and then the processor times.
type times [4]time.Duration

// String formats both pairs with their ratios, DuckDB's time divided by gpuframe's: above 1 gpuframe is faster.
func (t times) String() string {
	pair := func(ours, theirs time.Duration) string {
		return fmt.Sprintf("%12.2f %12.2f %8.2f×", session.Milliseconds(ours), session.Milliseconds(theirs), float64(theirs)/float64(max(ours, 1)))
	}
	return pair(t[0], t[1]) + "   " + pair(t[2], t[3])
}

// compareQuery compares the answers to a query and measures both.
func (s *settings) compareQuery(ctx context.Context, db *session.Session, p *duckdb.Peer, q queries.Query) (measured, other session.Measurement, err error) {
	text, err := q.SQL(s.Scale)
	if err != nil {
		return measured, other, err
	}
	want, err := p.Answer(text)
	if err != nil {
		return measured, other, fmt.Errorf("DuckDB: %w", err)
	}
	got, err := db.Answer(ctx, q)
	if err != nil {
		return measured, other, err
	}
	if difference := got.Difference(want, q.Order); difference != "" {
		return measured, other, errors.New(difference)
	}
	if measured, err = db.Measure(ctx, q, s.Rounds); err != nil {
		return measured, other, err
	}
	other.Best, other.Processor, err = p.Measure(text, s.Rounds)
	return measured, other, err
}
