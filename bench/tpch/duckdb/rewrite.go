package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
)

// rewritten is the folder of files that another writer has written: see rewrite.
func (s *settings) rewritten(ctx context.Context, folder string) (to string, err error) {
	p, err := openPeer(folder, true, s.threads)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return s.rewrite(ctx, folder, p)
}

// rewrite writes the files of a folder again, one for each table, by another writer and with another compression, and
// returns their folder below that one. Files that are there are not written again.
func (s *settings) rewrite(ctx context.Context, folder string, p *duckdb.Peer) (to string, err error) {
	codec := s.codec
	if codec == "" {
		codec = "snappy"
	}
	to = filepath.Join(folder, s.writer+"-"+codec)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	write := func(from, path string) error {
		return p.Execute(fmt.Sprintf("copy (select * from read_parquet(%s)) to %s (format parquet, compression '%s', row_group_size 262144)", quoted(from), quoted(path), codec))
	}
	switch s.writer {
	case "duckdb":
	case "gpuframe":
		engine, err := gpuframe.Open()
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, engine.Close()) }()
		write = func(from, path string) error {
			_, err := engine.Parquet(from).WriteFile(ctx, path, gpuframe.ParquetWith(gpuframe.ParquetOptions{Compression: codec}))
			return err
		}
	default:
		return "", fmt.Errorf("writer %q, expected duckdb, gpuframe or none", s.writer)
	}
	for _, t := range data.Tables {
		path := filepath.Join(to, t.String()+"-000.parquet")
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := write(filepath.Join(folder, t.String()+"-*.parquet"), path); err != nil {
			return "", errors.Join(err, os.RemoveAll(path))
		}
	}
	return to, nil
}
