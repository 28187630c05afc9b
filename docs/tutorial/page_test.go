package tutorial

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the programs into README.md")

// TestPage compares the programs of README.md with those that run: go test ./docs/tutorial -run Page -update writes them.
func TestPage(t *testing.T) {
	source, err := os.ReadFile("tutorial_test.go")
	require.NoError(t, err)
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "tutorial_test.go", source, parser.ParseComments)
	require.NoError(t, err)
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	text, steps := string(page), 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example_step") {
			continue
		}
		steps++
		body := string(source[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset])
		program, output, ok := strings.Cut(strings.ReplaceAll(body, "\n\t", "\n"), "// Output:\n")
		require.True(t, ok, f.Name.Name)
		printed := strings.ReplaceAll("\n"+strings.TrimSpace(output), "\n// ", "\n")[1:]
		section := fmt.Sprintf("```go\n%s\n```\n\n```text\n%s\n```\n", strings.TrimSpace(program), printed)
		begin, end := fmt.Sprintf("<!-- step %d -->\n", steps), "<!-- end -->\n"
		before, rest, ok := strings.Cut(text, begin)
		require.True(t, ok, begin)
		_, after, ok := strings.Cut(rest, end)
		require.True(t, ok, end)
		text = before + begin + strings.ReplaceAll(section, "// Output", "") + end + after
	}
	require.Equal(t, 7, steps)
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(text), 0o644))
		return
	}
	require.Equal(t, text, string(page), "go test ./docs/tutorial -run Page -update")
}
