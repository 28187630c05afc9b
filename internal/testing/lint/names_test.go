package lint

import (
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	hits, err := FindNames(root)
	require.NoError(t, err)
	allowed := map[string][]NameHit{}
	for _, hit := range hits {
		if folder, ok := pendingFolder(hit.Path); ok {
			allowed[folder] = append(allowed[folder], hit)
		} else {
			t.Error(hit)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(pendingNames)) {
		most := pendingNames[folder]
		t.Logf("%-32s %4d empty names of %d", folder, len(allowed[folder]), most)
		if len(allowed[folder]) > most {
			t.Errorf("%s has %d empty names, %d at most are left to rename: %v", folder, len(allowed[folder]), most, allowed[folder])
		}
	}
}

// pendingFolder returns the longest entry of pendingNames that a file is in.
func pendingFolder(path string) (longest string, ok bool) {
	for folder := range pendingNames {
		if within(path, []string{folder}) && len(folder) > len(longest) {
			longest, ok = folder, true
		}
	}
	return longest, ok
}

func TestDeclarationsOfEmptyNames(t *testing.T) {
	tests := map[string]struct {
		text  string
		lines []int
	}{
		"variable":           {"func f() {\n\tmade, err := g()\n}", []int{4}},
		"declared variable":  {"func f() {\n\tvar some, other int\n}", []int{4}},
		"package variable":   {"var found int", []int{3}},
		"constant":           {"const several = -1", []int{3}},
		"range":              {"func f() {\n\tfor i, of := range g() {\n\t}\n\tfor one := range 3 {\n\t}\n}", []int{4, 6}},
		"type switch":        {"func f() {\n\tswitch of := g().(type) {\n\t}\n}", []int{4}},
		"condition":          {"func f() {\n\tif _, is := g(); is {\n\t}\n}", []int{4}},
		"select":             {"func f() {\n\tselect {\n\tcase one := <-c:\n\t}\n}", []int{5}},
		"function value":     {"func f() {\n\tone := func() {}\n}", []int{4}},
		"parameter":          {"func f(of int) {}", []int{3}},
		"result":             {"func f() (made int, err error) { return }", []int{3}},
		"receiver":           {"func (of T) f() {}", []int{3}},
		"parameter of value": {"var f = func(is bool) {}", []int{3}},
		"function":           {"func one() {}", []int{3}},
		"method":             {"func (t T) several() {}", []int{3}},
		"field":              {"type T struct {\n\tof int\n}", []int{4}},

		"other names":               {"func f(parent int) (groups int) { groups, ok := g(); return groups }", nil},
		"part of a name":            {"var madeOf, isText, oneOf int", nil},
		"assignment":                {"func f() {\n\tmade, err = g()\n}", nil},
		"range without declaration": {"func f() {\n\tfor one = range g() {\n\t}\n}", nil},
		"field of a literal":        {"var t = T{of: 1, made: 2}", nil},
		"selector":                  {"var total = t.of", nil},
		"label and package":         {"func f() {\nfound:\n\tis.Text()\n\tgoto found\n}", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, "", "package p\n\n"+test.text+"\n", parser.SkipObjectResolution)
			require.NoError(t, err)
			var lines []int
			for _, hit := range emptyNames(set, file, "memory/p.go") {
				lines = append(lines, hit.Line)
				assert.Contains(t, hit.String(), "memory/p.go:")
				assert.Contains(t, hit.String(), "write "+hit.Instead)
			}
			assert.Equal(t, test.lines, lines)
		})
	}
}
