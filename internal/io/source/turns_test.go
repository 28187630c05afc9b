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
	for i, next := range []turn{{reader: early, part: 5}, {reader: early, part: 1}, {reader: needed, part: 4}, {reader: needed, part: 1}, {reader: early, part: 3}} {
		note := func() { order = append(order, 10*next.reader.number+next.part) } // by one goroutine at a time
		if work.Add(1); i%2 == 0 {
			turns.run(next.reader, next.part, func() { defer work.Done(); note() })
			continue
		}
		go func() {
			defer work.Done()
			turns.begin(next.reader, next.part)
			defer turns.end()
			note()
		}()
	}
	for waiting := 0; waiting < 5; {
		turns.mu.Lock()
		waiting = len(turns.waiting)
		turns.mu.Unlock()
	}
	turns.need(needed)
	turns.end()
	work.Wait()
	turns.begin(early, 0) // when the last one has ended
	require.Equal(t, []int{21, 24, 11, 13, 15}, order)
	require.Equal(t, 0, turns.free)
}
