package querydata

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documentedFunctions returns the names in the first two columns of docs/functions.md. It
// fails for rows without all columns.
func documentedFunctions(t *testing.T) (methods, members []string) {
	page, err := os.ReadFile("../../docs/functions.md")
	require.NoError(t, err)
	names := func(cell string) (list []string) {
		for i, part := range strings.Split(cell, "`") {
			if i%2 == 1 {
				list = append(list, part)
			}
		}
		return list
	}
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		require.Len(t, cells, 8, line)
		for _, cell := range cells[1:7] {
			require.NotEmpty(t, strings.TrimSpace(cell), line)
		}
		methods, members = append(methods, names(cells[1])...), append(members, names(cells[2])...)
	}
	return methods, members
}

// exportedFunctions returns the functions and the methods of Expr that return an Expr, in the
// sources of package gpuframe. Count is both; the method is Expr.Count.
func exportedFunctions(t *testing.T) []string {
	files, err := filepath.Glob("../../*.go")
	require.NoError(t, err)
	functions, methods := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range parsed.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
				continue
			}
			if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); !ok || result.Name != "Expr" {
				continue
			}
			if f.Recv == nil {
				functions[f.Name.Name] = true
			} else if of, ok := f.Recv.List[0].Type.(*ast.Ident); ok && of.Name == "Expr" {
				methods[f.Name.Name] = true
			}
		}
	}
	var list []string
	for name := range functions {
		list = append(list, name)
	}
	for name := range methods {
		if functions[name] {
			name = "Expr." + name
		}
		list = append(list, name)
	}
	return list
}

// TestFunctionsAreDocumented compares docs/functions.md with the functions that exist, both
// ways.
func TestFunctionsAreDocumented(t *testing.T) {
	methods, members := documentedFunctions(t)
	require.ElementsMatch(t, exportedFunctions(t), methods)
	require.ElementsMatch(t, slices.Collect(maps.Keys(functions)), members)
}
