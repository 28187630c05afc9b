package await

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Goroutines of a package are found until they end, and those of tests are not.
func TestEnded(t *testing.T) {
	const prefix = "github.com/gpuframe/gpuframe/internal/testing/await."
	Ended(t, prefix)
	started, end := make(chan struct{}), make(chan struct{})
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() { started <- struct{}{}; <-end })
		<-started
	}
	go func() { running.Wait(); close(started) }()
	require.Len(t, stacks(prefix), 4)
	require.Contains(t, stacks(prefix)[0], "TestEnded.func")
	require.Empty(t, stacks("github.com/gpuframe/gpuframe/internal/testing/other."))
	close(end)
	Ended(t, prefix)
	_, open := <-started
	require.False(t, open)
}

// receive is a function that blocks.
func receive(from chan struct{}) { <-from }

func TestBlocked(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	go func() { <-begin; receive(end) }()
	blocked := make(chan struct{})
	go func() {
		Blocked(t, "github.com/gpuframe/gpuframe/internal/testing/await.receive", "chan receive")
		close(blocked)
	}()
	select {
	case <-blocked:
		t.Error("no goroutine runs the function yet")
	default:
	}
	const receives = "github.com/gpuframe/gpuframe/internal/testing/await.receive("
	require.False(t, Waits(receives))
	close(begin)
	<-blocked
	require.True(t, Waits(receives))
	close(end)
}
