// Package jsontext reads a sequence of JSON values from text, in time linear in its length.
//
// It follows RFC 8259 and also takes the numbers NaN, Infinity and -Infinity, which Python writes.
// A surrogate without its other half is U+FFFD, as in encoding/json.
package jsontext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrSyntax reports text that is not JSON.
var ErrSyntax = errors.New("the text is not JSON")

// MostDepth is the nesting of values at most.
const MostDepth = 64

// Kind is the kind of a value.
type Kind byte

// Kinds of values.
const (
	Null Kind = iota + 1
	False
	True
	Number
	String
	Array
	Object
)

// String implements fmt.Stringer.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "false", "true", "a number", "a string", "an array", "an object"}[k]
}

// Scanner reads values of a text. Text is that of the number or string that Next read, without
// quotes and escapes.
type Scanner struct {
	Text string

	text      string
	at, begin int
	depth     int
}

// New returns a scanner of a text.
func New(text string) Scanner { return Scanner{text: text} }

// Begin returns the place of the value that Next read.
func (s *Scanner) Begin() int { return s.begin }

// Since returns the text from a place up to the value that was read last.
func (s *Scanner) Since(begin int) string { return s.text[begin:s.at] }

// End returns an error unless only space is left.
func (s *Scanner) End() error {
	if s.space(); s.at < len(s.text) {
		return s.unexpected("the end of the line")
	}
	return nil
}

func (s *Scanner) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\n' || s.text[s.at] == '\r') {
		s.at++
	}
}

// unexpected is the error of text that should be something else.
func (s *Scanner) unexpected(expected string) error {
	if s.at >= len(s.text) {
		return fmt.Errorf("the text ends, expected %s: %w", expected, ErrSyntax)
	}
	return fmt.Errorf("%.20q at byte %d, expected %s: %w", s.text[s.at:min(len(s.text), s.at+20)], s.at, expected, ErrSyntax)
}

// Next reads a scalar, or the beginning of an array or object. [Scanner.Element] and
// [Scanner.Member] read its contents.
func (s *Scanner) Next() (Kind, error) {
	s.space()
	s.begin = s.at
	if s.at >= len(s.text) {
		return 0, s.unexpected("a value")
	}
	switch c := s.text[s.at]; {
	case c == '"':
		return String, s.string()
	case c == '{':
		return Object, s.open()
	case c == '[':
		return Array, s.open()
	case c == '-' || c-'0' <= 9:
		return Number, s.number()
	}
	for _, word := range []struct {
		text string
		kind Kind
	}{{"null", Null}, {"true", True}, {"false", False}, {"NaN", Number}, {"Infinity", Number}} {
		if strings.HasPrefix(s.text[s.at:], word.text) {
			s.Text = word.text
			s.at += len(word.text)
			return word.kind, nil
		}
	}
	return 0, s.unexpected("a value")
}

func (s *Scanner) open() error {
	s.at++
	if s.depth++; s.depth > MostDepth {
		return fmt.Errorf("values are nested more than %d deep: %w", MostDepth, ErrSyntax)
	}
	return nil
}

// Element reports whether the array that has begun has another element. first holds before the
// first one.
func (s *Scanner) Element(first bool) (bool, error) { return s.further(first, ']') }

// Member reads the name of the next member of the object that has begun. first holds before the
// first one.
func (s *Scanner) Member(first bool) (name string, further bool, err error) {
	if further, err = s.further(first, '}'); err != nil || !further {
		return "", false, err
	}
	if s.space(); s.at >= len(s.text) || s.text[s.at] != '"' {
		return "", false, s.unexpected("the name of a member")
	}
	if err := s.string(); err != nil {
		return "", false, err
	}
	name = s.Text
	if s.space(); s.at >= len(s.text) || s.text[s.at] != ':' {
		return "", false, s.unexpected("a colon")
	}
	s.at++
	return name, true, nil
}

func (s *Scanner) further(first bool, end byte) (bool, error) {
	s.space()
	switch {
	case s.at < len(s.text) && s.text[s.at] == end:
		s.at++
		s.depth--
		return false, nil
	case first:
		return true, nil
	case s.at < len(s.text) && s.text[s.at] == ',':
		s.at++
		return true, nil
	}
	return false, s.unexpected("a comma or " + string(end))
}

// Skip reads the rest of a value that Next has begun.
func (s *Scanner) Skip(kind Kind) error {
	for first := true; kind == Array || kind == Object; first = false {
		var further bool
		var err error
		if kind == Array {
			further, err = s.Element(first)
		} else {
			_, further, err = s.Member(first)
		}
		if err != nil || !further {
			return err
		}
		inner, err := s.Next()
		if err == nil {
			err = s.Skip(inner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// digits skips digits and reports whether there are some.
func (s *Scanner) digits() bool {
	begin := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at > begin
}

func (s *Scanner) number() error {
	begin := s.at
	if s.text[s.at] == '-' {
		s.at++
	}
	if strings.HasPrefix(s.text[s.at:], "Infinity") {
		s.at += len("Infinity")
		s.Text = s.text[begin:s.at]
		return nil
	}
	zero := s.at < len(s.text) && s.text[s.at] == '0'
	whole := s.at
	ok := s.digits() && (!zero || s.at == whole+1)
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		ok = s.digits() && ok
	}
	if s.at < len(s.text) && s.text[s.at]|0x20 == 'e' {
		if s.at++; s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		ok = s.digits() && ok
	}
	s.Text = s.text[begin:s.at]
	if !ok {
		return fmt.Errorf("%.40q is not a number of JSON: %w", s.Text, ErrSyntax)
	}
	return nil
}

// string reads a string. Its first quote is next.
func (s *Scanner) string() error {
	s.at++
	begin := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.Text = s.text[begin:s.at]
			s.at++
			return nil
		case c == '\\':
			return s.escaped(begin)
		case c < ' ':
			return s.unexpected("an escape instead of a control character")
		}
	}
	return s.unexpected("a quote")
}

// escaped reads the rest of a string from its first escape on.
func (s *Scanner) escaped(begin int) error {
	text := append(make([]byte, 0, 2*(s.at-begin)+32), s.text[begin:s.at]...)
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.Text = string(text)
			s.at++
			return nil
		case c < ' ':
			return s.unexpected("an escape instead of a control character")
		case c != '\\':
			text = append(text, c)
			s.at++
		default:
			var err error
			if text, err = s.escape(text); err != nil {
				return err
			}
		}
	}
	return s.unexpected("a quote")
}

// escape appends the character of an escape.
func (s *Scanner) escape(text []byte) ([]byte, error) {
	const letters, characters = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if s.at+1 >= len(s.text) {
		return nil, s.unexpected("an escape")
	}
	if at := strings.IndexByte(letters, s.text[s.at+1]); at >= 0 {
		s.at += 2
		return append(text, characters[at]), nil
	}
	unit, ok := s.unit()
	if !ok {
		return nil, s.unexpected("an escape")
	}
	s.at += unitLength
	if utf16.IsSurrogate(unit) {
		low, ok := s.unit()
		if unit = utf16.DecodeRune(unit, low); ok && unit != utf8.RuneError {
			s.at += unitLength
		}
	}
	return utf8.AppendRune(text, unit), nil
}

const unitLength = len(`\u1234`)

// unit returns the code unit of the escape that follows.
func (s *Scanner) unit() (rune, bool) {
	if len(s.text)-s.at < unitLength || s.text[s.at] != '\\' || s.text[s.at+1] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(s.text[s.at+2:s.at+unitLength], 16, 16)
	return rune(value), err == nil
}
