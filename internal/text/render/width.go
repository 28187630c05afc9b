package render

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// joiner joins emojis to one.
const joiner = '\u200d'

// runeWidth returns the number of cells of a terminal that a character takes.
func runeWidth(r rune) int {
	if r == joiner || unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// widthOf returns the number of cells that a text takes.
func widthOf(text string) int {
	cells := 0
	for _, r := range text {
		cells += runeWidth(r)
	}
	return cells
}

// cut shortens a text to a width; … stands for the rest.
func cut(text string, most int) string {
	if widthOf(text) <= most {
		return text
	}
	cells := 0
	for i, r := range text {
		if cells += runeWidth(r); cells > most-1 {
			return text[:i] + gap
		}
	}
	return text
}

// clean escapes characters that are not printed, such as line ends and the control
// sequences of terminals.
func clean(text string) string {
	if !strings.ContainsFunc(text, unprinted) {
		return text
	}
	var cleaned strings.Builder
	for _, r := range text {
		if unprinted(r) {
			quoted := strconv.QuoteRune(r)
			cleaned.WriteString(quoted[1 : len(quoted)-1])
		} else {
			cleaned.WriteRune(r)
		}
	}
	return cleaned.String()
}

// unprinted reports whether a character is escaped. Invalid UTF-8 counts as the
// replacement character.
func unprinted(r rune) bool { return !unicode.IsPrint(r) && r != joiner }
