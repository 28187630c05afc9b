package exec

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryTypeOfNodeHasAnOperation(t *testing.T) {
	notTest := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), "../plan", notTest, parser.SkipObjectResolution)
	require.NoError(t, err)
	var nodes, operated []string
	for _, file := range packages["plan"].Files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "WithInputs" {
				nodes = append(nodes, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	for node, operation := range operations {
		operated = append(operated, node.Elem().Name())
		require.NotNil(t, operation.open, node)
	}
	require.NotEmpty(t, nodes)
	require.ElementsMatch(t, nodes, operated)
}
