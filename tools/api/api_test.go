package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package sample

type (
	Open interface{ B(); A(x int) error }
	Sealed interface{ A(); hidden() }
	Pair[K comparable, V any] struct { Key K; value V }
	Level int
	Alias = Level
	hidden struct{}
)

const Low, Version Level = 1, 2

var Limit map[string]Level

func (p *Pair[K, V]) Set(values ...V) (K, error) { panic(0) }
func (l Level) String() string                   { return "" }
func New[T any](one, two T) *Pair[string, T]     { return nil }
`

func TestDescribe(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "sample.go", sample, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: importer.Default()}).Check("github.com/gpuframe/gpuframe/sample", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := describe(p)
	slices.Sort(lines)
	want := `const Low Level = 1
const Version Level = …
func New[T any](T, T) *Pair[string, T]
method (*Pair) Set(...V) (K, error)
method (Level) String() string
type Alias = Level
type Level int
type Open interface { A(int) error; B() }
type Pair[K comparable, V any] struct
type Pair[K comparable, V any] struct, Key K
type Sealed interface, A()
type Sealed interface, sealed
var Limit map[string]Level`
	if got := strings.ReplaceAll(strings.Join(lines, "\n"), "pkg gpuframe/sample, ", ""); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCompare(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"v0.1.0.txt": "a\nb\n", "v0.2.0.txt": "c\n", "except.txt": "# gone in v0.2.0\nb\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		current  []string
		next     string
		warnings int
		fault    string
	}{
		{[]string{"a", "c", "d"}, "v0.2.0", 0, ""},
		{[]string{"a"}, "v0.2.0", 1, ""},
		{[]string{"a"}, "v0.3.0", 0, "gone or changed: c"},
		{[]string{"c"}, "v0.2.0", 0, "gone or changed: a"},
		{[]string{"a", "b", "c"}, "v0.2.0", 0, "never released: b"},
	} {
		current := map[string]bool{}
		for _, line := range test.current {
			current[line] = true
		}
		r, err := readRecord(folder, test.next)
		if err != nil {
			t.Fatal(err)
		}
		warnings, err := r.compare(current)
		if len(warnings) != test.warnings || (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Fatalf("%v of %v: %v, %v", test.current, test.next, warnings, err)
		}
	}
	if r, err := readRecord(t.TempDir(), "v0.2.0"); err != nil {
		t.Fatal(err)
	} else if _, err := r.compare(nil); err == nil {
		t.Fatal("a folder without releases was accepted")
	}
}
