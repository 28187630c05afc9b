package devices

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSeats has two seats: a third query waits for one of them, but not for ever, and those behind it not at all for a while.
func TestSeats(t *testing.T) {
	s := newSeats(2)
	s.patience, s.rest = time.Hour, time.Hour
	first, second := s.enter(t.Context()), s.enter(t.Context())
	entered := make(chan func())
	go func() { entered <- s.enter(context.Background()) }()
	first()
	third := <-entered
	require.Len(t, s.occupied, 2)

	ended, end := context.WithCancel(context.Background())
	end()
	s.enter(ended)()
	require.Len(t, s.occupied, 2)

	s.patience = 0
	s.enter(t.Context())()
	s.patience = time.Hour
	s.enter(t.Context())() // does not wait
	require.Len(t, s.occupied, 2)
	second()
	third()
	require.Empty(t, s.occupied)
	(*seats)(nil).enter(t.Context())()
}
