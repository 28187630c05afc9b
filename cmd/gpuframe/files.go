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
	"github.com/gpuframe/gpuframe/cmd/gpuframe/internal/pipeline"
	"github.com/gpuframe/gpuframe/internal/names"
)

// fileFormat is a format of files that are read and written.
type fileFormat struct {
	name string
	// extensions are those of files that are written and read, others those of files that are
	// only read.
	extensions, others []string
	read               func(*gpuframe.Engine, *input, []string) (gpuframe.Query, error)
	write              func() gpuframe.Format
}

var fileFormats = []fileFormat{
	{"parquet", []string{".parquet", ".parq", ".pq"}, nil,
		scanned((*gpuframe.Engine).Parquet), gpuframe.Parquet},
	{"csv", []string{".csv"}, []string{".tsv", ".txt"}, readCSV, gpuframe.CSV},
	{"json", []string{".json", ".jsonl", ".ndjson"}, nil,
		readJSON, gpuframe.JSONLines},
	{"ipc", []string{".arrow", ".arrows", ".ipc", ".feather"}, nil,
		scanned((*gpuframe.Engine).IPC), gpuframe.IPC},
}

// scanned reads files of a format without options.
func scanned(scan func(*gpuframe.Engine, ...string) gpuframe.Query) func(*gpuframe.Engine, *input, []string) (gpuframe.Query, error) {
	return func(e *gpuframe.Engine, _ *input, paths []string) (gpuframe.Query, error) {
		return scan(e, paths...), nil
	}
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

// readExtensions are the extensions of files that are read.
func (f fileFormat) readExtensions() []string { return slices.Concat(f.extensions, f.others) }

// formatOf returns the format of a file to read by its extension.
func formatOf(path string) (fileFormat, bool) { return byExtension(path, fileFormat.readExtensions) }

// writtenFormat returns the format of a file to write by its extension.
func writtenFormat(path string) (fileFormat, bool) {
	return byExtension(path, func(f fileFormat) []string { return f.extensions })
}

func byExtension(path string, extensions func(fileFormat) []string) (fileFormat, bool) {
	extension := strings.ToLower(filepath.Ext(path))
	for _, f := range fileFormats {
		if slices.Contains(extensions(f), extension) {
			return f, true
		}
	}
	return fileFormat{}, false
}

// input has the flags of the files that a command reads.
type input struct {
	from, delimiter string
	noHeader        bool
	types           []string
	inferRows       int
}

func (in *input) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&in.from, "from", "", "the format of the files: "+strings.Join(formatNames(), ", ")+"; by default that of their extension")
	flags.StringVar(&in.delimiter, "delimiter", "", `the character between values of CSV files, or "tab"; by default a comma, and a tab for .tsv`)
	flags.BoolVar(&in.noHeader, "no-header", false, "CSV files have no line of names: columns are called f0, f1, …")
	flags.StringArrayVar(&in.types, "types", nil, "the types of columns of CSV files, 'id=string, price=decimal128(10, 2)' for example; those of the others are inferred")
	flags.IntVar(&in.inferRows, "infer-rows", 0, "the number of rows of CSV and JSON files that types are inferred from, -1 for all; by default 10000")
}

// query returns the rows of files: paths, patterns and folders, all of one format.
func (in *input) query(e *gpuframe.Engine, paths []string) (gpuframe.Query, error) {
	format, err := in.format(paths)
	if err != nil {
		return gpuframe.Query{}, err
	}
	if format.name != "csv" && (in.delimiter != "" || in.noHeader || len(in.types) > 0) {
		return gpuframe.Query{}, fmt.Errorf("--delimiter, --no-header and --types are for CSV files, and %s is of format %s", paths[0], format.name)
	}
	if format.name != "csv" && format.name != "json" && in.inferRows != 0 {
		return gpuframe.Query{}, fmt.Errorf("--infer-rows is for CSV and JSON files, and %s is of format %s", paths[0], format.name)
	}
	return format.read(e, in, paths)
}

func readCSV(e *gpuframe.Engine, in *input, paths []string) (q gpuframe.Query, err error) {
	options := gpuframe.CSVOptions{NoHeader: in.noHeader, InferRows: in.inferRows, Delimiter: ','}
	switch {
	case in.delimiter == "tab", in.delimiter == "" && strings.EqualFold(filepath.Ext(paths[0]), ".tsv"):
		options.Delimiter = '\t'
	case utf8.RuneCountInString(in.delimiter) == 1:
		options.Delimiter, _ = utf8.DecodeRuneInString(in.delimiter)
	case in.delimiter != "":
		return q, fmt.Errorf("--delimiter is %q, expected one character", in.delimiter)
	}
	if options.Types, err = pipeline.ParseTypes(in.types); err != nil {
		return q, fmt.Errorf("--types: %w", err)
	}
	return e.CSVWith(options, paths...), nil
}

func readJSON(e *gpuframe.Engine, in *input, paths []string) (gpuframe.Query, error) {
	return e.JSON(gpuframe.JSONOptions{InferRows: in.inferRows}, paths...), nil
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
	paths := []string{path}
	if matches, err := filepath.Glob(path); err == nil && len(matches) > 0 {
		paths = matches
	}
	errFound := errors.New("found")
	var format fileFormat
	for _, each := range paths {
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
