package lint

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// list names a folder or file whose hits TestStyle prints.
var list = flag.String("list", "", "print every hit below this `folder`")

// most is the number of hits in 1,000 words that a folder may have.
const most = 1.5

func TestStyle(t *testing.T) {
	texts, err := Texts(root)
	require.NoError(t, err)
	type count struct{ words, hits int }
	counts, whole := map[string]*count{}, &count{}
	for _, text := range texts {
		folder := top(text.Path)
		c := counts[folder]
		if c == nil {
			c = &count{}
			counts[folder] = c
		}
		hits := Find(text)
		for _, sum := range []*count{c, whole} {
			sum.words += Words(text.Text)
			sum.hits += len(hits)
		}
		if *list != "" && (folder == *list || within(text.Path, []string{*list})) {
			for _, hit := range hits {
				t.Logf("%s:%d: %q: write %s\n    %s", text.Path, text.Line, hit.Match, hit.Pattern.Instead, around(text.Text, hit.Match))
			}
		}
	}
	rate := func(c *count) float64 { return 1000 * float64(c.hits) / float64(max(c.words, 1)) }
	for _, folder := range slices.Sorted(maps.Keys(counts)) {
		c := counts[folder]
		limit, is := pending[folder]
		if !is {
			limit = most
		}
		t.Logf("%-32s %7d words %5d hits %5.1f in 1,000", folder, c.words, c.hits, rate(c))
		if c.hits > 1 {
			assert.LessOrEqual(t, rate(c), limit, "hits in 1,000 words of %s; list them by: go test ./internal/testing/lint -run Style -v -args -list %s", folder, folder)
		}
	}
	t.Logf("%-32s %7d words %5d hits %5.1f in 1,000", "all", whole.words, whole.hits, rate(whole))
}

// top returns the folder that a file is counted with: the first element of its path,
// the first two below kernels and internal. Documents count alone, the Go files of the
// root together.
func top(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) == 1 && strings.HasSuffix(path, ".go"):
		return "."
	case parts[0] == "docs" || len(parts) == 1:
		return path
	case len(parts) > 2 && (parts[0] == "kernels" || parts[0] == "internal"):
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// around returns the part of a text that shows a match.
func around(text, match string) string {
	at := strings.Index(text, match)
	return text[max(0, at-80):min(len(text), at+80)]
}

func TestPatternsMatch(t *testing.T) {
	tests := map[string][]string{
		"where for if":   {"Where that is an account", "nil where there is none"},
		"so many":        {"column at a time, so many of them", "every so manieth group"},
		"tell, say, ask": {"a stream is asked", "tells how"},
		"who":            {"the goroutine who holds it"},
		"wants":          {"columns that memory wants"},
		"idiom":          {"comes by and by", "as a rule it waits"},
		"of its own":     {"a wait of its own"},
		"there is none":  {"there is none", "it is nil"},
		"what clause":    {"makes of what no work is pending on", "What is left"},
		"archaic":        {"all but for one", "nobody uses it"},
		"inversion":      {"never is it shared", "Of the two columns the first is"},
		"vague pronoun":  {"both at once"},
	}
	for _, pattern := range Patterns {
		require.NotEmpty(t, tests[pattern.Name], pattern.Name)
		for _, text := range tests[pattern.Name] {
			assert.Regexp(t, pattern.Regexp, text, pattern.Name)
		}
		assert.NotRegexp(t, pattern.Regexp, "Allocate reserves the bytes and returns a block. The caller releases it.")
	}
}

func TestTextsOfEachLanguage(t *testing.T) {
	texts, err := goTexts("// A comment\n// of two lines.\npackage p\n\nvar err = errors.New(\"p: a message\")\n\nvar other = \"no message\"\n")
	require.NoError(t, err)
	assert.Equal(t, []Text{{Line: 1, Text: "A comment of two lines."}, {Line: 5, Text: "p: a message"}}, texts)
	texts, err = slashTexts("int a; // one\n// two\n\n// three\n")
	require.NoError(t, err)
	assert.Equal(t, []Text{{Line: 1, Text: "one two"}, {Line: 4, Text: "three"}}, texts)
	texts, err = markdownTexts("# Title\n\n```go\ncode\n```\ntext with `code`\n")
	require.NoError(t, err)
	assert.Equal(t, []Text{{Line: 1, Text: "# Title"}, {Line: 6, Text: "text with x"}}, texts)
}
