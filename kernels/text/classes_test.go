package text_test

import (
	"math/rand/v2"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
	"github.com/gpuframe/gpuframe/memory"
)

// TestClasses compares classes of characters with package unicode.
func TestClasses(t *testing.T) {
	every := func(is func(rune) bool) func(string) bool {
		return func(text string) bool {
			for len(text) > 0 {
				r, width := utf8.DecodeRuneInString(text)
				if r == utf8.RuneError && width == 1 || !is(r) {
					return false
				}
				if text = text[width:]; text == "" {
					return true
				}
			}
			return false
		}
	}
	cased := func(wanted func(rune) bool, others ...*unicode.RangeTable) func(string) bool {
		return func(text string) bool {
			found := false
			for _, r := range text {
				if unicode.In(r, others...) {
					return false
				}
				found = found || wanted(r)
			}
			return found
		}
	}
	classes := map[string]struct {
		of    func(expr.Expr) expr.Expr
		model func(string) bool
	}{
		"alpha": {text.IsAlpha, every(unicode.IsLetter)},
		"digit": {text.IsDigit, every(unicode.IsDigit)},
		"alnum": {text.IsAlnum, every(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })},
		"space": {text.IsSpace, every(unicode.IsSpace)},
		"upper": {text.IsUpper, cased(unicode.IsUpper, unicode.Ll, unicode.Lt)},
		"lower": {text.IsLower, cased(unicode.IsLower, unicode.Lu, unicode.Lt)},
		"ascii": {text.IsASCII, func(text string) bool {
			for i := range len(text) {
				if text[i] >= utf8.RuneSelf {
					return false
				}
			}
			return true
		}},
	}
	pieces := [][]string{
		{"a", "é", "ß", "ǆ", "ſ"}, {"A", "Ω", "Я", "Ǆ"}, {"1", "٣", "９"}, {" ", "\t", "\n", "\u0085", "\u00a0", "\u2003", "\u3000", "\u200b"},
		{"ǅ", "ʰ", "中", "_", "-", "½", "\U0001f600", "\xff", "\xc3", "\uFFFD", "́"},
	}
	draw := func(r *rand.Rand) string {
		made, from := "", r.IntN(len(pieces))
		for range r.IntN(6) {
			if r.IntN(8) == 0 {
				from = r.IntN(len(pieces))
			}
			made += pieces[from][r.IntN(len(pieces[from]))]
		}
		return made
	}
	eachSample(t, []int{75, 300}, draw, func(t *testing.T, _ *memory.Manager, s sample) {
		for name, class := range classes {
			got := evaluate(t, s.column, class.of(expr.Col("text"))).(*array.Boolean)
			for i := range s.rows {
				require.Equal(t, s.null[i], got.IsNull(i))
				if !s.null[i] {
					require.Equal(t, class.model(s.texts[i]), got.Value(i), "%s of %q", name, s.texts[i])
				}
			}
			got.Release()
		}
	})
}
