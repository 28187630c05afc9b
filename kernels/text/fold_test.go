package text

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"
)

// TestFoldCaseAsThePeer compares each character, and random bytes, with golang.org/x/text/cases.
func TestFoldCaseAsThePeer(t *testing.T) {
	fold := cases.Fold()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if text := string(r); fold.String(text) != foldCase(text) {
			require.Equal(t, fold.String(text), foldCase(text), "%x", r)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := make([]byte, random.IntN(20))
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		assert.Equal(t, fold.String(string(text)), foldCase(string(text)))
	}
}
