package text

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// CheckJSONPath reads a path and finds its value in a text, which is valid JSON again.
func CheckJSONPath(t *testing.T, path, value string) {
	steps, err := jsonPath(path)
	if err != nil {
		if !errors.Is(err, expr.ErrLiteral) {
			t.Fatal(err)
		}
		return
	}
	value = strings.Trim(value, jsonSpace)
	if !json.Valid([]byte(value)) {
		return
	}
	part, ok := valueAt(value, steps)
	if ok && (!json.Valid([]byte(part)) || !strings.Contains(value, part)) {
		t.Fatalf("%q at %q is %q, which is no part of it", value, path, part)
	}
	if len(steps) == 0 && (!ok || part != value) {
		t.Fatalf("%q at %q is %q", value, path, part)
	}
}

// CheckPattern reads a pattern of printf and of format. The pieces that are no value make the text of a pattern without values.
func CheckPattern(t *testing.T, pattern string) {
	for name, parse := range map[string]func(string) ([]piece, error){"printf": percentPattern, "format": bracePattern} {
		pieces, err := parse(pattern)
		if err != nil {
			if !errors.Is(err, expr.ErrLiteral) {
				t.Fatal(name, err)
			}
			continue
		}
		length := 0
		for _, p := range pieces {
			length += len(p.literal)
			if p.verb != 0 && !strings.HasPrefix(p.spec, "%") {
				t.Fatalf("%s: %q has a value with the form %q", name, pattern, p.spec)
			}
		}
		if length > len(pattern) {
			t.Fatalf("%s: %q has literals of %d bytes", name, pattern, length)
		}
	}
}

// CheckTimeFormat formats a time on the host, reads it again if the format has all of it, and
// reads another text, which must not panic.
func CheckTimeFormat(t *testing.T, format string, second int64, input string) {
	list, err := timeFormat(format)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(second%(1<<37), 0).UTC()
	if at.Year() < 1970 || at.Year() > 2068 {
		return
	}
	var made []byte
	has := map[directive]bool{}
	for _, d := range list {
		made = d.append(made, at)
		has[d] = true
	}
	whole := has[yearNumber] && has[monthNumber] && has[dayOfMonth] && has[hourNumber] && has[minuteNumber] && has[secondNumber]
	if again, _, ok := parsed(string(made), list); whole && ok && !has[dayOfYear] && again != at.Unix() {
		t.Fatalf("%v as %q is %q, and that %d", at, format, made, again)
	}
	parsed(input, list)
}

// ReplaceDistinct and ExtractDistinct look for equal texts in columns of a number of rows or more.
func ReplaceDistinct(e expr.Expr, pattern, with string, least int) expr.Expr {
	return expr.Apply(search{kind: replace, pattern: pattern, with: with, leastDistinct: least}, e)
}

func ExtractDistinct(e expr.Expr, pattern string, group, least int) expr.Expr {
	return expr.Apply(search{kind: extract, pattern: pattern, group: group, leastDistinct: least}, e)
}

// IsJSON reports whether a text is JSON.
func IsJSON(value string) bool { return isJSON(value) }
