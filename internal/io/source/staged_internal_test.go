package source

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A request for memory waits for the copy in advance that is being made, and counts it.
func TestReclaimWaitsForACopy(t *testing.T) {
	next := &staged{length: 10, ended: make(chan struct{})}
	s := &stager{waiting: []*staged{next}, changed: make(chan struct{})}
	released := make(chan uint64)
	go func() {
		bytes, err := s.Reclaim(t.Context(), 5)
		if err != nil {
			bytes = 0
		}
		released <- bytes
	}()
	for begun := false; !begun; {
		s.mu.Lock()
		begun = s.reclaims == 1
		s.mu.Unlock()
	}
	select {
	case <-released:
		t.Fatal("Reclaim did not wait")
	default:
	}
	close(next.ended)
	require.EqualValues(t, 10, <-released)
}
