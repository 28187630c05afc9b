package text

// deepestJSON is the limit of arrays and objects within each other, that of encoding/json.
const deepestJSON = 10_000

// isJSON reports whether a text is JSON, as json.Valid does, which takes a call for each byte, and a copy of the text.
func isJSON(text string) bool {
	s := jsonScanner{text: text}
	s.space()
	if !s.value(0) {
		return false
	}
	s.space()
	return s.at == len(text)
}

// jsonScanner reads a text that may be JSON.
type jsonScanner struct {
	text string
	at   int
}

// space moves behind white space.
func (s *jsonScanner) space() { s.at += spaceOf(s.text[s.at:]) }

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

// take moves behind a byte, if it is the next.
func (s *jsonScanner) take(c byte) bool {
	if s.next() != c || s.at == len(s.text) {
		return false
	}
	s.at++
	return true
}

// value moves behind a value.
func (s *jsonScanner) value(depth int) bool {
	switch s.next() {
	case '{':
		return s.sequence(depth, '}', func() bool {
			if !s.quoted() {
				return false
			}
			s.space()
			if !s.take(':') {
				return false
			}
			s.space()
			return s.value(depth + 1)
		})
	case '[':
		return s.sequence(depth, ']', func() bool { return s.value(depth + 1) })
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

// sequence moves behind elements or members with commas between them, and the byte that ends them.
func (s *jsonScanner) sequence(depth int, end byte, part func() bool) bool {
	if depth >= deepestJSON {
		return false
	}
	s.at++
	s.space()
	if s.take(end) {
		return true
	}
	for part() {
		s.space()
		if s.take(end) {
			return true
		}
		if !s.take(',') {
			return false
		}
		s.space()
	}
	return false
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
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return true
		case c < ' ':
			return false
		case c == '\\':
			s.at++
			if !s.escape() {
				return false
			}
		}
	}
	return false
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
