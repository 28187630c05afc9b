package text

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/text/unicode/norm"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// normalForms are the forms of Unicode by their names.
var normalForms = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}

var (
	normalizeFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return withForm(textFunction("normalize", sameText, func(h hosted) func(string) string { return normalForms[h.text].String }))
	}}
	foldFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return textFunction("fold_case", sameText, func(hosted) func(string) string { return foldCase })
	}}
	accentsFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return textFunction("strip_accents", sameText, func(hosted) func(string) string { return withoutAccents })
	}}
	translateFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return textFunction("translate", sameBytes, func(h hosted) func(string) string {
			return translator(h.text, h.with).Replace
		})
	}}
)

// Normalize is a string in a normal form of Unicode: NFC, NFD, NFKC or NFKD. Binaries are refused, as by FoldCase and
// StripAccents. The host computes it.
func Normalize(e expr.Expr, form string) expr.Expr {
	return onHost(hosted{function: normalizeFunction.Get(), text: form}, e)
}

// FoldCase is a string in the form in which strings are equal that differ in case alone, as full case folding
// of Unicode has it: "ß" becomes "ss". The host computes it.
func FoldCase(e expr.Expr) expr.Expr { return onHost(hosted{function: foldFunction.Get()}, e) }

// StripAccents is a string without the marks on its letters, in form NFC. The host computes it.
func StripAccents(e expr.Expr) expr.Expr { return onHost(hosted{function: accentsFunction.Get()}, e) }

// Translate is a string with each character of from replaced by the one at the same place in to, or removed if
// to is shorter. The first of equal characters in from counts. That of a binary is a binary. The host computes it.
func Translate(e expr.Expr, from, to string) expr.Expr {
	return onHost(hosted{function: translateFunction.Get(), text: from, with: to}, e)
}

func withForm(f *hostFunction) *hostFunction {
	f.result = func(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
		if _, ok := normalForms[h.text]; !ok {
			return nil, fmt.Errorf("the form %q, expected NFC, NFD, NFKC or NFKD: %w", h.text, expr.ErrLiteral)
		}
		return sameText(h, operands)
	}
	return f
}

func withoutAccents(text string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
	return norm.NFC.String(letters)
}

// translator returns the replacements of characters.
func translator(from, to string) *strings.Replacer {
	var pairs []string
	others := []rune(to)
	for i, r := range []rune(from) {
		with := ""
		if i < len(others) {
			with = string(others[i])
		}
		pairs = append(pairs, string(r), with) // the first pair of a character counts
	}
	return strings.NewReplacer(pairs...)
}
