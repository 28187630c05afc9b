package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/bench/dbbenchmark/internal/groupby"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// withTable calls use with the table of the group-by questions. DuckDB has it as x.
func withTable(ctx context.Context, mgr *memory.Manager, p *peer, d groupby.Data, use func(x *buffer.Buffer) error) (err error) {
	record := d.Generate()
	x, err := buffer.FromRecord(mgr, record)
	err = errors.Join(err, p.load(ctx, map[string]arrow.Record{"x": record}))
	record.Release()
	if err != nil {
		return errors.Join(err, x.Release())
	}
	defer func() { err = errors.Join(err, x.Release()) }()
	return use(x)
}

// rowsOfFile is the number of rows of a file.
const rowsOfFile = 2 << 20

// load makes DuckDB's tables of records by Parquet files: several threads write and read
// them, while DuckDB's appender takes one value at a time.
func (p *peer) load(ctx context.Context, tables map[string]arrow.Record) (err error) {
	folder, err := os.MkdirTemp("", "dbbenchmark-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	group, _ := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for name, record := range tables {
		for from := int64(0); from == 0 || from < record.NumRows(); from += rowsOfFile {
			path := filepath.Join(folder, fmt.Sprintf("%s-%04d.parquet", name, from/rowsOfFile))
			group.Go(func() error {
				part := record.NewSlice(from, min(from+rowsOfFile, record.NumRows()))
				defer part.Release()
				return writeFile(path, part)
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for name := range tables {
		files := strings.ReplaceAll(filepath.Join(folder, name+"-*.parquet"), "'", "''")
		if err := p.execute(fmt.Sprintf("create or replace table %s as select * from read_parquet('%s')", name, files)); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, record arrow.Record) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Uncompressed), parquet.WithDictionaryDefault(false))
	w, err := pqarrow.NewFileWriter(record.Schema(), file, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(w.Write(record), w.Close()) // closing the writer closes the file
}
