package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamples has each exported function, method, type, constant and variable of package gpuframe in an example, a recipe, the tutorial or a
// program of examples/.
func TestExamples(t *testing.T) {
	var text strings.Builder
	for _, pattern := range []string{"example*_test.go", "docs/recipes/*_test.go", "docs/tutorial/*_test.go", "examples/*/*.go", "aliases.gen.go"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			contents, err := os.ReadFile(path)
			require.NoError(t, err)
			text.Write(contents)
		}
	}
	used := regexp.MustCompile(`[.\[]\s*([A-Z]\w*)`).FindAllStringSubmatch(text.String(), -1)
	named := map[string]bool{}
	for _, match := range used {
		named[match[1]] = true
	}
	var missing []string
	for _, name := range exportedOfRoot(t) {
		if _, last, ok := strings.Cut(name, "."); !named[last] && ok || !ok && !named[name] {
			missing = append(missing, name)
		}
	}
	require.Empty(t, missing, "give these names an example in example*_test.go")
}

// exportedOfRoot returns the exported functions, types, constants and variables of package gpuframe, and its methods as Type.Method.
func exportedOfRoot(t *testing.T) (names []string) {
	paths, err := filepath.Glob(filepath.Join(root, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if receiver := receiverOf(d); d.Name.IsExported() && receiver != "" {
					names = append(names, receiver+"."+d.Name.Name)
				} else if d.Name.IsExported() && d.Recv == nil {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					names = append(names, exportedOfSpec(s)...)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

func exportedOfSpec(s ast.Spec) (names []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			names = append(names, s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// receiverOf returns the exported type that a method is of.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	kind := f.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	if name, ok := kind.(*ast.Ident); ok && name.IsExported() {
		return name.Name
	}
	return ""
}
