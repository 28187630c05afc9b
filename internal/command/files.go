package command

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/objectstore"
)

// fileFormat is a format of files that are read and written.
type fileFormat struct {
	name string
	// verb is the verb of documents that reads the format.
	verb string
	// extensions are those of files that are written and read, others those of files that are
	// only read.
	extensions, others []string
	write              func() gpuframe.Format
}

var fileFormats = []fileFormat{
	{parquetFormat, "parquet", []string{".parquet", ".parq", ".pq"}, nil, gpuframe.Parquet},
	{"csv", "csv", []string{".csv"}, []string{".tsv", ".txt"}, gpuframe.CSV},
	{"json", "json_lines", []string{".json", ".jsonl", ".ndjson"}, nil, gpuframe.JSONLines},
	{"ipc", "ipc", []string{".arrow", ".arrows", ".ipc", ".feather"}, nil, gpuframe.IPC},
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
func formatOf(path string) (fileFormat, bool) {
	return byExtension(source.Extension(path), fileFormat.readExtensions)
}

// writtenFormat returns the format of a file to write by its extension.
func writtenFormat(path string) (fileFormat, bool) {
	return byExtension(strings.ToLower(filepath.Ext(path)), func(f fileFormat) []string { return f.extensions })
}

func byExtension(extension string, extensions func(fileFormat) []string) (fileFormat, bool) {
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
	state           tableState
}

func (in *input) addTo(command *cobra.Command) {
	flags := command.Flags()
	in.state.addTo(flags)
	flags.StringVar(&in.from, "from", "", "the format of the files: "+strings.Join(formatNames(), ", ")+"; by default that of their extension; or that of a table: "+strings.Join(tableFormats, ", "))
	flags.StringVar(&in.delimiter, "delimiter", "", `the character between values of CSV files, or "tab"; by default a comma, and a tab for .tsv`)
	flags.BoolVar(&in.noHeader, "no-header", false, "CSV files have no line of names: columns are called f0, f1, …")
	flags.StringArrayVar(&in.types, "types", nil, "the types of columns of CSV files, 'id=string, price=decimal128(10, 2)' for example; those of the others are inferred")
	flags.IntVar(&in.inferRows, "infer-rows", 0, "the number of rows of CSV and JSON files that types are inferred from, -1 for all; by default 10000")
}

// source returns the step of a query document that reads files: paths, patterns and folders, all of
// one format.
func (in *input) source(paths []string) (map[string]any, error) {
	if slices.Contains(tableFormats, in.from) {
		return in.tableStep(paths)
	}
	if err := in.state.unused(); err != nil {
		return nil, err
	}
	format, err := in.format(paths)
	if err != nil {
		return nil, err
	}
	if format.name != "csv" && (in.delimiter != "" || in.noHeader || len(in.types) > 0) {
		return nil, fmt.Errorf("--delimiter, --no-header and --types are for CSV files, and %s is of format %s", paths[0], format.name)
	}
	if format.name != "csv" && format.name != "json" && in.inferRows != 0 {
		return nil, fmt.Errorf("--infer-rows is for CSV and JSON files, and %s is of format %s", paths[0], format.name)
	}
	return in.step(format, paths)
}

// further returns the step that reads the files that a pipeline names. Their extension is stronger than
// --from, and the other flags apply to the formats that have them.
func (in *input) further(path string) (map[string]any, error) {
	format, err := formatOfAny(path)
	if err != nil && slices.Contains(tableFormats, in.from) {
		return map[string]any{"verb": in.from, "path": path}, nil
	}
	if err != nil && in.from != "" {
		format, err = formatNamed("--from", in.from)
	}
	if err != nil {
		return nil, err
	}
	return in.step(format, []string{path})
}

// step returns the step of a query document that reads files of a format.
func (in *input) step(format fileFormat, paths []string) (map[string]any, error) {
	list := make([]any, len(paths))
	for i, path := range paths {
		list[i] = path
	}
	step := map[string]any{"verb": format.verb, "paths": list}
	if in.inferRows != 0 && (format.name == "csv" || format.name == "json") {
		step["infer_rows"] = json.Number(strconv.Itoa(in.inferRows))
	}
	if format.name != "csv" {
		return step, nil
	}
	return step, in.addCSV(step, paths[0])
}

// addCSV adds the options of CSV files to a step.
func (in *input) addCSV(step map[string]any, path string) error {
	switch {
	case in.delimiter == "tab", in.delimiter == "" && source.Extension(path) == ".tsv":
		step["delimiter"] = "\t"
	case utf8.RuneCountInString(in.delimiter) == 1:
		step["delimiter"] = in.delimiter
	case in.delimiter != "":
		return fmt.Errorf("--delimiter is %q, expected one character", in.delimiter)
	}
	if in.noHeader {
		step["header"] = false
	}
	if len(in.types) > 0 {
		types, err := pipeline.ParseTypes(in.types)
		if err != nil {
			return fmt.Errorf("--types: %w", err)
		}
		step["types"] = types
	}
	return nil
}

// format returns the format of paths.
func (in *input) format(paths []string) (fileFormat, error) {
	if in.from != "" {
		return formatNamed("--from", in.from, tableFormats...)
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
	candidates := []string{path}
	if _, url := objectstore.SchemeOf(path); url {
		candidates = nil // what a store has is not asked for
	}
	if matches, err := filepath.Glob(path); err == nil && len(matches) > 0 {
		candidates = matches
	}
	for _, candidate := range candidates {
		var format fileFormat
		known := false
		err := filepath.WalkDir(candidate, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if format, known = formatOf(name); known && !entry.IsDir() {
				return fs.SkipAll
			}
			known = false
			return nil
		})
		if known || err != nil {
			return format, err
		}
	}
	return fileFormat{}, fmt.Errorf("%s: the extension names no format: give --from with one of %s", path, strings.Join(formatNames(), ", "))
}
