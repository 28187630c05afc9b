// Package stacks shows the stacks of allocations without the frames of the allocator.
package stacks

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/gpuframe/gpuframe/internal/base/callstack"
)

// Deepest is the maximum number of frames that are recorded.
const Deepest = 64

const module = "github.com/gpuframe/gpuframe/"

// hidden are the packages, relative to the module, that innermost frames are hidden of.
// They are the same for every allocation.
var hidden = []string{"memory", "observe"}

// Frames returns the frames of a stack, the innermost first, without those of the
// runtime and without the innermost frames of the allocator. A stack of nothing else is
// returned whole.
func Frames(s callstack.Stack) []runtime.Frame {
	if len(s) == 0 {
		return nil
	}
	var all, shown []runtime.Frame
	inner := true
	frames := runtime.CallersFrames(s)
	for {
		frame, more := frames.Next()
		if frame.Function != "" {
			all = append(all, frame)
			inner = inner && isHidden(frame.Function)
			if !inner && !strings.HasPrefix(frame.Function, "runtime.") {
				shown = append(shown, frame)
			}
		}
		if !more {
			break
		}
	}
	if len(shown) == 0 {
		return all
	}
	return shown
}

// isHidden reports whether a function belongs to the allocator.
func isHidden(function string) bool {
	path, ours := strings.CutPrefix(function, module)
	if !ours {
		return false
	}
	// The package ends at the first dot behind the last slash.
	slash := strings.LastIndexByte(path, '/') + 1
	if dot := strings.IndexByte(path[slash:], '.'); dot >= 0 {
		path = path[:slash+dot]
	}
	for _, folder := range hidden {
		if path == folder || strings.HasPrefix(path, folder+"/") && !strings.HasSuffix(path, "_test") {
			return true
		}
	}
	return false
}

// IsCaller reports whether a function is of the program that uses gpuframe: not of the module, unless it is a test
// outside of its package, and not of the runtime or of package testing.
func IsCaller(function string) bool {
	if strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "testing.") {
		return false
	}
	path, below := strings.CutPrefix(function, module)
	if !below {
		return !strings.HasPrefix(function, strings.TrimSuffix(module, "/")+".")
	}
	name, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".")
	return strings.HasSuffix(name, "_test")
}

// Text returns two lines for each frame, in the format of a panic.
func Text(frames []runtime.Frame, indentation string) string {
	var b strings.Builder
	for _, frame := range frames {
		fmt.Fprintf(&b, "%s%s\n%s\t%s:%d\n", indentation, frame.Function, indentation, frame.File, frame.Line)
	}
	return b.String()
}

// Line returns a frame as one line.
func Line(frame runtime.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", frame.Function, frame.File, frame.Line)
}
