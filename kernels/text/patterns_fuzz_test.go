package text_test

import (
	"testing"

	"github.com/gpuframe/gpuframe/kernels/text"
)

// FuzzJSONPath reads random paths in random JSON: an error, or a part of the JSON.
func FuzzJSONPath(f *testing.F) {
	for path, value := range map[string]string{
		"$": `{"a": [1, 2]}`, "$.a[1]": `{"a": [1, "x\\"]}`, `$."a b"[-1]`: `{"a b": [{}, null]}`, "a": `{"a": {"a": "\u00e9"}}`, "$[0].b": `[{"b": 1e9}]`, "/a": "1", "$.": "", "$[99999999999]": "[]",
	} {
		f.Add(path, value)
	}
	f.Fuzz(text.CheckJSONPath)
}

// FuzzPattern reads random patterns of printf and format.
func FuzzPattern(f *testing.F) {
	for _, pattern := range []string{"", "%d%%", "%-05.3f|%s", "{} {:>8.2f} {{}}", "%", "{", "}", "{:x", "%999d", "%1000d", "{:<+ 0-3.1e}", "é%X"} {
		f.Add(pattern)
	}
	f.Fuzz(text.CheckPattern)
}
