package observe

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func TestNames(t *testing.T) {
	assert.Equal(t, "größe", nameOf("größe"))
	assert.Equal(t, "", nameOf(""))
	long := strings.Repeat("ö", 1<<20)
	assert.Less(t, len(nameOf(long)), 220)
	assert.NotEqual(t, nameOf(long), nameOf(long+"x"))
	assert.NotEqual(t, nameOf("a\xff"), nameOf("a\xfe"))
	assert.Equal(t, "plan \uFFFD", textOf("plan \xff"))
	assert.LessOrEqual(t, len(textOf(long)), longestText+len("…"))
	property.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "text"))
		shown := nameOf(text)
		if !utf8.ValidString(shown) || len(shown) > longestName+32 || nameOf(shown) != shown && len(shown) <= longestName {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		if utf8.ValidString(text) && len(text) <= longestName && shown != text {
			t.Fatalf("%q is shown as %q", text, shown)
		}
	})
}
