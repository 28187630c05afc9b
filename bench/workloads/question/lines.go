package question

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
)

// Source is a file system with the Go files of questions.
type Source = fs.FS

// Clauses returns the number of lines of the SQL, which are its clauses.
func (q Question) Clauses() int { return len(strings.Split(strings.TrimSpace(q.SQL), "\n")) }

// Lines returns the number of lines of the function of each question, by its name: those between its braces.
func (s Set) Lines() (map[string]int, error) {
	lines := map[string]int{}
	paths, err := fs.Glob(s.Source, "*.go")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := fs.ReadFile(s.Source, path)
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("question: lines of %s: %w", path, err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if value, isLiteral := n.(*ast.CompositeLit); isLiteral {
				if name, body := fields(value); name != "" && body != nil {
					lines[name] = set.Position(body.Rbrace).Line - set.Position(body.Lbrace).Line - 1
				}
			}
			return true
		})
	}
	return lines, nil
}

// fields returns the name and the function of a question.
func fields(value *ast.CompositeLit) (name string, body *ast.BlockStmt) {
	for _, element := range value.Elts {
		pair, isPair := element.(*ast.KeyValueExpr)
		if !isPair {
			return "", nil
		}
		switch v := pair.Value.(type) {
		case *ast.BasicLit:
			if key, isName := pair.Key.(*ast.Ident); isName && key.Name == "Name" {
				name, _ = strconv.Unquote(v.Value)
			}
		case *ast.FuncLit:
			body = v.Body
		}
	}
	return name, body
}
