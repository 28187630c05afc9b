package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// goAliases returns methods of package gpuframe that have the names of other libraries. Each has the parameters and the
// body of the method that it is another name of: verbs record the place of their caller, so they do not call
// each other.
func goAliases(root string) (string, error) {
	methods, err := rootMethods(root)
	if err != nil {
		return "", err
	}
	text := "// " + notice + "\n\npackage gpuframe\n\nimport \"github.com/gpuframe/gpuframe/internal/query/bind\"\n"
	for _, v := range catalog.Verbs() {
		for _, alias := range v.GoAliases() {
			method, err := renamed(methods, "Query."+v.Go, alias)
			if err != nil {
				return "", err
			}
			text += method
		}
	}
	for _, f := range catalog.All() {
		for _, alias := range f.GoAliases {
			method, err := renamed(methods, "Expr."+f.Go, alias)
			if err != nil {
				return "", err
			}
			text += method
		}
	}
	if regexp.MustCompile(`\bplan\.[A-Z]`).MatchString(text) {
		text = strings.Replace(text, "import \"github.com/gpuframe/gpuframe/internal/query/bind\"", "import (\n\"github.com/gpuframe/gpuframe/internal/query/bind\"\n\"github.com/gpuframe/gpuframe/internal/query/plan\"\n)", 1)
	}
	source, err := format.Source([]byte(text))
	return string(source), err
}

// rootMethods returns the methods of package gpuframe by "Type.Name".
func rootMethods(root string) (map[string]*ast.FuncDecl, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*.go"))
	if err != nil {
		return nil, err
	}
	methods := map[string]*ast.FuncDecl{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "aliases.gen.go" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				if receiver, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
					methods[receiver.Name+"."+f.Name.Name] = f
				}
			}
		}
	}
	return methods, nil
}

// renamed returns a method under another name.
func renamed(methods map[string]*ast.FuncDecl, name, alias string) (string, error) {
	method := methods[name]
	if method == nil {
		return "", fmt.Errorf("%s, which %s is another name of, is no method of package gpuframe", name, alias)
	}
	declaration := *method
	declaration.Doc, declaration.Name = nil, ast.NewIdent(alias)
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), &declaration); err != nil {
		return "", err
	}
	return fmt.Sprintf("\n%s%s\n", comment(fmt.Sprintf("%s is another name of [%s].", alias, name)), text.String()), nil
}
