package kerneltest

import "strings"

// token is a word, a number, a string or one punctuation character.
type token struct {
	kind  tokenKind
	text  string
	line  int
	start int // byte of the source
}

type tokenKind uint8

const (
	wordToken tokenKind = iota
	numberToken
	stringToken
	markToken
	endToken
)

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// tokens splits PTX text. An opcode with its modifiers is one word; a special register
// with its component is too.
func tokens(source string) []token {
	var all []token
	line := 1
	for i := 0; i < len(source); {
		c := source[i]
		start := i
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == 0:
			i++
		case strings.HasPrefix(source[i:], "//"):
			for i < len(source) && source[i] != '\n' {
				i++
			}
		case strings.HasPrefix(source[i:], "/*"):
			end := strings.Index(source[i+2:], "*/")
			if end < 0 {
				refuse(line, "a comment that does not end")
			}
			line += strings.Count(source[i:i+2+end], "\n")
			i += end + 4
		case c == '"':
			end := strings.IndexByte(source[i+1:], '"')
			if end < 0 {
				refuse(line, "a string that does not end")
			}
			i += end + 2
			all = append(all, token{stringToken, source[start:i], line, start})
		case letter(c) || c == '%' && i+1 < len(source) && letter(source[i+1]) || c == '.' && i+1 < len(source) && letter(source[i+1]):
			i++
			for i < len(source) {
				if letter(source[i]) || digit(source[i]) || source[i] == '.' {
					i++
				} else if strings.HasPrefix(source[i:], "::") {
					i += 2
				} else {
					break
				}
			}
			all = append(all, token{wordToken, source[start:i], line, start})
		case digit(c):
			for i < len(source) && (letter(source[i]) || digit(source[i]) || source[i] == '.' || exponentSign(source[start:i], source[i])) {
				i++
			}
			all = append(all, token{numberToken, source[start:i], line, start})
		default:
			i++
			all = append(all, token{markToken, source[start:i], line, start})
		}
	}
	return append(all, token{endToken, "the end of the text", line, len(source)})
}

// exponentSign reports whether c is the sign of an exponent, as in 1.0e-3.
func exponentSign(number string, c byte) bool {
	if c != '-' && c != '+' || !strings.Contains(number, ".") {
		return false
	}
	last := number[len(number)-1]
	return last == 'e' || last == 'E'
}
