// Package page keeps the programs of a document equal to the examples that run them.
package page

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the programs into the document")

// marker begins a program in a document: <!-- NAME -->. The program ends at <!-- end -->.
var marker = regexp.MustCompile(`<!-- (\w+) -->\n`)

const end = "<!-- end -->\n"

// Check compares the programs of a document with the examples in the Go files of a pattern: below the marker of NAME are
// the body and the output of Example_NAME. The test flag -update writes them.
func Check(t *testing.T, document, pattern string) {
	t.Helper()
	examples := read(t, pattern)
	contents, err := os.ReadFile(document)
	require.NoError(t, err)
	var text strings.Builder
	rest := string(contents)
	for {
		match := marker.FindStringSubmatchIndex(rest)
		if match == nil {
			break
		}
		name := rest[match[2]:match[3]]
		require.Contains(t, examples, name, "%s: there is no Example_%s in %s", document, name, pattern)
		text.WriteString(rest[:match[1]] + examples[name] + end)
		delete(examples, name)
		_, after, ok := strings.Cut(rest[match[1]:], end)
		require.True(t, ok, "%s: no %q below %s", document, strings.TrimSpace(end), name)
		rest = after
	}
	text.WriteString(rest)
	require.Empty(t, examples, "%s has no markers of these examples", document)
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(text.String()), 0o644))
		return
	}
	require.Equal(t, text.String(), string(contents), "run the test with -update")
}

// read returns the bodies and outputs of the examples as a document shows them, by the names behind Example_.
func read(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths, pattern)
	examples := map[string]string{}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example_") {
				body := string(source[set.Position(f.Body.Lbrace).Offset+1 : set.Position(f.Body.Rbrace).Offset])
				program, output, ok := strings.Cut(strings.ReplaceAll(body, "\n\t", "\n"), "// Output:\n")
				require.True(t, ok, "%s: %s has no output on lines of its own", path, f.Name.Name)
				printed := strings.ReplaceAll("\n"+strings.TrimSpace(output), "\n// ", "\n")[1:]
				examples[strings.TrimPrefix(f.Name.Name, "Example_")] = "```go\n" + strings.TrimSpace(program) + "\n```\n\n```text\n" + printed + "\n```\n"
			}
		}
	}
	return examples
}
