package parse

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanNumber appends a number.
func (l *lexer) scanNumber() {
	start := l.at
	if l.peek(0) == '0' && isDigitOf(l.peek(2), l.peek(1)) {
		base := l.peek(1)
		l.at += 2
		l.skipDigits(func(c byte) bool { return isDigitOf(c, base) })
		if isNamePart(l.peek(0)) {
			l.fail(start, "the number has a letter or a digit that its base does not have")
			return
		}
		l.addNumber(start)
		return
	}
	l.skipDigits(isDigit)
	if l.peek(0) == '.' && l.peek(1) != '.' {
		l.at++
		l.skipDigits(isDigit)
	}
	if exponent := l.exponentLength(); exponent > 0 {
		l.at += exponent
		l.skipDigits(isDigit)
	}
	l.addNumber(start)
}

// isDigitOf returns whether a byte is a digit of a number that begins with 0 and a letter.
func isDigitOf(c, letter byte) bool {
	switch letter {
	case 'x', 'X':
		return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	case 'b', 'B':
		return c == '0' || c == '1'
	case 'o', 'O':
		return '0' <= c && c <= '7'
	}
	return false
}

// addNumber appends the number from start without its underscores.
func (l *lexer) addNumber(start int) {
	l.add(numberToken, start, strings.ReplaceAll(l.text[start:l.at], "_", ""))
}

// skipDigits skips digits with single underscores between them.
func (l *lexer) skipDigits(digit func(byte) bool) {
	for digit(l.peek(0)) || l.peek(0) == '_' && l.at > 0 && digit(l.text[l.at-1]) && digit(l.peek(1)) {
		l.at++
	}
}

// exponentLength returns the length of the letter and the sign of an exponent, 0 without one.
func (l *lexer) exponentLength() int {
	if c := l.peek(0); c != 'e' && c != 'E' {
		return 0
	}
	switch next := l.peek(1); {
	case isDigit(next):
		return 1
	case (next == '+' || next == '-') && isDigit(l.peek(2)):
		return 2
	}
	return 0
}

// scanText appends a text in single quotes, with the texts that follow it on later lines.
func (l *lexer) scanText() {
	start := l.at
	text, ok := l.quoted('\'')
	if !ok {
		l.failAtEnd(start, "the text has no end: add a quote '")
		return
	}
	if l.continues() {
		var all strings.Builder
		for more := true; more; more = l.continues() {
			all.WriteString(text)
			if text, ok = l.quoted('\''); !ok {
				l.failAtEnd(start, "the text has no end: add a quote '")
				return
			}
		}
		text = all.String() + text
	}
	l.add(textToken, start, text)
}

// continues moves to a quote on a later line, which goes on with a text.
func (l *lexer) continues() bool {
	at := l.at
	for at < len(l.text) && (l.text[at] == ' ' || '\t' <= l.text[at] && l.text[at] <= '\r') {
		at++
	}
	if at == len(l.text) || l.text[at] != '\'' || !strings.ContainsAny(l.text[l.at:at], "\r\n") {
		return false
	}
	l.at = at
	return true
}

// quoted skips text in quotes and returns it. Two quotes in it are one.
func (l *lexer) quoted(quote byte) (text string, ok bool) {
	l.at++
	start, doubled := l.at, false
	for {
		length := strings.IndexByte(l.text[l.at:], quote)
		if length < 0 {
			return "", false
		}
		l.at += length + 1
		if l.peek(0) != quote {
			break
		}
		doubled = true
		l.at++
	}
	text = l.text[start : l.at-1]
	if doubled {
		single := string(quote)
		text = strings.ReplaceAll(text, single+single, single)
	}
	return text, true
}

// scanQuotedName appends a name in double quotes.
func (l *lexer) scanQuotedName() {
	start := l.at
	text, ok := l.quoted('"')
	switch {
	case !ok:
		l.failAtEnd(start, `the name has no end: add a quote "`)
	case text == "":
		l.fail(start, `the name "" is empty`)
	default:
		l.add(quotedToken, start, text)
	}
}

// scanBlob appends x'…'.
func (l *lexer) scanBlob(start int) {
	text, ok := l.quoted('\'')
	if !ok {
		l.failAtEnd(start, "the blob has no end: add a quote '")
		return
	}
	for i := range len(text) {
		if !isDigitOf(text[i], 'x') {
			l.fail(start, "a blob has hexadecimal digits: "+quoteRune(rune(text[i]))+" is none")
			return
		}
	}
	l.add(blobToken, start, text)
}

// scanEscapedText appends e'…' with escapes.
func (l *lexer) scanEscapedText(start int) {
	var text strings.Builder
	for l.at++; ; {
		length := strings.IndexAny(l.text[l.at:], `'\`)
		if length < 0 {
			l.failAtEnd(start, "the text has no end: add a quote '")
			return
		}
		text.WriteString(l.text[l.at : l.at+length])
		l.at += length
		if l.peek(0) == '\'' {
			l.at++
			if l.peek(0) != '\'' {
				break
			}
			text.WriteByte('\'')
			l.at++
			continue
		}
		if l.at+1 == len(l.text) {
			l.failAtEnd(start, "the text has no end: add a quote '")
			return
		}
		if !l.escape(&text) {
			return
		}
	}
	if !utf8.ValidString(text.String()) || strings.IndexByte(text.String(), 0) >= 0 {
		l.fail(start, "the escapes of the text make bytes that are no UTF-8 or are zero")
		return
	}
	l.add(textToken, start, text.String())
}

// escape appends the character of the escape at the place of the lexer.
func (l *lexer) escape(text *strings.Builder) bool {
	start, c := l.at, l.text[l.at+1]
	l.at += 2
	switch c {
	case 'b':
		text.WriteByte('\b')
	case 'f':
		text.WriteByte('\f')
	case 'n':
		text.WriteByte('\n')
	case 'r':
		text.WriteByte('\r')
	case 't':
		text.WriteByte('\t')
	case 'v':
		text.WriteByte('\v')
	case 'u':
		return l.escapedRune(text, start, 4)
	case 'U':
		return l.escapedRune(text, start, 8)
	case 'x':
		if !isDigitOf(l.peek(0), 'x') {
			text.WriteByte(c)
			break
		}
		l.escapedByte(text, l.at, 2, 16, 'x')
	case '0', '1', '2', '3', '4', '5', '6', '7':
		l.escapedByte(text, l.at-1, 3, 8, 'o')
	default:
		text.WriteByte(c)
	}
	return true
}

// escapedByte appends the byte of the digits from start.
func (l *lexer) escapedByte(text *strings.Builder, start, most, base int, letter byte) {
	for l.at = start; l.at-start < most && isDigitOf(l.peek(0), letter); l.at++ {
	}
	value, _ := strconv.ParseUint(l.text[start:l.at], base, 16)
	text.WriteByte(byte(value))
}

// escapedRune appends the character of hexadecimal digits.
func (l *lexer) escapedRune(text *strings.Builder, start, digits int) bool {
	end := min(l.at+digits, len(l.text))
	value, err := strconv.ParseUint(l.text[l.at:end], 16, 32)
	if err != nil || end-l.at != digits || value == 0 || !utf8.ValidRune(rune(value)) {
		l.fail(start, "the escape has to be a character with "+strconv.Itoa(digits)+" hexadecimal digits")
		return false
	}
	l.at = end
	text.WriteRune(rune(value))
	return true
}

// scanDollar appends a parameter, or a text between tags such as $$ and $tag$.
func (l *lexer) scanDollar() {
	start := l.at
	l.at++
	for l.at < len(l.text) && isNamePart(l.text[l.at]) && l.text[l.at] != '$' {
		l.at++
	}
	tag := l.text[start:l.at]
	if l.peek(0) == '$' && (len(tag) == 1 || !isDigit(tag[1])) {
		l.at++
		tag += "$"
		length := strings.Index(l.text[l.at:], tag)
		if length < 0 {
			l.failAtEnd(start, "the text has no end: add "+tag)
			return
		}
		text := l.text[l.at : l.at+length]
		l.at += length + len(tag)
		l.add(textToken, start, text)
		return
	}
	if len(tag) > 1 && isDigit(tag[1]) {
		l.at = start + 1
		l.skipDigits(isDigit)
		tag = l.text[start:l.at]
	}
	if len(tag) == 1 {
		tag += l.wordBehind()
	}
	if len(tag) == 1 {
		l.fail(start, "a parameter is ?, $1 or $name, and a text can stand between $$ and $$")
		return
	}
	l.add(parameterToken, start, tag[1:])
}

// wordBehind moves behind spaces and a word, and returns the word. It stays and returns an empty text if no word
// follows.
func (l *lexer) wordBehind() string {
	rest := strings.TrimLeft(l.text[l.at:], " \t\n\v\f\r")
	length := 0
	for length < len(rest) && isNamePart(rest[length]) {
		length++
	}
	if length == 0 || !isNameStart(rest[0]) {
		return ""
	}
	l.at = len(l.text) - len(rest) + length
	return rest[:length]
}
