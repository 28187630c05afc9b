package source

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Goroutines that wait get their turns in the order of their parts, those of a needed reader first, and no more work than may.
func TestTurns(t *testing.T) {
	turns := &turns{free: 1}
	early, needed := turns.next(), turns.next()
	turns.begin(early, 0)
	var order []int
	var work sync.WaitGroup
	for _, next := range []turn{{early, 5, nil}, {early, 1, nil}, {needed, 4, nil}, {needed, 1, nil}, {early, 3, nil}} {
		work.Go(func() {
			turns.begin(next.reader, next.part)
			order = append(order, 10*next.reader.number+next.part) // by one goroutine at a time
			turns.end()
		})
	}
	for waiting := 0; waiting < 5; {
		turns.mu.Lock()
		waiting = len(turns.waiting)
		turns.mu.Unlock()
	}
	turns.need(needed)
	turns.end()
	work.Wait()
	require.Equal(t, []int{21, 24, 11, 13, 15}, order)
	require.Equal(t, 1, turns.free)
}
