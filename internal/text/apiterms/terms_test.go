package apiterms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goNames match parts of the Go API in a message: options such as CSVOptions.Types, methods such
// as InferRows, and capitalized words behind a verb, such as "use Tail".
var goNames = regexp.MustCompile(`\b(?:[A-Z][a-z]+[A-Z][A-Za-z]*|[A-Za-z]+\.[A-Z][A-Za-z]+|(?:add|and|call|in|of|or|raise|set|take|use|with) [A-Z][a-z]+)\b`)

// unreachable are messages that name the Go API and reach no other interface: they are about
// options and arguments that only Go programs pass.
var unreachable = []string{
	"DivideFrom is", "SpillBudget is", "SpillDirectory: ", "options Device and Devices", "an as-of join has one key", "with NoWait", "is the zero RunOption",
	"cancelled with Engine.Cancel", "expected a time.Duration, an integer, or a Calendar", "Bloom filters",
	"a literal of Go's", `"NaN", "Infinity"`,
}

// messages returns the texts with spaces in the sources of folders, which are the messages and
// few others.
func messages(t *testing.T, folders ...string) (texts []string) {
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join("../../..", folder, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(parsed, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if text, _ := strconv.Unquote(literal.Value); strings.Contains(text, " ") {
						texts = append(texts, text)
					}
				}
				return true
			})
		}
	}
	return texts
}

// TestTermsMatchMessages fails if a message changes in a package below: it would reach users with
// Go's names.
func TestTermsMatchMessages(t *testing.T) {
	all := strings.Join(messages(t, ".", "internal/query/bind", "internal/query/devices", "internal/query/runs", "internal/query/plan", "internal/query/exec", "internal/io/sink", "internal/io/source", "internal/query/querydata", "memory", "dlpack", "share", "kernels/expr", "kernels/join", "kernels/window", "buffer/spill", "tableformat", "objectstore"), "\n")
	for i, term := range terms {
		assert.Contains(t, all, term.phrase)
		for _, later := range terms[i+1:] {
			assert.NotContains(t, later.phrase, term.phrase, "the longer phrase comes first")
		}
	}
}

// TestMessagesHaveNoGoNames fails for a message of queries that names the Go API after it is
// rewritten.
func TestMessagesHaveNoGoNames(t *testing.T) {
	for _, message := range messages(t, ".", "internal/query/bind", "internal/query/devices", "internal/query/runs", "internal/query/plan", "internal/query/exec", "internal/io/source", "internal/io/sink", "internal/query/querydata", "kernels/expr") {
		if slices.ContainsFunc(unreachable, func(part string) bool { return strings.Contains(message, part) }) {
			continue
		}
		for _, i := range []Interface{Python, CommandLine} {
			if i == CommandLine && slices.ContainsFunc(terms, func(t term) bool { return t.command == "" && strings.Contains(message, t.phrase) }) {
				continue
			}
			assert.NotRegexp(t, goNames, Text(i, message))
		}
	}
}

func TestText(t *testing.T) {
	require.Equal(t, `the condition sum(x) has an aggregate: compute it with with_columns() first`,
		Text(Python, `gpuframe: the condition sum(x) has an aggregate: compute it with With first`))
	require.Equal(t, `a table of delta: the command does not read the format: this is the small command, use that of "make command"`,
		Text(CommandLine, `tableformat: a table of delta: no imported package reads the format: import _ "github.com/gpuframe/gpuframe/lake/delta", or use the programs of github.com/gpuframe/gpuframe/distribution`))
	require.Equal(t, `a table of lines has no option snapshot_id: the format does not have the option`,
		Text(Python, `tableformat: a table of lines has no option Options.Snapshot: the format does not have the option`))
	require.Equal(t, `a + 1: 1000 does not fit int8`, Text(CommandLine, `expr: a + 1: 1000 of Go's int does not fit int8`))
}
