package source

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Goroutines that wait get their turns in the order of their parts, and no more work than may.
func TestTurns(t *testing.T) {
	turns := newTurns(1)
	turns.begin(0)
	var order []int
	var work sync.WaitGroup
	for _, part := range []int{5, 1, 4, 1, 3} {
		work.Go(func() {
			turns.begin(part)
			order = append(order, part) // by one goroutine at a time
			turns.end()
		})
	}
	for waiting := 0; waiting < 5; {
		turns.mu.Lock()
		waiting = len(turns.waiting)
		turns.mu.Unlock()
	}
	turns.end()
	work.Wait()
	require.Equal(t, []int{1, 1, 3, 4, 5}, order)
	require.Equal(t, 1, turns.free)
}
