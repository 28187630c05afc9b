// Package callstack keeps where a call came from, for messages about what was
// never given back.
package callstack

import (
	"fmt"
	"runtime"
	"strings"
)

// Stack is where a call came from, the innermost frame first.
type Stack []uintptr

// Capture returns at most depth frames. Its caller is the first unless skip says
// how many to leave out.
func Capture(skip, depth int) Stack {
	// The frames are kept as long as what they are for: not in a slice longer
	// than need be.
	frames := make([]uintptr, depth)
	frames = frames[:runtime.Callers(skip+2, frames)]
	return append(Stack(nil), frames...)
}

// Text has two lines for each frame, as a panic prints them, each after an
// indentation. The runtime's own frames are left out.
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
