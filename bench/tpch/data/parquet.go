package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"golang.org/x/sync/errgroup"
)

const (
	rowsOfFile     = 4 << 20
	rowsOfRowGroup = 256 << 10
)

// WriteParquet writes all tables to a folder: lineitem-000.parquet, lineitem-001.parquet, …
// Files are compressed with Snappy, have dictionaries and statistics, and store decimals as
// integers.
func (g *Generator) WriteParquet(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range Tables {
		if err := g.writeTable(ctx, group, t, folder); err != nil {
			return fmt.Errorf("data: %w", errors.Join(group.Wait(), err))
		}
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	return nil
}

// writeTable starts a goroutine for each file.
func (g *Generator) writeTable(ctx context.Context, group *errgroup.Group, t Table, folder string) error {
	number := 0
	for record, err := range g.Records(ctx, t, rowsOfFile) {
		if err != nil {
			return err
		}
		path := filepath.Join(folder, fmt.Sprintf("%s-%03d.parquet", t, number))
		number++
		group.Go(func() error {
			defer record.Release()
			return writeParquet(path, record)
		})
	}
	return nil
}

func writeParquet(path string, record arrow.Record) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithMaxRowGroupLength(rowsOfRowGroup), parquet.WithStoreDecimalAsInteger(true))
	w, err := pqarrow.NewFileWriter(record.Schema(), file, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		return errors.Join(err, file.Close())
	}
	// Closing the writer closes the file.
	for from := int64(0); from < record.NumRows() && err == nil; from += rowsOfRowGroup {
		part := record.NewSlice(from, min(from+rowsOfRowGroup, record.NumRows()))
		err = w.Write(part)
		part.Release()
	}
	return errors.Join(err, w.Close())
}
