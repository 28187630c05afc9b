// Package regextest draws regular expressions and texts for tests.
package regextest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Pattern draws a pattern with up to two levels of groups within groups.
func Pattern(r *rand.Rand) string {
	flags := []string{"", "", "", "(?i)", "(?s)", "(?m)", "(?U)", "(?ms)"}[r.IntN(8)]
	return flags + alternatives(r, 2)
}

func alternatives(r *rand.Rand, depth int) string {
	parts := make([]string, 1+r.IntN(8)/5)
	for i := range parts {
		for range r.IntN(4) {
			parts[i] += repeated(r, depth)
		}
	}
	return strings.Join(parts, "|")
}

var atoms = []string{
	"a", "b", "é", "K", "ſ", "_", "-", " ", "1", ".", `\n`, "[a-c]", "[^a]", "[^a-zé]", "[bé-ü]", `\d`, `\w`, `\W`, `\s`, `\pL`, `\p{Greek}`, "[[:upper:]]",
	"ab", "ba", "€", "\U0001f600", "\uFFFD", "[\uFFFD]", "[^\uFFFD]",
}

var assertions = []string{"^", "$", `\b`, `\B`, `\A`, `\z`}

func repeated(r *rand.Rand, depth int) string {
	var atom string
	switch k := r.IntN(14); {
	case k == 0:
		return assertions[r.IntN(len(assertions))]
	case k < 4 && depth > 0:
		atom = []string{"(", "(?:", "(?P<name>", "("}[r.IntN(4)]
		if atom == "(?P<name>" {
			atom = fmt.Sprintf("(?P<n%d>", r.Uint32()) // names are unique
		}
		atom += alternatives(r, depth-1) + ")"
	default:
		atom = atoms[r.IntN(len(atoms))]
		if len(atom) == 2 && atom[0] != '\\' && atom[0] < 0x80 {
			return atom
		}
	}
	return atom + []string{"", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"}[r.IntN(13)]
}

var pieces = []string{
	"a", "b", "a", "b", "ab", "c", "A", "k", "K", "s", "\u017f", "é", "É", "ü", "€", "\U0001f600", "Ω", "_", "-", " ", "\n", "1", "\uFFFD",
	"\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "\xe0\x80\x80",
}

// Text draws a text of up to some pieces, some of them no valid UTF-8.
func Text(r *rand.Rand, most int) string {
	text := ""
	few := r.IntN(3) == 0
	for range r.IntN(most + 1) {
		if few {
			text += pieces[r.IntN(4)]
		} else {
			text += pieces[r.IntN(len(pieces))]
		}
	}
	return text
}
