package await

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Ended returns when no goroutine runs a function with this prefix of its name, for example
// "github.com/gpuframe/gpuframe/flight.", or was started by one. Goroutines of tests do not count.
// After [Limit] it fails the test with the stacks of those that run.
func Ended(t testing.TB, prefix string) {
	t.Helper()
	var running []string
	if !until(Limit, func() bool { running = stacks(prefix); return len(running) == 0 }) {
		t.Fatalf("after %v %d goroutines of %s run:\n\n%s", Limit, len(running), prefix, strings.Join(running, "\n\n"))
	}
}

// Blocked returns when a goroutine that runs a function, named with its package, is in a state of
// the runtime's, for example "IO wait" for one that reads or writes a connection.
func Blocked(t testing.TB, function, state string) {
	t.Helper()
	reached := func(now string) bool { return strings.HasPrefix(now, state) }
	Until(t, func() bool { return inState(function+"(", reached) }, "a goroutine of %s is in the state %q", function, state)
}

// Waits reports whether a goroutine that runs a function with this prefix of its name waits for something.
func Waits(prefix string) bool {
	return inState(prefix, func(now string) bool { return !strings.HasPrefix(now, "run") }) // running, runnable
}

// inState reports whether a goroutine of functions with a prefix of their names has a state.
func inState(prefix string, accept func(state string) bool) bool {
	return slices.ContainsFunc(stacks(prefix), func(stack string) bool {
		header, _, _ := strings.Cut(stack, "\n") // for example "goroutine 7 [IO wait, 2 minutes]:"
		_, state, _ := strings.Cut(header, "[")
		return accept(state)
	})
}

// stacks returns the stacks of the goroutines of functions with a prefix of their names.
func stacks(prefix string) (running []string) {
	for stack := range strings.SplitSeq(allStacks(), "\n\n") {
		ofTest := strings.Contains(stack, "\ntesting.") // a frame of the function that runs tests
		if !ofTest && (strings.Contains(stack, "\n"+prefix) || strings.Contains(stack, "\ncreated by "+prefix)) {
			running = append(running, stack)
		}
	}
	return running
}

// allStacks returns the stacks of all goroutines, with an empty line between two.
func allStacks() string {
	for size := 1 << 20; ; size *= 2 {
		buffer := make([]byte, size)
		if n := runtime.Stack(buffer, true); n < size {
			return string(buffer[:n])
		}
	}
}
