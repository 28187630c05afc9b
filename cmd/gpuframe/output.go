package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
)

// output has the flags of the rows that a command writes.
type output struct {
	to, path string
	rows     int
	parquet  gpuframe.ParquetOptions
}

// tableFormat is the format of output for people.
const tableFormat = "table"

// parquetFormat is the name of a format with options.
const parquetFormat = "parquet"

func (out *output) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&out.to, "to", "", "the format of the output: table, "+strings.Join(formatNames(), ", ")+"; by default a table, or that of the file's extension")
	flags.StringVarP(&out.path, "output", "o", "", "the file to write; by default standard output")
	flags.StringVar(&out.parquet.Compression, "compression", "", "the compression of a Parquet file: snappy, zstd, gzip, brotli, lz4_raw or none; by default snappy")
	flags.IntVar(&out.parquet.Level, "compression-level", 0, "the level of zstd, gzip or brotli; 0 for the usual one")
	flags.Int64Var(&out.parquet.GroupRows, "group-rows", 0, "the rows of a row group of a Parquet file; by default 1,048,576")
	flags.StringSliceVar(&out.parquet.Bloom, "bloom", nil, "columns with Bloom filters in a Parquet file")
	flags.IntVar(&out.rows, "rows", 40, "the number of rows that a table shows: half of them are the last ones")
}

// format returns the format of the output, or false for a table.
func (out *output) format(w io.Writer) (format fileFormat, isFile bool, err error) {
	if out.rows < 1 {
		return format, false, fmt.Errorf("--rows is %d, expected 1 or more", out.rows)
	}
	switch {
	case out.to == tableFormat, out.to == "" && out.path == "":
		return format, false, nil
	case out.to != "":
		format, err = formatNamed("--to", out.to, tableFormat)
	default:
		var known bool
		if format, known = writtenFormat(out.path); !known {
			err = fmt.Errorf("--output %s: the extension names no format: give --to with one of table, %s", out.path, strings.Join(formatNames(), ", "))
		}
	}
	if err == nil && out.path == "" && isTerminal(w) && (format.name == parquetFormat || format.name == "ipc") {
		err = fmt.Errorf("--to %s: standard output is a terminal: give a file with --output", format.name)
	}
	return format, true, err
}

// write runs a query and writes its result.
func (out *output) write(ctx context.Context, w io.Writer, q gpuframe.Query, options ...gpuframe.RunOption) error {
	format, isFile, err := out.format(w)
	if err != nil {
		return err
	}
	switch {
	case isFile && out.path != "":
		_, err := q.WriteFile(ctx, out.path, out.written(format), options...)
		return err
	case isFile:
		_, err := q.Write(ctx, w, out.written(format), options...)
		return err
	}
	frame, err := q.Collect(ctx, options...)
	if err != nil {
		return err
	}
	text, err := frame.Table().PreviewWith(ctx, buffer.PreviewOptions{Rows: out.rows, Tail: true, Width: width(w)})
	if err := errors.Join(err, frame.Release()); err != nil {
		return err
	}
	if out.path != "" {
		return os.WriteFile(out.path, []byte(text+"\n"), 0o666)
	}
	_, err = fmt.Fprintln(w, text)
	return err
}

// written returns a format with its options.
func (out *output) written(format fileFormat) gpuframe.Format {
	if format.name == parquetFormat {
		return gpuframe.ParquetWith(out.parquet)
	}
	return format.write()
}

// isTerminal reports whether a writer is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// width returns the width of a terminal, or zero for other writers.
func width(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	columns, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return columns
}
