package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/names"
)

// fileFormat is a format of files that are read and written.
type fileFormat struct {
	name       string
	extensions []string
	read       func(*gpuframe.Engine, *input, []string) gpuframe.Query
	write      func() gpuframe.Format
}

var fileFormats = []fileFormat{
	{"parquet", []string{".parquet", ".parq", ".pq"},
		func(e *gpuframe.Engine, _ *input, paths []string) gpuframe.Query { return e.Parquet(paths...) }, gpuframe.Parquet},
	{"csv", []string{".csv", ".tsv", ".txt"}, readCSV, gpuframe.CSV},
	{"json", []string{".json", ".jsonl", ".ndjson"},
		func(e *gpuframe.Engine, _ *input, paths []string) gpuframe.Query { return e.JSONLines(paths...) }, gpuframe.JSONLines},
	{"ipc", []string{".arrow", ".arrows", ".ipc", ".feather"},
		func(e *gpuframe.Engine, _ *input, paths []string) gpuframe.Query { return e.IPC(paths...) }, gpuframe.IPC},
}

func formatNames() []string {
	list := make([]string, len(fileFormats))
	for i, f := range fileFormats {
		list[i] = f.name
	}
	return list
}

// formatNamed returns the format with a name.
func formatNamed(flag, name string, others ...string) (fileFormat, error) {
	for _, f := range fileFormats {
		if f.name == name {
			return f, nil
		}
	}
	return fileFormat{}, fmt.Errorf("%s: %s", flag, names.Unknown("format", name, append(formatNames(), others...)))
}

// formatOf returns the format of a file by its extension.
func formatOf(path string) (fileFormat, bool) {
	extension := strings.ToLower(filepath.Ext(path))
	at := slices.IndexFunc(fileFormats, func(f fileFormat) bool { return slices.Contains(f.extensions, extension) })
	if at < 0 {
		return fileFormat{}, false
	}
	return fileFormats[at], true
}

// input has the flags of the files that a command reads.
type input struct {
	from, delimiter string
	noHeader        bool
}

func (in *input) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&in.from, "from", "", "the format of the files: "+strings.Join(formatNames(), ", ")+"; by default that of their extension")
	flags.StringVar(&in.delimiter, "delimiter", "", `the character between values of CSV files, or "tab"; by default a comma, and a tab for .tsv`)
	flags.BoolVar(&in.noHeader, "no-header", false, "CSV files have no line of names: columns are called f0, f1, …")
}

// query returns the rows of files: paths, patterns and folders, all of one format.
func (in *input) query(e *gpuframe.Engine, paths []string) (gpuframe.Query, error) {
	format, err := in.format(paths)
	if err != nil {
		return gpuframe.Query{}, err
	}
	if format.name != "csv" && (in.delimiter != "" || in.noHeader) {
		return gpuframe.Query{}, fmt.Errorf("--delimiter and --no-header are for CSV files, and %s is of format %s", paths[0], format.name)
	}
	if in.delimiter == "tab" {
		in.delimiter = "\t"
	}
	if in.delimiter != "" && utf8.RuneCountInString(in.delimiter) != 1 {
		return gpuframe.Query{}, fmt.Errorf("--delimiter is %q, expected one character", in.delimiter)
	}
	return format.read(e, in, paths), nil
}

func readCSV(e *gpuframe.Engine, in *input, paths []string) gpuframe.Query {
	options := gpuframe.CSVOptions{NoHeader: in.noHeader}
	if options.Delimiter, _ = utf8.DecodeRuneInString(in.delimiter); in.delimiter == "" {
		options.Delimiter = ','
		if strings.EqualFold(filepath.Ext(paths[0]), ".tsv") {
			options.Delimiter = '\t'
		}
	}
	return e.CSVWith(options, paths...)
}

// format returns the format of paths.
func (in *input) format(paths []string) (fileFormat, error) {
	if in.from != "" {
		return formatNamed("--from", in.from)
	}
	first, err := formatOfAny(paths[0])
	if err != nil {
		return fileFormat{}, err
	}
	for _, path := range paths[1:] {
		next, err := formatOfAny(path)
		if err != nil {
			return fileFormat{}, err
		}
		if next.name != first.name {
			return fileFormat{}, fmt.Errorf("%s is of format %s and %s of format %s, expected files of one format", paths[0], first.name, path, next.name)
		}
	}
	return first, nil
}

// formatOfAny returns the format of a file, a pattern, or the first file of a folder.
func formatOfAny(path string) (fileFormat, error) {
	if f, ok := formatOf(path); ok {
		return f, nil
	}
	found := []string{path}
	if matches, err := filepath.Glob(path); err == nil && len(matches) > 0 {
		found = matches
	}
	errFound := errors.New("found")
	var format fileFormat
	for _, each := range found {
		err := filepath.WalkDir(each, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if f, ok := formatOf(name); ok && !entry.IsDir() {
				format = f
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			return format, nil
		}
		if err != nil {
			return fileFormat{}, err
		}
	}
	return fileFormat{}, fmt.Errorf("%s: the extension names no format: give --from with one of %s", path, strings.Join(formatNames(), ", "))
}
