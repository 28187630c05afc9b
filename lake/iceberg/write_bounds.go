package iceberg

import (
	"bytes"
	"unicode/utf8"
)

// boundLength is the number of characters of a bound of text, or of bytes.
const boundLength = 16

// lowerText returns the beginning of a text, which is not greater. Text that is not UTF-8 has no bound.
func lowerText(text []byte) []byte {
	if text == nil || !utf8.Valid(text) {
		return nil
	}
	return text[:prefixOf(text)]
}

// upperText returns a text that is not less and not long, or nil.
func upperText(text []byte) []byte {
	if text == nil || !utf8.Valid(text) {
		return nil
	}
	length := prefixOf(text)
	if length == len(text) {
		return text
	}
	for prefix := text[:length]; len(prefix) > 0; {
		r, n := utf8.DecodeLastRune(prefix)
		prefix = prefix[:len(prefix)-n]
		if next := nextRune(r); next > 0 {
			return utf8.AppendRune(bytes.Clone(prefix), next)
		}
	}
	return nil
}

// nextRune returns the character behind one, or zero behind the last one.
func nextRune(r rune) rune {
	switch {
	case r >= utf8.MaxRune:
		return 0
	case r == 0xD7FF: // surrogates are no characters
		return 0xE000
	}
	return r + 1
}

// prefixOf returns the length in bytes of the first characters of a text.
func prefixOf(text []byte) int {
	length := 0
	for range boundLength {
		_, n := utf8.DecodeRune(text[length:])
		length += n
	}
	return length
}

// upperBytes returns bytes that are not less and not many, or nil.
func upperBytes(data []byte) []byte {
	if len(data) <= boundLength {
		return data
	}
	next, _ := successor(data[:boundLength]).([]byte)
	return next
}
