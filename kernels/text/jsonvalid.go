package text

import "math/bits"

// deepestJSON is the limit of arrays and objects within each other, that of encoding/json.
const deepestJSON = 10_000

// isJSON reports whether a text is JSON, as json.Valid does, which takes a call for each byte, and a copy of the text.
func isJSON(text string) bool {
	s := jsonScanner{text: text}
	return s.whole()
}

// findJSON returns the value at a path of a text in one pass that also checks the text. The text is null, so ok is false, if it
// is no JSON or has no such value. Of members with one name it is the first one. No step counts from the end.
func findJSON(text string, path []jsonStep) (value string, ok bool) {
	s := jsonScanner{text: text, path: path}
	if !s.whole() || s.end == 0 {
		return "", false
	}
	return text[s.begin:s.end], true
}

// jsonScanner reads a text that may be JSON, and finds the value at a path.
type jsonScanner struct {
	text string
	at   int
	path []jsonStep
	// begin and end are the place of the value at the path. The end is 0 before it was found.
	begin, end int
}

// offPath is the number of steps of values that are not on the path.
const offPath = -1

// whole reports whether the text is one value, perhaps between white space.
func (s *jsonScanner) whole() bool {
	s.space()
	if !s.value(0, 0) {
		return false
	}
	s.space()
	return s.at == len(s.text)
}

// space moves behind white space.
func (s *jsonScanner) space() {
	if s.at < len(s.text) && s.text[s.at] <= ' ' {
		s.at += spaceOf(s.text[s.at:])
	}
}

// spaceOf returns the length of the white space at the beginning of a text.
func spaceOf(text string) int {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return i
		}
	}
	return len(text)
}

// next returns the byte at the place, or 0 at the end.
func (s *jsonScanner) next() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// take moves behind a byte, which is not 0, if it is the next.
func (s *jsonScanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// value moves behind a value. It is that of a number of steps of the path, or [offPath].
func (s *jsonScanner) value(depth, step int) (ok bool) {
	if step == len(s.path) {
		begin := s.at
		ok = s.value(depth, offPath)
		s.begin, s.end = begin, s.at
		return ok
	}
	switch s.next() {
	case '{':
		return s.object(depth, step)
	case '[':
		return s.list(depth, step)
	case '"':
		return s.quoted()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// object moves behind an object.
func (s *jsonScanner) object(depth, step int) bool {
	if depth >= deepestJSON {
		return false
	}
	searched := step != offPath && !s.path[step].isElement
	s.at++
	s.space()
	if s.take('}') {
		return true
	}
	for {
		begin := s.at
		if !s.quoted() {
			return false
		}
		child := offPath
		if searched && isQuoted(s.text[begin:s.at], s.path[step].name) {
			child, searched = step+1, false
		}
		s.space()
		if !s.take(':') {
			return false
		}
		s.space()
		if !s.value(depth+1, child) {
			return false
		}
		s.space()
		if s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
		s.space()
	}
}

// list moves behind an array.
func (s *jsonScanner) list(depth, step int) bool {
	if depth >= deepestJSON {
		return false
	}
	wanted := -1
	if step != offPath && s.path[step].isElement {
		wanted = s.path[step].number
	}
	s.at++
	s.space()
	if s.take(']') {
		return true
	}
	for element := 0; ; element++ {
		child := offPath
		if element == wanted {
			child = step + 1
		}
		if !s.value(depth+1, child) {
			return false
		}
		s.space()
		if s.take(']') {
			return true
		}
		if !s.take(',') {
			return false
		}
		s.space()
	}
}

// isQuoted reports whether a JSON string is a text.
func isQuoted(quoted, text string) bool {
	if len(quoted)-2 < len(text) {
		return false // escapes are longer than their characters
	}
	return unquoted(quoted) == text
}

func (s *jsonScanner) word(word string) bool {
	if len(s.text)-s.at < len(word) || s.text[s.at:s.at+len(word)] != word {
		return false
	}
	s.at += len(word)
	return true
}

// quoted moves behind a string.
func (s *jsonScanner) quoted() bool {
	if !s.take('"') {
		return false
	}
	for {
		s.at += plainLength(s.text[s.at:])
		switch c := s.next(); {
		case c == '"':
			s.at++
			return true
		case c != '\\':
			return false // a control character, or the end
		}
		s.at++
		if !s.escape() {
			return false
		}
		s.at++
	}
}

// plainLength returns the number of bytes before the first quote, backslash or control character of a text. It compares words of
// 8 bytes: the lowest byte that a comparison marks is one of them.
func plainLength(text string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		part := text[i : i+8]
		word := uint64(part[0]) | uint64(part[1])<<8 | uint64(part[2])<<16 | uint64(part[3])<<24 |
			uint64(part[4])<<32 | uint64(part[5])<<40 | uint64(part[6])<<48 | uint64(part[7])<<56
		quote, backslash := word^ones*'"', word^ones*'\\'
		marks := ((quote-ones)&^quote | (backslash-ones)&^backslash | (word-ones*' ')&^word) & highs
		if marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// escape moves to the last byte of an escape, from that behind the backslash.
func (s *jsonScanner) escape() bool {
	switch s.next() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			s.at++
			if c := s.next() | 0x20; !isDigit(s.next()) && (c < 'a' || c > 'f') {
				return false
			}
		}
		return true
	}
	return false
}

// number moves behind a number.
func (s *jsonScanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() || s.take('.') && !s.digits() {
		return false
	}
	if s.next()|0x20 == 'e' {
		s.at++
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

// digits moves behind one or more digits.
func (s *jsonScanner) digits() bool {
	begin := s.at
	for isDigit(s.next()) {
		s.at++
	}
	return s.at > begin
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
