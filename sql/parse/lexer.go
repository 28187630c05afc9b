package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is a kind of token.
type kind uint8

// The kinds of tokens.
const (
	endToken    kind = iota
	nameToken        // a word, also a keyword
	quotedToken      // a name in quotes
	numberToken
	textToken
	blobToken
	parameterToken // $1, $name
	operatorToken  // an operator without a place in the table of precedence
	symbolToken    // other operators, parentheses, commas
	faultToken     // what is no token: text is the message of the fault
)

// token is a token of a text.
type token struct {
	kind  kind
	class class
	pos   int
	end   int
	// text is the name or the literal without quotes, escapes and underscores.
	text string
	// word is a keyword in lower case, or a symbol or an operator.
	word string
}

// lexer cuts a text into tokens.
type lexer struct {
	text string
	at   int
	list []token
}

// tokens returns the tokens of a text. The last one is its end, or a fault.
func tokens(text string) []token {
	l := &lexer{text: text, list: make([]token, 0, min(len(text)/5, 4096)+8)}
	for {
		l.skipSpace()
		if l.failed() {
			return l.list
		}
		if len(l.list) == MaxTokens {
			l.fail(l.at, "the text has more tokens than the limit of "+strconv.Itoa(MaxTokens)+": load large data from files")
			return l.list
		}
		if l.at == len(l.text) {
			l.add(endToken, l.at, "")
			return l.list
		}
		l.scan()
		if l.failed() {
			return l.list
		}
	}
}

// add appends a token from pos to the place of the lexer.
func (l *lexer) add(k kind, pos int, text string) *token {
	l.list = append(l.list, token{kind: k, pos: pos, end: l.at, text: text})
	return &l.list[len(l.list)-1]
}

// fail appends a fault, which ends the tokens.
func (l *lexer) fail(pos int, message string) { l.add(faultToken, pos, message) }

// failed returns whether the last token is a fault.
func (l *lexer) failed() bool {
	return len(l.list) > 0 && l.list[len(l.list)-1].kind == faultToken
}

// peek returns the byte at an offset from the place of the lexer, 0 behind the end.
func (l *lexer) peek(offset int) byte {
	if l.at+offset < len(l.text) {
		return l.text[l.at+offset]
	}
	return 0
}

// spaces are the characters above ASCII that are white space, as DuckDB has them.
const spaces = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d" +
	"\u202f\u205f\u2060\u3000\ufeff"

// skipSpace skips white space and comments.
func (l *lexer) skipSpace() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == ' ' || '\t' <= c && c <= '\r':
			l.at++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(l.text[l.at:])
			if !strings.ContainsRune(spaces, r) {
				return
			}
			l.at += size
		case c == '-' && l.peek(1) == '-':
			l.skipLine()
		case c == '/' && l.peek(1) == '*':
			if !l.skipComment() {
				return
			}
		default:
			return
		}
	}
}

// skipLine skips the rest of a line.
func (l *lexer) skipLine() {
	length := strings.IndexAny(l.text[l.at:], "\r\n")
	if length < 0 {
		length = len(l.text) - l.at
	}
	l.at += length
}

// skipComment skips a comment with the comments in it.
func (l *lexer) skipComment() bool {
	start, depth := l.at, 0
	for l.at < len(l.text) {
		switch {
		case l.peek(0) == '/' && l.peek(1) == '*':
			depth++
			l.at += 2
		case l.peek(0) == '*' && l.peek(1) == '/':
			depth--
			l.at += 2
			if depth == 0 {
				return true
			}
		default:
			l.at++
		}
	}
	l.fail(start, "the comment has no end: add */")
	return false
}

// scan appends the token at the place of the lexer.
func (l *lexer) scan() {
	c := l.text[l.at]
	switch {
	case isNameStart(c):
		l.scanWord()
	case isDigit(c) || c == '.' && isDigit(l.peek(1)):
		l.scanNumber()
	case c == '\'':
		l.scanText()
	case c == '"':
		l.scanQuotedName()
	case c == '$':
		l.scanDollar()
	default:
		l.scanSymbol()
	}
}

// scanWord appends a name or a keyword, or a text with a letter before it.
func (l *lexer) scanWord() {
	start := l.at
	if l.peek(1) == '\'' {
		switch l.text[l.at] {
		case 'e', 'E':
			l.at++
			l.scanEscapedText(start)
			return
		case 'x', 'X':
			l.at++
			l.scanBlob(start)
			return
		case 'b', 'B':
			l.fail(start, "texts of bits are not supported: write a number such as 0b101")
			return
		}
	}
	if c := l.peek(0); (c == 'u' || c == 'U') && l.peek(1) == '&' && (l.peek(2) == '\'' || l.peek(2) == '"') {
		l.fail(start, `U&'…' is not supported: write E'…' with escapes such as \u00e4`)
		return
	}
	for l.at < len(l.text) && isNamePart(l.text[l.at]) {
		if l.text[l.at] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(l.text[l.at:])
			if strings.ContainsRune(spaces, r) {
				break
			}
			l.at += size
			continue
		}
		l.at++
	}
	text := l.text[start:l.at]
	t := l.add(nameToken, start, text)
	t.word, t.class = keyword(text)
}

// isNameStart returns whether a name may begin with a byte.
func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

// isNamePart returns whether a name may have a byte behind its first one.
func isNamePart(c byte) bool { return isNameStart(c) || isDigit(c) || c == '$' }

// isDigit returns whether a byte is a decimal digit.
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// operatorBytes has the bytes of operators. The second kind makes an operator keep + or - at its end.
var operatorBytes = func() (kinds [256]uint8) {
	for _, c := range []byte("+-*/<>=") {
		kinds[c] = 1
	}
	for _, c := range []byte("~!@^&|`%") {
		kinds[c] = 2
	}
	return kinds
}()

// scanSymbol appends a symbol or an operator.
func (l *lexer) scanSymbol() {
	start := l.at
	c := l.text[l.at]
	length := l.operatorLength()
	switch {
	case strings.IndexByte(",()[].;{}#?", c) >= 0:
		length = 1
	case c == ':':
		length = 1
		if next := l.peek(1); next == ':' || next == '=' {
			length = 2
		}
	case length == 0:
		r, _ := utf8.DecodeRuneInString(l.text[l.at:])
		l.fail(start, "the character "+quoteRune(r)+" is no part of SQL")
		return
	}
	l.at += length
	word := l.text[start:l.at]
	if word == "!=" {
		word = "<>"
	}
	k := symbolToken
	if operatorBytes[c] > 0 && !fixedOperators[word] {
		k = operatorToken
	}
	l.add(k, start, "").word = word
}

// fixedOperators are the operators with separate tokens; all others are alike.
var fixedOperators = map[string]bool{
	"+": true, "-": true, "*": true, "/": true, "//": true, "%": true, "^": true, "**": true,
	"<": true, ">": true, "=": true, "<=": true, ">=": true, "<>": true,
	"->": true, "->>": true, "=>": true,
}

// longestOperator is the length of the longest operator. It bounds the bytes that are looked at more than once.
const longestOperator = 63

// operatorLength returns the length of the operator at the place of the lexer: as long as it can be, but
// without a comment, and with + or - at its end only if it has a byte that arithmetic does not have.
func (l *lexer) operatorLength() int {
	length, special := 0, false
	for length < longestOperator && l.at+length < len(l.text) {
		c := l.text[l.at+length]
		if operatorBytes[c] == 0 {
			break
		}
		next := l.peek(length + 1)
		if c == '-' && next == '-' || c == '/' && next == '*' {
			break
		}
		special = special || operatorBytes[c] == 2
		length++
	}
	for length > 1 && !special && (l.text[l.at+length-1] == '+' || l.text[l.at+length-1] == '-') {
		length--
	}
	return length
}

// quoteRune returns a character in quotes.
func quoteRune(r rune) string { return "“" + string(r) + "”" }
