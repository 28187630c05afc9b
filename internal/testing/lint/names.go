package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// An EmptyName is a name that does not say what it stands for.
type EmptyName struct {
	Name string
	// Instead is what to write.
	Instead string
}

// EmptyNames are the names that no variable, parameter, result, field, method or function may have.
var EmptyNames = []EmptyName{
	{"made", "the noun of the result: groups, column, joined"},
	{"of", "the noun behind it: dataType, parent, total"},
	{"is", `ok for the second result of an assertion or a lookup, else what is true: known, isText`},
	{"found", "the noun of what was sought, or ok: index, match, indices"},
	{"some", "what the elements have in common: kept, sample, filled"},
	{"one", "the noun of the element: row, call, unit"},
	{"several", "the noun of the elements: devices, tables"},
}

// A NameHit is the declaration of an empty name.
type NameHit struct {
	EmptyName
	// Path is relative to the root of the module, with slashes.
	Path string
	Line int
}

// String returns where the name is declared and what to write instead.
func (h NameHit) String() string {
	return fmt.Sprintf("%s:%d: the name %q does not say what it stands for: write %s", h.Path, h.Line, h.Name, h.Instead)
}

// FindNames returns the declarations of empty names below root, in the Go files of every platform
// and of nested modules, but not in tests.
//
// # Errors
//
// A file that cannot be read or parsed ends the walk with an error.
func FindNames(root string) ([]NameHit, error) {
	var hits []NameHit
	err := walk(root, func(path string) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		hits = append(hits, emptyNames(set, file, filepath.ToSlash(path))...)
		return nil
	})
	return hits, err
}

// emptyNames returns the declarations of empty names in a file.
func emptyNames(set *token.FileSet, file *ast.File, path string) (hits []NameHit) {
	for _, declared := range declarations(file) {
		for _, empty := range EmptyNames {
			if declared.Name == empty.Name {
				hits = append(hits, NameHit{empty, path, set.Position(declared.Pos()).Line})
			}
		}
	}
	return hits
}

// declarations returns the names of variables, constants, parameters, results, fields, methods and
// functions where a file declares them.
func declarations(file *ast.File) (names []*ast.Ident) {
	ast.Inspect(file, func(node ast.Node) bool {
		var left []ast.Expr
		switch n := node.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				left = n.Lhs
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				left = []ast.Expr{n.Key, n.Value}
			}
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field: // of a struct, an interface, or a list of parameters or results
			names = append(names, n.Names...)
		case *ast.FuncDecl:
			names = append(names, n.Name)
		}
		for _, e := range left {
			if name, ok := e.(*ast.Ident); ok {
				names = append(names, name)
			}
		}
		return true
	})
	return names
}
