package source

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// CSVFile is one CSV file for callers that load its records themselves.
type CSVFile struct {
	file    *os.File
	decoder decoder
}

// OpenCSV opens a CSV file and infers its columns.
func OpenCSV(ctx context.Context, name string, options CSVOptions) (*CSVFile, error) {
	f, err := csvFormatOf(options)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s := &streams{format: f, paths: &paths{patterns: []string{name}, files: []path{{name: name}}}}
	s.open = func(context.Context, int, *Counters) (*stream, error) {
		return &stream{Reader: file, close: func() error { return nil }}, nil
	}
	if _, err = s.Schema(ctx); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &CSVFile{file, s.decoder}, nil
}

// Schema returns the columns.
func (f *CSVFile) Schema() *arrow.Schema { return f.decoder.schema() }

// Records decodes columns, once, into records of at most rows rows.
func (f *CSVFile) Records(columns []string, rows int, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	return f.decoder.decode(&stream{Reader: f.file}, columns, rows, allocator)
}

// Close closes the file, after the records were released.
func (f *CSVFile) Close() error { return f.file.Close() }
