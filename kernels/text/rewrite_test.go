package text_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/regextest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// eachRune changes the characters of a text; bytes that are not valid UTF-8 stay.
func eachRune(text string, change func(rune) rune) string {
	var made strings.Builder
	for len(text) > 0 {
		r, width := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && width == 1 {
			made.WriteByte(text[0])
		} else {
			made.WriteRune(change(r))
		}
		text = text[width:]
	}
	return made.String()
}

// reversed has the characters in the opposite order. A character is a byte other than 0x80
// to 0xBF with the bytes of this range behind it.
func reversed(text string) string {
	var parts []string
	begin := 0
	for i := 1; i <= len(text); i++ {
		if i == len(text) || text[i]&0xc0 != 0x80 {
			parts, begin = append(parts, text[begin:i]), i
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// TestRewrites compares functions of expressions on strings of some words of 8 bytes, which
// kernels read and write as a whole, with package strings.
func TestRewrites(t *testing.T) {
	draw := func(r *rand.Rand) string {
		text := ""
		for range r.IntN(4) {
			text += strings.Repeat("aAbZ{`[@z", 1+r.IntN(3))[r.IntN(9):]
			if r.IntN(2) == 0 {
				text += regextest.Text(r, 3)
			}
			text += strings.Repeat("abcdefghijk", r.IntN(3))
		}
		return text
	}
	in := expr.Col("text")
	replaces := func(old, with string) (expr.Expr, func(string) string) {
		return in.Replace(expr.Lit(old), expr.Lit(with)), func(text string) string { return strings.ReplaceAll(text, old, with) }
	}
	type function struct {
		e     expr.Expr
		model func(string) string
	}
	functions := map[string]function{
		"upper":   {in.Upper(), func(text string) string { return eachRune(text, unicode.ToUpper) }},
		"lower":   {in.Lower(), func(text string) string { return eachRune(text, unicode.ToLower) }},
		"reverse": {in.Reverse(), reversed},
	}
	for _, literals := range [][2]string{{"a", "b"}, {"k", ""}, {"abcdefgh", "-"}, {"jkabcdefghi", "the longer one"}, {"aA", "aAaA"}, {"é", "e"}, {"kab", "123"}} {
		e, model := replaces(literals[0], literals[1])
		functions["replace "+literals[0]] = function{e, model}
	}
	eachSample(t, []int{75}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for name, f := range functions {
			got := evaluate(t, s.column, f.e)
			for i := range s.rows {
				require.Equal(t, s.null[i], got.IsNull(i))
				if !s.null[i] {
					require.Equal(t, f.model(s.texts[i]), bytesOf(got, i), "%s of %q", name, s.texts[i])
				}
			}
			got.Release()
		}
	})
}
