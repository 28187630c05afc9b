package gpuframe

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
)

// CSVOptions describe the CSV files of a query.
type CSVOptions struct {
	// Delimiter is the character between values. Zero means a comma.
	Delimiter rune
	// NoHeader means that the first line has values. The columns are called f0, f1, …
	NoHeader bool
	// Nulls are the texts that stand for null. Nil means empty text, NULL and null. Text within
	// quotes is never null, but empty text of a column of other types is.
	Nulls []string
	// Types are the types of columns that are not inferred. A value that its type does not hold
	// is an error. Timestamps without an offset are in UTC.
	Types map[string]arrow.DataType
	// InferRows is the number of rows that types are inferred from, in each file. Zero means
	// 10,000 of the first file, and of the others that many altogether and 100 of each at
	// least; a negative number means all rows. A later value of another type is an error.
	InferRows int
	// Strict means that every file has the columns of the first one, in their order, and that
	// the first one alone gives the types. Otherwise a query has the columns of all files by
	// name, with a type that holds the values of all; those that a file does not have are null.
	Strict bool
}

// JSONOptions describe the files of JSON lines of a query.
type JSONOptions struct {
	// Schema has the columns; other members are left out. Nil infers the columns from the
	// beginnings of the files. Null is a value of each column, member and element, also if the
	// schema says that it is not nullable.
	Schema *arrow.Schema
	// InferRows is the number of rows that columns are inferred from, as in [CSVOptions]. A
	// member that occurs only later is an error. A later value of another type is one, too.
	InferRows int
	// Strict means that the first file alone gives the columns. Otherwise a query has the
	// members of all files, with a type that holds the values of all.
	Strict bool
}

// CSV is a query on CSV files with commas and a line of names. Types are inferred: the narrowest of
// int64, uint64, decimals of 38 digits, float64, bool, date32 and timestamps in UTC that holds all
// values, or text. No digit of an integer is lost: text such as +47, 1_000 and 0x10 stays text, and
// so does a column that no type holds. Only fractions of seconds are cut off, after microseconds,
// in a column that has more digits and also times that nanoseconds cannot hold. Paths are files,
// patterns and folders, as for [Engine.Parquet].
func (e *Engine) CSV(paths ...string) Query {
	return e.scan("CSV", func() (source.Source, error) { return source.Files{}.CSV(paths, source.CSVOptions{}) })
}

// CSVWith is [Engine.CSV] with options.
func (e *Engine) CSVWith(options CSVOptions, paths ...string) Query {
	return e.scan("CSVWith", func() (source.Source, error) { return source.Files{}.CSV(paths, source.CSVOptions(options)) })
}

// JSONLines is a query on files of one JSON object in each line. The columns are inferred
// from the first 10,000 rows, as those of [Engine.CSV]. "NaN", "Infinity" and "-Infinity" among
// numbers are floats. Paths are those of [Engine.Parquet].
func (e *Engine) JSONLines(paths ...string) Query {
	return e.scan("JSONLines", jsonLines(JSONOptions{}, paths))
}

// JSONLinesWith is [Engine.JSONLines] with the columns of a schema. Other members are left out.
func (e *Engine) JSONLinesWith(schema *arrow.Schema, paths ...string) Query {
	return e.scan("JSONLinesWith", jsonLines(JSONOptions{Schema: schema}, paths))
}

// JSON is [Engine.JSONLines] with options.
func (e *Engine) JSON(options JSONOptions, paths ...string) Query {
	return e.scan("JSON", jsonLines(options, paths))
}

func jsonLines(options JSONOptions, paths []string) func() (source.Source, error) {
	return func() (source.Source, error) { return source.Files{}.JSON(paths, source.JSONOptions(options)) }
}

// IPC is a query on files of Arrow's IPC formats, files and streams. Paths are those of
// [Engine.Parquet].
func (e *Engine) IPC(paths ...string) Query {
	return e.scan("IPC", func() (source.Source, error) { return source.Files{}.IPC(paths) })
}

// Format is a file format that [Query.WriteFile] and [Query.Write] write. The zero value is
// Parquet.
type Format struct{ format sink.Format }

// Formats with their usual options: Parquet is compressed by snappy, CSV has commas and a
// line of names, JSONLines an object in each line, IPC is Arrow's file format. Parquet and IPC
// hold most types. CSV holds numbers, decimals, bools, text, dates and timestamps, JSONLines
// numbers, decimals, bools, text, dates, times, and lists and structs of them. In CSV a null is
// nothing and an empty string is "". Floats that JSON lacks are "NaN", "Infinity" and "-Infinity".
func Parquet() Format   { return Format{sink.Parquet(sink.ParquetOptions{})} }
func CSV() Format       { return Format{sink.CSV(sink.CSVOptions{})} }
func JSONLines() Format { return Format{sink.JSON()} }
func IPC() Format       { return Format{sink.IPC(sink.IPCOptions{})} }

// ParquetOptions describe a Parquet file that is written. docs/files.md has the encodings.
type ParquetOptions struct {
	// Compression is "snappy", "zstd", "gzip", "brotli", "lz4_raw" or "none". Empty means snappy.
	Compression string
	// Level is the level of the compression: zstd has 1 to 22, gzip 1 to 9, brotli 1 to 11. Zero means
	// the usual one, which is 1 for zstd.
	Level int
	// GroupRows is the number of rows of a row group. Zero means 1,048,576, or fewer rows of 256 MiB.
	GroupRows int64
	// PageRows is the number of rows of a page, which readers leave out by the page index. Pages with
	// more than 1 MiB of values have fewer. Zero means 65,536.
	PageRows int64
	// NoDictionaries leaves out dictionaries.
	NoDictionaries bool
	// OldEncodings leaves out the encodings DELTA_BINARY_PACKED and DELTA_LENGTH_BYTE_ARRAY, which some
	// readers from before 2022 do not have.
	OldEncodings bool
	// Bloom has the names of columns with Bloom filters, by which readers leave out row groups without
	// a value. A column of lists, structs or maps has one for each of its leaves.
	Bloom []string
	// FieldIDs are the IDs of the columns, in their order. Nil means none. Those of parts of lists, structs and maps
	// are their Members.
	FieldIDs []FieldID
}

// FieldID is the ID of a column in the schema of a Parquet file, by which formats of tables such as Iceberg find it.
type FieldID = sink.FieldID

// ParquetWith is [Parquet] with options.
func ParquetWith(options ParquetOptions) Format {
	return Format{sink.Parquet(sink.ParquetOptions(options))}
}

func (f Format) orParquet() sink.Format {
	if f.format == nil {
		return sink.Parquet(sink.ParquetOptions{})
	}
	return f.format
}

// WriteFile runs the query and writes its result to a file, batch by batch. A file of the
// name is replaced at the end; a query that fails leaves it unchanged. The path may be the URL of an
// object, as for [Engine.Parquet], which appears at the end, too. It returns the number of rows.
func (q Query) WriteFile(ctx context.Context, path string, format Format, options ...RunOption) (rows int64, err error) {
	return q.write(ctx, options, func(reader buffer.Reader) (sink.Written, error) {
		return sink.ToPath(ctx, path, format.orParquet(), reader)
	})
}

// Write is WriteFile to a writer. If memory is short because of other queries after
// something was written, the query fails.
func (q Query) Write(ctx context.Context, to io.Writer, format Format, options ...RunOption) (rows int64, err error) {
	target := &untouched{Writer: to}
	return q.write(ctx, options, func(reader buffer.Reader) (sink.Written, error) {
		if target.touched {
			return sink.Written{}, source.ErrUsed
		}
		return sink.ToWriter(ctx, target, format.orParquet(), reader)
	})
}

func (q Query) write(ctx context.Context, options []RunOption, write func(buffer.Reader) (sink.Written, error)) (int64, error) {
	r, ctx, err := q.start(ctx, options, false)
	if err != nil {
		return 0, err
	}
	var written sink.Written
	err = queryError(r.Attempt(ctx, func(reader buffer.Reader) (err error) {
		written, err = write(reader)
		return errors.Join(err, r.Close())
	}))
	r.End(err)
	return written.Rows, err
}

// untouched notes whether a writer was written to.
type untouched struct {
	io.Writer
	touched bool
}

func (u *untouched) Write(p []byte) (int, error) {
	u.touched = true
	return u.Writer.Write(p)
}
