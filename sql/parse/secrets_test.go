package parse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// TestSecretsOfErrors: the line of an error has no users, passwords and queries of URLs, and the caret stays below the
// fault, which ^ marks here.
func TestSecretsOfErrors(t *testing.T) {
	for text, want := range map[string]string{
		"from ^delta_scan('https://user:pw@127.0.0.1:1/t?sig=SECRET')":   "from ^delta_scan('https://…@127.0.0.1:1/t?…')",
		"from f('https://u:p@h/t?sig=S', ^'HTTPS://h/é#token') where ü":  "from f('https://…@h/t?…', ^'HTTPS://h/é#…') where ü",
		"from 'https://u:p^w@h/t' x":                                     "from 'https://^…@h/t' x",
		"from 'https://h/t?a^b' x":                                       "from 'https://h/t?^…' x",
		"from ['s3://b/x?.parquet', ^'s3://key:secret@b/x']":             "from ['s3://b/x?.parquet', ^'s3://…@b/x']",
		"from 'az://c/x?sv=1&sig=S' ^x":                                  "from 'az://c/x?…' ^x",
		"from 'abfss://container@account/x' ^x, 'abfss://u:p@account/x'": "from 'abfss://container@account/x' ^x, 'abfss://…@account/x'",
		"from 'https://u:p/w@h/t' ^x":                                    "from 'https://…' ^x",
		"from 'https://u:p?w@h/t' ^x":                                    "from 'https://…' ^x",
		"from 'https://u:p''w@h/t' ^x":                                   "from 'https://…@h/t' ^x",
		"from e'https://u:p\\'w@h/t' ^x":                                 "from e'https://…@h/t' ^x",
		"from 'https://u:p\"w@h/t?s' ^x":                                 "from 'https://…@h/t?…' ^x",
		"from \"https://u:p'w@h/t?s\" ^x":                                "from \"https://…@h/t?…\" ^x",
		"from 'https://[::1]:80/t,https://u:p@h/t' ^x":                   "from 'https://[::1]:80/t,https://…@h/t' ^x",
		"from '\thttp://h:8080/t' ^x":                                    "from '\thttp://h:8080/t' ^x",
		"from 'https://h/t?a^":                                           "from 'https://h/t?…^",
		"select 1 ^":                                                     "select 1 ^",
	} {
		before, after, _ := strings.Cut(text, "^")
		left, right, _ := strings.Cut(want, "^")
		margin := strings.Map(func(r rune) rune { return map[bool]rune{true: r, false: ' '}[r == '\t'] }, left)
		fault := &Error{Text: "select *\n" + before + after + "\r\nlimit 1", Position: tree.Position(9 + len(before)), Message: "wrong"}
		_, shown, _ := strings.Cut(fault.Error(), "\n")
		require.Equal(t, "  "+left+right+"\n  "+margin+"^", shown, text)
	}
}

// TestSecretsOfMessages: messages have no secrets either.
func TestSecretsOfMessages(t *testing.T) {
	for message, want := range map[string]string{
		"no file https://u:p@h/x?sig=S is there":   "no file https://…@h/x?… is there",
		"open https://h/x?…: no such file":         "open https://h/x?…: no such file",
		`no table is called "https://h/x?sig=S"`:   `no table is called "https://h/x?…"`,
		"unexpected “'https://u:p@h/x'”: expected": "unexpected “'https://…@h/x'”: expected",
	} {
		require.Contains(t, (&Error{Text: "x", Message: message}).Error(), ": "+want+"\n")
	}
}
