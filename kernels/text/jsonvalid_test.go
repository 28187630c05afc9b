package text_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/text"
)

// TestIsJSON compares the scanner with encoding/json, for texts with some changed bytes.
func TestIsJSON(t *testing.T) {
	texts := []string{
		``, ` `, `{}`, `[]`, `[1,]`, `[,1]`, `{"a":1,}`, `{"a" : [1, -2.50e+3, 0.1E-2, 0, -0], "b\u00e9\n": {"c": null, "": [true, false, "x\"y"]}}`, "\t[\n1\r]\n",
		`01`, `-`, `1.`, `.5`, `1e`, `+1`, `1e+`, `nul`, `nulll`, `"\x"`, `"\u12g4"`, `"\u12`, "\"\x01\"", "\"\xff\"", "1\x00", "\x00", `"a" "b"`, `{"a"}`, `{1:2}`, `[1 2]`, `{"a":1 "b":2}`,
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	}
	for _, value := range texts {
		require.Equal(t, json.Valid([]byte(value)), text.IsJSON(value), "%.80q", value)
	}
	r := property.Random(t)
	const bytes = "{}[]:,\"\\ \t\n0123-+.eEtrufalsn\x00\x1fu"
	valid := 0
	for range 20_000 {
		changed := []byte(texts[r.IntN(len(texts)-2)])
		for range r.IntN(3) {
			switch c := bytes[r.IntN(len(bytes))]; {
			case len(changed) == 0 || r.IntN(2) == 0:
				changed = append(changed, c)
			case r.IntN(2) == 0:
				changed[r.IntN(len(changed))] = c
			default:
				at := r.IntN(len(changed))
				changed = append(changed[:at], changed[at+1:]...)
			}
		}
		want := json.Valid(changed)
		require.Equal(t, want, text.IsJSON(string(changed)), "%q", changed)
		if want {
			valid++
		}
	}
	require.Greater(t, valid, 1000)
}
