package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSizesHaveOneSystemOfUnits finds sizes that are printed in units of 1000: humanize.IBytes prints
// those of 1024.
func TestSizesHaveOneSystemOfUnits(t *testing.T) {
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files++
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Bytes" {
				if name, ok := call.X.(*ast.Ident); ok {
					assert.NotEqual(t, "humanize", name.Name, "%s: use humanize.IBytes", set.Position(call.Pos()))
				}
			}
			return true
		})
		return nil
	}))
	require.Greater(t, files, 500)
}
