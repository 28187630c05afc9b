package property

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInOrder(t *testing.T) {
	entries := map[int]string{}
	for i := range 100 {
		entries[i] = string(rune('a' + i))
	}
	next := 0
	for i, text := range InOrder(entries) {
		if i == 90 {
			break
		}
		require.Equal(t, next, i)
		require.Equal(t, entries[i], text)
		next++
	}
	require.Equal(t, 90, next)
}
