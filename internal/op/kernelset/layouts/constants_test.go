package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConstantsAgree compares the constants of CUDA sources with those that the Go files of their families
// spell too: a name that both have is one number.
func TestConstantsAgree(t *testing.T) {
	const root = "../../../.."
	compared := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path == filepath.Join(root, "build") {
			return filepath.SkipDir // it may have the sources of another version
		}
		if err != nil || !entry.IsDir() || entry.Name() != "cuda" || strings.Contains(path, "testdata") {
			return err
		}
		paths, err := filepath.Glob(filepath.Join(path, "*.cu*"))
		require.NoError(t, err)
		known := goConstants(t, filepath.Dir(path))
		for _, source := range paths {
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			for name, value := range cudaConstants(string(text)) {
				if want, ok := known[camel(name)]; ok {
					compared++
					// Differences of signs and widths are none: -1 is 0xffffffff.
					assert.Equal(t, low32(want), low32(value), "%s: %s is %v, %s of Go is %v: rename one of them, or make them one by a line %s", source, name, value, camel(name), want, mark)
				}
			}
		}
		return nil
	}))
	require.Greater(t, compared, 50)
}

func low32(v constant.Value) string {
	return constant.BinaryOp(v, token.AND, constant.MakeUint64(0xffffffff)).String()
}

// goConstants returns the whole numbers among the constants of a package, by name. Those of imported constants
// are left out.
func goConstants(t *testing.T, folder string) map[string]constant.Value {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	set := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	ignored := types.Config{IgnoreFuncBodies: true, Error: func(error) {}, Importer: nothing{}}
	checked, _ := ignored.Check(folder, set, files, nil)
	list := map[string]constant.Value{}
	for _, name := range checked.Scope().Names() {
		if c, ok := checked.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() == constant.Int {
			list[name] = c.Val()
		}
	}
	return list
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}

var (
	cudaConstant = regexp.MustCompile(`(?s)\nstatic constexpr \w+ ([^;(]*);`)
	suffix       = regexp.MustCompile(`\b(0x[0-9a-f]+|[0-9]+)u?l*\b`)
)

// cudaConstants returns the constants of a source that it defines by numbers, or by each other.
func cudaConstants(text string) map[string]constant.Value {
	list := map[string]constant.Value{"warp_threads": constant.MakeInt64(32)}
	for _, m := range cudaConstant.FindAllStringSubmatch(text, -1) {
		for _, item := range strings.Split(m[1], ",") {
			name, expression, _ := strings.Cut(item, "=")
			expression = suffix.ReplaceAllString(strings.ReplaceAll(expression, "~0", "-1"), "$1")
			expression = identifier.ReplaceAllStringFunc(expression, func(word string) string {
				if value, ok := list[word]; ok {
					return value.String()
				}
				return word
			})
			value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expression)
			if err == nil && value.Value != nil && value.Value.Kind() == constant.Int {
				list[strings.TrimSpace(name)] = value.Value
			}
		}
	}
	return list
}
