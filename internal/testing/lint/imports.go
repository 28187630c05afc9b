package lint

import (
	"fmt"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the module whose imports are checked.
const Module = "github.com/gpuframe/gpuframe"

// A Level is a layer of the architecture: folders whose packages may import
// packages of their own level and of levels below it.
type Level struct {
	Name string
	// Folders are paths relative to the root of the module. Each covers the folders
	// below it that are not listed themselves.
	Folders []string
}

// Levels are the layers of the module, from the bottom up. A package in no level is
// an error, so that each new package gets its place by a decision.
var Levels = []Level{
	{"leaves", []string{
		"internal/ptx",
		"internal/base/address", "internal/base/callstack", "internal/base/cancel", "internal/base/fielderror", "internal/base/forks", "internal/base/lazy", "internal/base/names", "internal/base/pace", "internal/base/release",
		"internal/arrays/arraybits", "internal/arrays/arraytext", "internal/arrays/arrowipc", "internal/arrays/format", "internal/arrays/govalue", "internal/arrays/layout", "internal/arrays/rows", "internal/arrays/schemajson",
		"internal/driver/devicecode", "internal/driver/devicestore", "internal/driver/nvrtc", "internal/driver/nvtx", "internal/driver/streamcopy",
		"internal/exchange/nccl", "internal/exchange/ranks",
		"internal/io/hive", "internal/io/rangecache", "internal/io/thrift",
		"internal/expr/catalog", "internal/expr/exprtree", "internal/expr/function",
		"internal/op/aggregate", "internal/op/lookback", "internal/op/parallel", "internal/op/strategy",
		"internal/testing/explore", "internal/testing/lint",
		"internal/chart", "internal/text/apiterms", "internal/text/regex", "internal/text/render", "internal/text/textvalue",
		"objectstore",
		"sql/parse", "sql/tree",
	}},
	{"device", []string{
		"device",
		"internal/driver/admission", "internal/driver/drivercall", "internal/driver/hostword", "internal/driver/perdevice", "internal/driver/pinned", "internal/driver/streamwork",
	}},
	{"memory", []string{"memory"}},
	{"column", []string{"column", "internal/arrays/hostarray", "internal/expr/hosteval"}},
	{"buffer", []string{"buffer"}},
	{"kernels", []string{"kernels", "internal/arrays/bitmap", "internal/op", "internal/op/hostrows", "internal/expr/codegen", "internal/op/kernelset", "internal/keys/numbers", "internal/keys/radix", "internal/keys/rowkey", "internal/text/textparse", "internal/text/textrows"}},
	{"interchange and operators", []string{
		"arrowdev", "dlpack", "share",
		"kernels/custom", "kernels/dictionary", "kernels/elementwise", "kernels/exchange", "kernels/expr", "kernels/group", "kernels/join", "kernels/nested", "kernels/order", "kernels/random", "kernels/reduce", "kernels/selection", "kernels/sketch", "kernels/text", "kernels/timezone", "kernels/vector", "kernels/window",
		"internal/keys/hashtable", "internal/io/decompress", "internal/packed",
	}},
	{"column chunks, delimited text", []string{"compression", "internal/io/lz4blocks", "internal/io/parquetformat", "internal/io/source/parquetschema", "internal/io/source/pages", "internal/io/source/chunks", "internal/io/source/delimited", "internal/io/sink/rowgroups"}},
	{"sources", []string{"internal/io/sink", "internal/io/source"}},
	{"plans", []string{"internal/query/plan"}},
	{"readers of plans", []string{"internal/query/exec"}},
	{"binding, devices of engines", []string{"internal/query/bind", "internal/query/devices"}},
	{"runs of queries", []string{"internal/query/runs"}},
	{"frame", []string{"."}},
	{"formats of tables", []string{"tableformat"}},
	{"frame adapters", []string{"internal/query/querydata", "learn", "observe", "sql"}},
	{"programs", []string{"arrow18", "beam", "bench", "cmd", "deploy/lint", "distribution", "docs/recipes", "docs/tutorial", "examples", "flight", "internal/command", "lake", "python", "tools", "internal/testing"}},
}

// TestFolders hold support for tests. Outside of tests only they and programs import them.
var TestFolders = []string{"internal/testing", "device/backend/backendtest", "kernels/kerneltest"}

// A File is a Go source file and what it imports of the module.
type File struct {
	// Path and Folder are relative to the root of the module, with slashes.
	Path, Folder string
	// Imports are folders relative to the root of the module; "." is the root.
	Imports []string
	Test    bool
}

// Files parses the imports of all Go files below root, of every platform, but for files that are
// not built.
//
// # Errors
//
// A file that cannot be read or parsed ends the walk with an error.
func Files(root string) ([]File, error) {
	var files []File
	err := walk(root, func(path string) error {
		if filepath.Ext(path) != ".go" {
			return nil
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, filepath.Join(root, path), nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range parsed.Comments {
			if group.Pos() < parsed.Package && slices.ContainsFunc(strings.Split(group.Text(), "\n"), ignored) {
				return nil
			}
		}
		slashed := filepath.ToSlash(path)
		file := File{Path: slashed, Folder: filepath.ToSlash(filepath.Dir(path)), Test: strings.HasSuffix(path, "_test.go")}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if name == Module {
				file.Imports = append(file.Imports, ".")
			} else if folder, ok := strings.CutPrefix(name, Module+"/"); ok {
				file.Imports = append(file.Imports, folder)
			}
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

func ignored(line string) bool {
	return constraint.IsGoBuild(line) && strings.Contains(line, "ignore")
}

// CheckImports returns a sentence for each import that points upwards, for each
// package without a level, and for each import of test support outside of tests.
func CheckImports(files []File) []string {
	var faults []string
	placed := map[string]bool{}
	for _, file := range files {
		from, ok := levelOf(file.Folder)
		if !ok && !placed[file.Folder] {
			placed[file.Folder] = true
			faults = append(faults, fmt.Sprintf("%s has no level: add its folder to Levels in internal/testing/lint/imports.go", file.Folder))
		}
		if !ok || file.Test {
			continue
		}
		for _, imported := range file.Imports {
			to, ok := levelOf(imported)
			switch {
			case ok && to > from:
				faults = append(faults, fmt.Sprintf("%s (level %q) imports %s (level %q): imports point downwards only",
					file.Path, Levels[from].Name, imported, Levels[to].Name))
			case within(imported, TestFolders) && !within(file.Folder, TestFolders) && Levels[from].Name != "programs":
				faults = append(faults, fmt.Sprintf("%s imports %s, which only tests may import", file.Path, imported))
			}
		}
	}
	return faults
}

// levelOf returns the index of the level that lists the longest prefix of a folder.
func levelOf(folder string) (level int, ok bool) {
	longest := -1
	for i, l := range Levels {
		for _, f := range l.Folders {
			if within(folder, []string{f}) && len(f) > longest {
				level, ok, longest = i, true, len(f)
			}
		}
	}
	return level, ok
}

func within(folder string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return folder == f || strings.HasPrefix(folder, f+"/")
	})
}

// walk calls visit with the path, relative to root, of each file of the module and of the nested
// modules but gorgoniacu: not of test data, of what is built or of hidden folders.
func walk(root string, visit func(path string) error) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			return visit(relative)
		}
		name := entry.Name()
		if relative == "." {
			return nil
		}
		if strings.HasPrefix(name, ".") || name == "testdata" || name == "build" || name == "vendor" || name == "gorgoniacu" || name == "node_modules" {
			return filepath.SkipDir
		}
		return nil
	})
}
