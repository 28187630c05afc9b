package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/internal/session"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
)

// copiedRows is a number of rows of tables that are copied to the host and encoded there.
const copiedRows = 1<<16 - 1

// compareCopies prints the times in which both write lineitem as a Parquet file, and the lengths of the
// files, on a GPU also that of tables that the host encodes. Then DuckDB compares both files.
func (s *settings) compareCopies(ctx context.Context, g *data.Generator, folder string, p *duckdb.Peer) (err error) {
	db, sides, err := s.open(ctx, g, folder, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fmt.Printf("# %s; lineitem at scale factor %v, %s\n", sides, s.Scale, s.copy)
	ownFile, peerFile := filepath.Join(folder, "copy-gpuframe.parquet"), filepath.Join(folder, "copy-duckdb.parquet")
	defer func() { err = errors.Join(err, removeAll(ownFile, peerFile)) }()
	write := func(options ...gpuframe.RunOption) func() error {
		return func() error {
			_, err := db.Tables().Lineitem.WriteFile(ctx, ownFile, gpuframe.ParquetWith(gpuframe.ParquetOptions{Compression: s.copy}), options...)
			return err
		}
	}
	if !db.IsHost() {
		if _, err := measureCopy("copied", ownFile, s.Rounds, write(gpuframe.BatchRows(copiedRows))); err != nil {
			return err
		}
	}
	ours, err := measureCopy("gpuframe", ownFile, s.Rounds, write())
	if err != nil {
		return err
	}
	theirs, err := measureCopy("DuckDB", peerFile, s.Rounds, func() error {
		return p.Execute(fmt.Sprintf("copy lineitem to %s (format parquet, compression '%s')", quoted(peerFile), s.copy))
	})
	if err != nil {
		return err
	}
	fmt.Printf("ratio %.2f×\n", float64(theirs)/float64(ours))
	return compareFiles(p, ownFile, peerFile)
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func removeAll(paths ...string) (err error) {
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// measureCopy returns the fastest time in which a file is written, after a first one.
func measureCopy(name, path string, rounds int, write func() error) (best time.Duration, err error) {
	best = 1 << 62
	processors := best
	for i := range rounds + 1 {
		if err := os.RemoveAll(path); err != nil {
			return 0, err
		}
		begin, before := time.Now(), processor.Time()
		if err := write(); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if took := time.Since(begin); i > 0 {
			best, processors = min(best, took), min(processors, processor.Time()-before)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	fmt.Printf("%-8s %10.1f ms %10.1f ms of processors %10s\n", name, session.Milliseconds(best), session.Milliseconds(processors), humanize.IBytes(uint64(info.Size())))
	return best, nil
}

// compareFiles compares the rows of two files, in order, by hashes of blocks of them.
func compareFiles(p *duckdb.Peer, ownFile, peerFile string) error {
	var different int64
	hashes := func(path string) string {
		return "select file_row_number // 1000 as part, sum(hash(t)::hugeint) as h from (select * exclude file_row_number, file_row_number from read_parquet(" + quoted(path) + ", file_row_number=true)) t group by part"
	}
	text := "select count(*) from (" + hashes(ownFile) + ") a full join (" + hashes(peerFile) + ") b using (part) where a.h is distinct from b.h"
	if err := p.DB.QueryRow(text).Scan(&different); err != nil {
		return err
	}
	if different > 0 {
		return fmt.Errorf("%d parts of 1,000 rows differ between the files", different)
	}
	fmt.Println("DuckDB reads the same rows from both files")
	return nil
}
