package source

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// errQuote reports quotes that RFC 4180 does not have.
var errQuote = errors.New("a quote within a value, expected quotes around the whole value and two quotes for each within it")

// csvField is a value of a row.
type csvField struct {
	text   string
	quoted bool
}

// csvRows reads the rows of a block, as RFC 4180 has them. Line ends within quotes are kept as they
// are.
type csvRows struct {
	text      string
	delimiter string
	// line is the number of the line that is next.
	line int
	row  []csvField
}

func newCSVRows(b block, delimiter rune) csvRows {
	return csvRows{text: b.text, delimiter: string(delimiter), line: b.line}
}

// next reads a row: of an empty line one value, which is empty. line is the number of its first
// line. It returns false at the end.
func (r *csvRows) next() (row []csvField, line int, ok bool, err error) {
	if r.text == "" {
		return nil, r.line, false, nil
	}
	r.row, line = r.row[:0], r.line
	for more := true; more; {
		var value csvField
		if value, more, err = r.field(); err != nil {
			return nil, line, false, fmt.Errorf("line %d: %w: %w", line, err, ErrContents)
		}
		r.row = append(r.row, value)
	}
	return r.row, line, true, nil
}

// field reads a value and its end. more reports that the row has another one.
func (r *csvRows) field() (value csvField, more bool, err error) {
	if strings.HasPrefix(r.text, `"`) {
		if value.text, err = r.quoted(); err != nil {
			return value, false, err
		}
		value.quoted = true
		more, ok := r.separator()
		if !ok {
			err = errQuote
		}
		return value, more, err
	}
	end := r.end()
	if value.text = r.text[:end]; strings.IndexByte(value.text, '"') >= 0 {
		return value, false, errQuote
	}
	r.text = r.text[end:]
	more, _ = r.separator()
	if !more {
		value.text = strings.TrimSuffix(value.text, "\r")
	}
	return value, more, nil
}

// end returns the length of a value without quotes.
func (r *csvRows) end() int {
	first := r.delimiter[0]
	for i := range len(r.text) {
		if c := r.text[i]; c == '\n' || c == first && strings.HasPrefix(r.text[i:], r.delimiter) {
			return i
		}
	}
	return len(r.text)
}

// separator skips what follows a value: the delimiter, a line end, or the end of the text.
func (r *csvRows) separator() (more, ok bool) {
	if strings.HasPrefix(r.text, r.delimiter) {
		r.text = r.text[len(r.delimiter):]
		return true, true
	}
	rest := strings.TrimPrefix(r.text, "\r")
	if rest == "" {
		r.text = ""
		return false, true
	}
	if rest[0] != '\n' {
		return false, false
	}
	r.text = rest[1:]
	r.line++
	return false, true
}

// quoted reads the text between quotes.
func (r *csvRows) quoted() (string, error) {
	var parts strings.Builder
	for rest := r.text[1:]; ; {
		end := strings.IndexByte(rest, '"')
		if end < 0 {
			return "", errors.New("the quotes of a value have no end")
		}
		r.line += strings.Count(rest[:end], "\n")
		if !strings.HasPrefix(rest[end+1:], `"`) {
			r.text = rest[end+1:]
			if parts.Len() == 0 {
				return rest[:end], nil
			}
			parts.WriteString(rest[:end])
			return parts.String(), nil
		}
		parts.WriteString(rest[:end+1])
		rest = rest[end+2:]
	}
}

// isDelimiter reports whether a character may stand between values.
func isDelimiter(r rune) bool {
	return r != 0 && utf8.ValidRune(r) && !strings.ContainsRune("\"\r\n\uFFFD", r)
}
