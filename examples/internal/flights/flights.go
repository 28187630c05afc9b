// Package flights opens the flight data that the examples load.
package flights

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// The files of the examples. Small is in the repository; `make data` downloads Large.
const (
	Small = "flights-200k.arrow"
	Large = "flights-3m.parquet"
)

// Find returns the path of a data file. It searches the folder in GPUFRAME_DATA, then
// examples/data and shared/data of the working directory and of its parents.
func Find(name string) (string, error) {
	candidates := []string{filepath.Join(os.Getenv("GPUFRAME_DATA"), name)}
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		candidates = append(candidates,
			filepath.Join(folder, "examples", "data", name), filepath.Join(folder, "shared", "data", name))
		parent := filepath.Dir(folder)
		if parent == folder {
			break
		}
		folder = parent
	}
	for _, candidate := range candidates {
		if _, err := os.Stat(candidate); err == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("find %s: %w (set GPUFRAME_DATA to its folder)", name, fs.ErrNotExist)
}

// Reader reads the record batches of a file.
type Reader struct {
	array.RecordReader
	// Rows is the total number of rows.
	Rows int64
	// File is closed with the reader.
	File io.Closer
}

// Close releases the reader and closes the file.
func (r *Reader) Close() error {
	r.RecordReader.Release()
	return r.File.Close()
}

// Open opens an Arrow IPC file. The allocator allocates the memory of the records. The
// caller closes the reader.
func Open(path string, allocator memory.Allocator) (*Reader, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	reader, err := ipc.NewFileReader(opened, ipc.WithAllocator(allocator))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var records []arrow.Record
	var rows int64
	defer func() {
		for _, record := range records {
			record.Release()
		}
	}()
	for i := range reader.NumRecords() {
		record, err := reader.RecordAt(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		records = append(records, record)
		rows += record.NumRows()
	}
	all, err := array.NewRecordReader(reader.Schema(), records)
	if err != nil {
		return nil, err
	}
	return &Reader{RecordReader: all, Rows: rows, File: reader}, nil
}
