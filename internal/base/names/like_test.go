package names

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzLike compares patterns with regular expressions.
func FuzzLike(f *testing.F) {
	for _, seed := range [][2]string{{"%", ""}, {"a%b_", "aXbbc"}, {"%a%a%", "aba"}, {"_", "é"}, {"%%_%", ""}, {"a%", "ba"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		quoted := strings.NewReplacer("%", "(?s:.*)", "_", "(?s:.)").Replace(regexp.QuoteMeta(pattern))
		want := regexp.MustCompile("^(?:" + quoted + ")$").MatchString(text)
		require.Equal(t, want, Like(pattern, text), "%q like %q", text, pattern)
	})
}
