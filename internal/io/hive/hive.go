// Package hive has the names of folders of partitions: key=value, as Hive has them. Texts are escaped as parts of URLs are.
package hive

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// Null is the value of a folder of nulls.
const Null = "__HIVE_DEFAULT_PARTITION__"

// Folder returns the name of the folder of a value. Nil is a null.
func Folder(key string, value *string) string {
	if value == nil {
		return escape(key, true) + "=" + Null
	}
	return escape(key, true) + "=" + escape(*value, *value == Null)
}

// escape escapes all bytes but letters and digits of ASCII and - _ . ~. The first one is escaped too if it could make
// another meaning: folders that begin with a dot or an underscore are hidden.
func escape(text string, first bool) string {
	const hex = "0123456789ABCDEF"
	var escaped strings.Builder
	for i := range len(text) {
		c := text[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !plain && (!strings.ContainsRune("-_.~", rune(c)) || i == 0 && first) {
			escaped.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			escaped.WriteByte(c)
		}
	}
	return escaped.String()
}

// Folders returns the keys and values of the folders of a path with slashes that are named key=value.
func Folders(path string) (keys []string, values []*string) {
	for part := range strings.SplitSeq(path, "/") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			continue
		}
		keys = append(keys, unescaped(key))
		if value == Null {
			values = append(values, nil)
			continue
		}
		value = unescaped(value)
		values = append(values, &value)
	}
	return keys, values
}

// unescaped returns a text without escapes. One with other percent signs stays as it is.
func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil && utf8.ValidString(plain) {
		return plain
	}
	return text
}

// Hidden reports whether a part of a path with slashes begins with a dot or an underscore: walks of folders leave it out.
func Hidden(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return true
		}
	}
	return false
}
