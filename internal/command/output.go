package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/dustin/go-humanize"
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
	folder   gpuframe.FolderOptions
	// fileBytes is the text of a size.
	fileBytes string
	picture   picture
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
	flags.StringSliceVar(&out.folder.PartitionBy, "partition-by", nil, "columns with a folder key=value for each value below --output, which is a folder")
	flags.Int64Var(&out.folder.FileRows, "file-rows", 0, "the most rows of a file: --output is a folder")
	flags.StringVar(&out.fileBytes, "file-bytes", "", "the approximate length of a file, 128MB for example: --output is a folder")
	flags.TextVar(&out.folder.Existing, "existing", gpuframe.RefuseExisting, "if the folder has files: error, append, overwrite or overwrite_partitions")
	flags.IntVar(&out.folder.MostFiles, "most-files", 0, "the number of files of a folder above which the command fails; by default 10,000")
	flags.StringVar(&out.folder.Manifest, "manifest", "", "a file of the folder for the list of its files, _manifest.json for example")
	out.picture.addTo(flags)
	flags.IntVar(&out.rows, "rows", 40, "the number of rows that a table shows: half of them are the last ones")
}

// format returns the format of the output, or false for a table.
func (out *output) format(w io.Writer) (format fileFormat, isFile bool, err error) {
	if err := out.picture.check(out); err != nil {
		return format, false, err
	}
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
	if out.picture.path != "" {
		return out.draw(ctx, q, options...)
	}
	format, isFile, err := out.format(w)
	if err != nil {
		return err
	}
	inFolder, err := out.inFolder(isFile)
	if err != nil {
		return err
	}
	switch {
	case inFolder:
		_, err := q.WriteFiles(ctx, out.path, out.written(format), out.folder, options...)
		return err
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

// inFolder reports whether the output is a folder of files.
func (out *output) inFolder(isFile bool) (bool, error) {
	if out.fileBytes != "" {
		bytes, err := humanize.ParseBytes(out.fileBytes)
		if err != nil || bytes == 0 || bytes > math.MaxInt64 {
			return false, fmt.Errorf("--file-bytes %s: expected a size such as 128MB", out.fileBytes)
		}
		out.folder.FileBytes = int64(bytes)
	}
	f := out.folder
	inFolder := len(f.PartitionBy) > 0 || f.FileRows != 0 || f.MostFiles != 0 || f.FileBytes != 0 || f.Existing != gpuframe.RefuseExisting || f.Manifest != ""
	if inFolder && (!isFile || out.path == "") {
		return false, errors.New("--partition-by, --file-rows, --file-bytes, --most-files, --existing and --manifest are for files of a folder: give --output and --to")
	}
	return inFolder, nil
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
