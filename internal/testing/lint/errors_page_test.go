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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrorsPage finds exported errors of public packages without a row of docs/errors.md, and rows without an error.
func TestErrorsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/errors.md"))
	require.NoError(t, err)
	var rows []string
	folder := ""
	for line := range strings.SplitSeq(string(page), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			folder = strings.TrimSpace(title)
		}
		if row := errorRow.FindStringSubmatch(line); row != nil {
			rows = append(rows, folder+"."+row[1])
			assert.Regexp(t, `\| [^|]+ \| [^|]+ \|$`, line, "a row has a meaning and a remedy")
		}
	}
	want := exportedErrors(t)
	require.Greater(t, len(want), 100, "the walk finds the errors")
	slices.Sort(rows)
	slices.Sort(want)
	require.Equal(t, want, rows)
}

var errorRow = regexp.MustCompile("^\\| `(Err\\w+)` \\|")

// exportedErrors returns the errors of public packages, as folder.Name.
func exportedErrors(t *testing.T) (names []string) {
	require.NoError(t, walk(root, func(path string) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || !isPublic(filepath.ToSlash(path)) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		if folder == "." {
			folder = "gpuframe"
		}
		for _, d := range file.Decls {
			declaration, ok := d.(*ast.GenDecl)
			if !ok || declaration.Tok != token.VAR {
				continue
			}
			for _, s := range declaration.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if strings.HasPrefix(name.Name, "Err") && name.IsExported() && len(name.Name) > len("Err") {
						names = append(names, folder+"."+name.Name)
					}
				}
			}
		}
		return nil
	}))
	return names
}

// isPublic reports whether programs import the package of a file.
func isPublic(path string) bool {
	for _, folder := range []string{"bench", "cmd", "examples", "python", "scripts", "tools", "distribution"} {
		if strings.HasPrefix(path, folder+"/") {
			return false
		}
	}
	return !strings.Contains("/"+path, "/internal/") && !strings.Contains(path, "testdata/")
}
