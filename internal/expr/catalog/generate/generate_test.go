package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

const root = "../../../.."

// TestFilesAreGenerated compares the generated files with the catalog.
func TestFilesAreGenerated(t *testing.T) {
	for _, f := range files {
		want, err := f.text(root)
		require.NoError(t, err, f.path)
		contents, err := os.ReadFile(filepath.Join(root, f.path))
		require.NoError(t, err)
		assert.True(t, want == string(contents), "%s is not as the catalog has it: run make generate", f.path)
	}
}

// writtenByHand returns the functions and the methods of Expr that return an Expr, in the sources of
// package gpuframe that are not generated.
func writtenByHand(t *testing.T) []string {
	paths, err := filepath.Glob(filepath.Join(root, "*.go"))
	require.NoError(t, err)
	var names []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".gen.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range parsed.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.IsExported() && returnsExpr(f) {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// returnsExpr reports whether a function, or a method of Expr, returns an Expr.
func returnsExpr(f *ast.FuncDecl) bool {
	isExpr := func(list *ast.FieldList) bool {
		if list == nil || len(list.List) != 1 {
			return false
		}
		name, ok := list.List[0].Type.(*ast.Ident)
		return ok && name.Name == "Expr"
	}
	return isExpr(f.Type.Results) && (f.Recv == nil || isExpr(f.Recv))
}

// TestFunctionsByHandAreInTheCatalog has the functions that are not generated in both directions.
func TestFunctionsByHandAreInTheCatalog(t *testing.T) {
	var want []string
	for _, f := range catalog.All() {
		if f.Call == catalog.ByHand {
			want = append(want, f.Go)
		}
		if f.Variant != "" {
			want = append(want, f.Variant)
		}
	}
	require.ElementsMatch(t, want, writtenByHand(t))
}

// TestPythonByHand has the methods of Python that are not generated.
func TestPythonByHand(t *testing.T) {
	module, err := os.ReadFile(filepath.Join(root, "python/gpuframe/expressions.py"))
	require.NoError(t, err)
	for _, f := range catalog.All() {
		if f.Python == "" || strings.HasSuffix(f.Python, ")") {
			continue
		}
		name := f.Python[strings.LastIndex(f.Python, ".")+1:]
		assert.Regexp(t, `(?m)^ *def `+regexp.QuoteMeta(name)+`\(`, string(module), f.Name)
	}
}
