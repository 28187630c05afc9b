package gpuframe

import (
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Table is a query on a table in device memory, or on the rows of several tables of one schema, in
// order. Tables may be on any of the devices of [Engine.Devices]: each device reads its own. They
// must not be released before the query has run.
func (e *Engine) Table(table *buffer.Buffer, more ...*buffer.Buffer) Query {
	return e.scan("Table", func() (source.Source, error) { return source.Tables(append([]*buffer.Buffer{table}, more...)...) })
}

// Records is a query on Arrow records in host memory, which are copied to the device when the
// query runs, each as a batch; large ones while the query works on the one before. They must not be
// released before. The schema is that of the
// first record, or the given one without any record. [Engine.NewHostTable] is for records that
// several queries read.
func (e *Engine) Records(schema *arrow.Schema, records ...arrow.Record) Query {
	return e.scan("Records", func() (source.Source, error) { return source.Records(schema, records...) })
}

// Reader is a query on the records of a reader. It can be run once; a second run gives an
// error that wraps ErrUsed. A query that uses it several times reads it once, and keeps the
// records that not all uses have read.
func (e *Engine) Reader(reader array.RecordReader) Query {
	return e.scan("Reader", func() (source.Source, error) { return source.RecordReader(reader) })
}

// From is a query on Go structs, one for each row: their exported fields are the columns. A tag
// `gpuframe:"name"` gives a field another name, `gpuframe:"-"` leaves it out; pointers and
// sql.Null hold nulls. The slice must not change before the query has run.
func From[T any](e *Engine, values []T) Query {
	return e.scan("From", func() (source.Source, error) { return source.Values(values) })
}

// Parquet is a query on Parquet files: files, patterns such as "sales/*.parquet", and folders
// with all Parquet files below them. The first file's columns are those of the query; every
// file must have them. Folders named key=value add a column for each key. Only the columns
// that the query needs are read, and only row groups in which a row can meet its conditions. A path may be the URL of an
// object, a pattern of URLs, or the URL of a folder, such as s3://bucket/sales/: see package objectstore.
func (e *Engine) Parquet(paths ...string) Query {
	return e.scan("Parquet", func() (source.Source, error) { return source.Files{}.Parquet(paths) })
}

// ParquetReaderAt is a query on one Parquet file of size bytes in r. The name stands for its
// path in plans and errors. The query may run many times if r may be read concurrently.
func (e *Engine) ParquetReaderAt(name string, r io.ReaderAt, size int64) Query {
	return e.scan("ParquetReaderAt", func() (source.Source, error) { return source.ParquetReaderAt(name, r, size) })
}

// Files are the files of a file system, or of a store, as sources of an engine: see [Engine.Files] and [Engine.Objects].
type Files struct {
	engine *Engine
	files  source.Files
}

// Files returns the sources of files of a file system, such as an embed.FS, an archive, or the files
// below a folder: [os.Root.FS] follows no link that leads out of it. Paths are names of package
// io/fs, with or without a slash before them. Nil is the file system of the machine, with its
// names, which the methods of the engine read.
func (e *Engine) Files(system fs.FS) Files { return Files{e, source.Files{System: system}} }

// Objects returns the sources of objects of a store, whose paths are its URLs: for credentials or an endpoint of their own.
// Engine.Parquet and the other methods of the engine read URLs of the schemes that imported packages have registered: see
// package objectstore.
func (e *Engine) Objects(store objectstore.Store) Files {
	if store != nil {
		store = objectstore.EnsureRetry(store)
	}
	return Files{e, source.Files{Store: store}}
}

// Parquet is [Engine.Parquet] for files of the file system.
func (f Files) Parquet(paths ...string) Query {
	return f.engine.scan("Parquet", func() (source.Source, error) { return f.files.Parquet(paths) })
}

// CSV is [Engine.CSVWith] for files of the file system.
func (f Files) CSV(options CSVOptions, paths ...string) Query {
	return f.engine.scan("CSV", func() (source.Source, error) { return f.files.CSV(paths, source.CSVOptions(options)) })
}

// JSON is [Engine.JSON] for files of the file system.
func (f Files) JSON(options JSONOptions, paths ...string) Query {
	return f.engine.scan("JSON", func() (source.Source, error) { return f.files.JSON(paths, source.JSONOptions(options)) })
}

// IPC is [Engine.IPC] for files of the file system.
func (f Files) IPC(paths ...string) Query {
	return f.engine.scan("IPC", func() (source.Source, error) { return f.files.IPC(paths) })
}

// scan makes the query of a source. It must be called by the method that the user calls.
func (e *Engine) scan(verb string, open func() (source.Source, error)) Query {
	opened, failure := open()
	return e.scanAt(verb, caller(), opened, failure)
}

func (e *Engine) scanAt(verb string, at uintptr, opened source.Source, failure error) Query {
	return Query{e, bind.NewScan(e.tenancy.Planner, verb, at, opened, failure)}
}
