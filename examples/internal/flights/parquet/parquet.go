// Package parquet opens flight data in Parquet files. It is separate from package
// flights because a Parquet reader links much code.
package parquet

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/gpuframe/gpuframe/examples/internal/flights"
)

// Open opens a Parquet file. Its columns are decoded into memory of the allocator. The
// caller closes the reader.
func Open(ctx context.Context, path string, allocator memory.Allocator) (*flights.Reader, error) {
	parquetFile, err := file.OpenParquetFile(path, true)
	if err != nil {
		return nil, err
	}
	properties := pqarrow.ArrowReadProperties{Parallel: true, BatchSize: 1 << 17}
	arrowFile, err := pqarrow.NewFileReader(parquetFile, properties, allocator)
	if err != nil {
		return nil, errors.Join(err, parquetFile.Close())
	}
	records, err := arrowFile.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return nil, errors.Join(err, parquetFile.Close())
	}
	return &flights.Reader{RecordReader: records, Rows: parquetFile.NumRows(), File: parquetFile}, nil
}
