package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const (
	// longestName is the number of bytes of a name that is shown whole.
	longestName = 200
	// longestText is the same for plans and messages.
	longestText = 16 << 10
)

// nameOf returns a name as it is shown: valid UTF-8 of a limited length. Different names
// stay different, because the end of one that was changed is a part of its hash. Prometheus
// and OpenTelemetry refuse all figures if one name is not UTF-8.
func nameOf(name string) string {
	if len(name) <= longestName && utf8.ValidString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return cut(name, longestName) + "\u2026" + hex.EncodeToString(sum[:6])
}

// textOf returns a text as it is shown.
func textOf(text string) string {
	if len(text) <= longestText {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return cut(text, longestText) + "\u2026"
}

// cut returns the begin of a text, up to a number of bytes, as valid UTF-8.
func cut(text string, bytes int) string {
	if len(text) > bytes {
		for bytes > 0 && !utf8.RuneStart(text[bytes]) {
			bytes--
		}
		text = text[:bytes]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
