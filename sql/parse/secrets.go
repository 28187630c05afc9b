package parse

import (
	"regexp"
	"strings"
)

// schemeOfURL is the beginning of a URL.
var schemeOfURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.\-]*://`)

// hidden stands for a secret.
const hidden = "…"

// span is a range of bytes of a text.
type span struct{ from, to int }

// hideSecrets returns a text without the users, passwords and queries of its URLs, and the offset of a byte of the text
// in the result. The URLs of a statement end with their literal, those of a message with a space too.
func hideSecrets(text string, offset int, ofMessage bool) (shown string, at int) {
	var b strings.Builder
	done, at := 0, offset
	for _, secret := range secretsOf(text, ofMessage) {
		b.WriteString(text[done:secret.from])
		switch {
		case offset >= secret.to:
			at += len(hidden) - (secret.to - secret.from)
		case offset >= secret.from:
			at = b.Len()
		}
		b.WriteString(hidden)
		done = secret.to
	}
	b.WriteString(text[done:])
	return b.String(), at
}

// secretsOf returns where the secrets of the URLs of a text are, in their order.
func secretsOf(text string, ofMessage bool) (list []span) {
	for begin := 0; ; {
		scheme := schemeOfURL.FindStringIndex(text[begin:])
		if scheme == nil {
			return list
		}
		first, from := begin+scheme[0], begin+scheme[1]
		rest := text[from:]
		for _, s := range secretsOfURL(text[first:from], rest[:endOfURL(text[:first], rest, ofMessage)]) {
			list = append(list, span{from + s.from, from + s.to})
		}
		begin = from
		if n := len(list); n > 0 {
			begin = max(from, list[n-1].to)
		}
	}
}

// endOfURL returns where a URL ends: at the quote of its literal. A quote that is doubled or escaped is part of it.
func endOfURL(before, rest string, ofMessage bool) int {
	quote := byte('\'')
	if strings.HasSuffix(before, `"`) {
		quote = '"'
	}
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' || rest[i] == quote && strings.HasPrefix(rest[i+1:], string(quote)):
			i++
		case rest[i] == quote || ofMessage && rest[i] == ' ':
			return i
		}
	}
	return len(rest)
}

// secretsOfURL returns the secrets of what is behind the scheme of a URL. Queries of others than HTTP are patterns of
// files, if they have no equals sign.
func secretsOfURL(scheme, rest string) (list []span) {
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	user := strings.LastIndexByte(host, '@')
	if !isPort(host[user+1:]) { // a password with a slash or a question mark
		return []span{{0, len(rest)}}
	}
	isContainer := strings.HasPrefix(strings.ToLower(scheme), "abfs") && !strings.Contains(host[:user+1], ":")
	if user > 0 && !isContainer {
		list = append(list, span{0, user})
	}
	query := strings.IndexAny(rest, "?#")
	if query < 0 || strings.HasPrefix(rest[query+1:], hidden) {
		return list
	}
	isHTTP := strings.HasPrefix(strings.ToLower(scheme), "http")
	if isHTTP || strings.Contains(rest[query:], "=") {
		list = append(list, span{query + 1, len(rest)})
	}
	return list
}

// isPort reports whether digits alone are behind the colon of a host, if it has one.
func isPort(host string) bool {
	host = host[strings.LastIndexByte(host, ']')+1:]
	_, port, _ := strings.Cut(host, ":")
	return strings.Trim(port, "0123456789") == ""
}
