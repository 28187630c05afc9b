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
}

// tableFormat is the format of output for people.
const tableFormat = "table"

func (out *output) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&out.to, "to", "", "the format of the output: table, "+strings.Join(formatNames(), ", ")+"; by default a table, or that of the file's extension")
	flags.StringVarP(&out.path, "output", "o", "", "the file to write; by default standard output")
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
	if err == nil && out.path == "" && isTerminal(w) && (format.name == "parquet" || format.name == "ipc") {
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
		_, err := q.WriteFile(ctx, out.path, format.write(), options...)
		return err
	case isFile:
		_, err := q.Write(ctx, w, format.write(), options...)
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
