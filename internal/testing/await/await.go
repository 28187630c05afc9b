package await

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// Limit is the time after which a wait fails its test. A test must pass if every step
// takes minutes, so no test may shorten it.
const Limit = 5 * time.Minute

// ErrHangs is the cause of a context of [Context] that has reached the limit.
var ErrHangs = errors.New("the test hangs")

// Until returns when the condition is true. It calls the condition on the test's goroutine,
// again and again with pauses of a millisecond at most. After [Limit] it fails the test
// with the description of the condition.
func Until(t testing.TB, condition func() bool, format string, arguments ...any) {
	t.Helper()
	if !until(Limit, condition) {
		t.Fatalf("after %v the test still waits until "+format, append([]any{Limit}, arguments...)...)
	}
}

// Happens is Until for other goroutines than the test's, which must not end the test: it returns
// [ErrHangs] if the condition is false after [Limit].
func Happens(condition func() bool) error {
	if !until(Limit, condition) {
		return ErrHangs
	}
	return nil
}

// until reports whether the condition became true within a time.
func until(limit time.Duration, condition func() bool) bool {
	const soon, pause = 100, time.Millisecond
	end := time.Now().Add(limit)
	for attempt := 0; !condition(); attempt++ {
		if attempt < soon {
			runtime.Gosched()
			continue
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// Collected runs the garbage collector until the condition is true, which finalizers or
// cleanups make true. They run on goroutines of the runtime some time after a collection.
func Collected(t testing.TB, condition func() bool, format string, arguments ...any) {
	t.Helper()
	Until(t, func() bool {
		runtime.GC()
		return condition()
	}, format, arguments...)
}

// Receive returns what it receives from a channel. After [Limit] it fails the test.
func Receive[T any](t testing.TB, from <-chan T, format string, arguments ...any) T {
	t.Helper()
	limit := time.NewTimer(Limit)
	defer limit.Stop()
	select {
	case received := <-from:
		return received
	case <-limit.C:
	}
	t.Fatalf("after %v the test still waits until "+format, append([]any{Limit}, arguments...)...)
	panic("Fatalf has returned")
}

// Context returns a context that ends with the test, or after [Limit] with [ErrHangs] as
// its cause. It is for calls that would wait without end if they were wrong.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, ErrHangs)
	t.Cleanup(cancel)
	return ctx
}
