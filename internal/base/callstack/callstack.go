// Package callstack records the origin of calls, for messages about objects that were
// never released.
package callstack

import (
	"fmt"
	"runtime"
	"strings"
)

// Stack is the stack of a call, the innermost frame first.
type Stack []uintptr

// Capture returns at most depth frames. The first is the caller's, after skip omitted
// frames.
func Capture(skip, depth int) Stack {
	// The frames live as long as the object they describe, so the slice is no longer
	// than necessary.
	frames := make([]uintptr, depth)
	frames = frames[:runtime.Callers(skip+2, frames)]
	return append(Stack(nil), frames...)
}

// Text returns two indented lines for each frame, in the format of a panic. It omits
// the frames of the runtime.
func (s Stack) Text(indentation string) string {
	if len(s) == 0 {
		return ""
	}
	var b strings.Builder
	frames := runtime.CallersFrames(s)
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			fmt.Fprintf(&b, "%s%s\n%s\t%s:%d\n", indentation, frame.Function, indentation, frame.File, frame.Line)
		}
		if !more {
			return b.String()
		}
	}
}
