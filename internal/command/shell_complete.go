package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// complete completes the word before the cursor when the tab key is pressed. Several words that fit are
// listed.
func (s *shell) complete(line string, at int, key rune) (completed string, position int, ok bool) {
	if key != '\t' {
		return "", 0, false
	}
	start := at - len(line[:at][wordStart(line[:at]):])
	word := line[start:at]
	words := completions(word, s.names())
	if len(words) == 0 {
		words = completions(word, keywords())
	}
	switch common := commonPrefix(words); {
	case len(words) == 0:
		return line, at, true
	case len(words) > 1 && len(common) == len(word):
		fmt.Fprintf(s.terminal, "%s\n", strings.Join(words[:min(len(words), 60)], "  "))
		return line, at, true
	default:
		if len(words) == 1 {
			common += " "
		}
		return line[:start] + common + line[at:], start + len(common), true
	}
}

// wordStart returns the place of the last word of a text.
func wordStart(text string) int {
	return 1 + strings.LastIndexFunc(text, func(r rune) bool { return strings.ContainsRune(" \t(),;+-*/<>=.", r) && r != '.' })
}

// names are the tables and their columns.
func (s *shell) names() (list []string) {
	columns := map[gpuframe.Query][]string{}
	for _, t := range s.session.Tables() {
		known, ok := s.columns[t.Query]
		if !ok {
			known = columnsOf(t.Query)
		}
		columns[t.Query] = known
		list = append(append(list, t.Name), known...)
	}
	s.columns = columns
	return list
}

// columnsOf returns the columns of a query, or nil after an error, which is that of the statement that uses it.
func columnsOf(q gpuframe.Query) (list []string) {
	schema, err := q.Schema(context.Background())
	if err != nil {
		return nil
	}
	for _, f := range schema.Fields() {
		list = append(list, f.Name)
	}
	return list
}

// keywords are the keywords of SQL and the commands of the shell.
func keywords() (list []string) {
	for _, d := range directives {
		list = append(list, d.name)
	}
	return append(list, parse.Keywords()...)
}

// completions returns the words that begin with a prefix, without regard to case.
func completions(prefix string, words []string) (list []string) {
	for _, word := range words {
		if prefix != "" && len(word) >= len(prefix) && strings.EqualFold(word[:len(prefix)], prefix) {
			list = append(list, word)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// commonPrefix returns the beginning that words have in common.
func commonPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	prefix := words[0]
	for _, word := range words[1:] {
		n := 0
		for n < min(len(prefix), len(word)) && strings.EqualFold(prefix[:n+1], word[:n+1]) {
			n++
		}
		prefix = prefix[:n]
	}
	return prefix
}
