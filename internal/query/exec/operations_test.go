package exec

import (
	"go/ast"
	"go/parser"
	"go/token"
	gomaps "maps"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryTypeOfNodeHasAnOperation(t *testing.T) {
	names, err := filepath.Glob("../plan/*.go")
	require.NoError(t, err)
	var nodes, operated []string
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "WithInputs" {
				nodes = append(nodes, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	useAll()
	all := gomaps.Clone(operations())
	gomaps.Copy(all, *optionalTable.Load())
	for node, operation := range all {
		operated = append(operated, node.Elem().Name())
		require.NotNil(t, operation.open, node)
	}
	require.NotEmpty(t, nodes)
	require.ElementsMatch(t, nodes, operated)
}
