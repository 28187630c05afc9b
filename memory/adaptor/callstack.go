package adaptor

import (
	"fmt"
	"runtime"
	"strings"
)

// callStack is where a call came from, the innermost frame first.
type callStack []uintptr

// captureCallStack begins with the caller of its caller.
func captureCallStack(depth int) callStack {
	// The frames are kept as long as the memory: not in a slice longer than need
	// be.
	frames := make([]uintptr, depth)
	frames = frames[:runtime.Callers(3, frames)]
	return append(callStack(nil), frames...)
}

// String has two lines for each frame, as a panic prints them.
func (c callStack) String() string {
	if len(c) == 0 {
		return ""
	}
	var b strings.Builder
	frames := runtime.CallersFrames(c)
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", frame.Function, frame.File, frame.Line)
		}
		if !more {
			return b.String()
		}
	}
}
