package await

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUntil(t *testing.T) {
	var calls int
	Until(t, func() bool { calls++; return calls == 300 }, "300 calls were made")
	assert.Equal(t, 300, calls, "the condition is not asked again once it is true")
	assert.True(t, until(0, func() bool { return true }), "a condition that is true needs no time")
	assert.False(t, until(0, func() bool { return false }))
}

func TestCollected(t *testing.T) {
	var gone atomic.Bool
	func() { runtime.AddCleanup(new([64]byte), func(gone *atomic.Bool) { gone.Store(true) }, &gone) }()
	Collected(t, gone.Load, "the cleanup has run")
}

func TestReceive(t *testing.T) {
	numbers := make(chan int, 1)
	numbers <- 7
	assert.Equal(t, 7, Receive(t, numbers, "a number arrives"))
	close(numbers)
	assert.Zero(t, Receive(t, numbers, "the channel is closed"))
}

func TestContext(t *testing.T) {
	var ctx context.Context
	t.Run("test", func(t *testing.T) {
		ctx = Context(t)
		require.NoError(t, ctx.Err())
	})
	require.ErrorIs(t, ctx.Err(), context.Canceled, "it ends with its test")
}

// recorder is a test that is not run: it keeps the message of Fatalf.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, arguments ...any) {
	r.message = fmt.Sprintf(format, arguments...)
}

func Example() {
	t := &recorder{} // a test passes its *testing.T
	done := make(chan struct{})
	go close(done)
	Until(t, func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}, "the goroutine has ended")
	fmt.Printf("%q", t.message)
	// Output: ""
}
