package plan

import (
	"fmt"

	"github.com/gpuframe/gpuframe/kernels/window"
)

// FrameKind selects the rows of a frame.
type FrameKind uint8

// The kinds of frames.
const (
	// WholePartition is all rows of the partition.
	WholePartition FrameKind = iota
	// RowsFrame is rows relative to the current one.
	RowsFrame
	// RangeFrame is rows with keys relative to that of the current row.
	RangeFrame
)

// Frame is the rows of a partition that a function is of.
type Frame struct {
	Kind FrameKind
	// Low and High are the bounds of RowsFrame.
	Low, High int64
	// LowOffset and HighOffset are the bounds of RangeFrame: numbers, time.Duration or nil.
	LowOffset, HighOffset any
	// AtLeast is the number of values below which a result is null, or zero.
	AtLeast int64
}

// String formats the frame, with a space before it, or returns "".
func (f Frame) String() string {
	text := ""
	switch f.Kind {
	case RowsFrame:
		text = " " + window.RowNumber().Rows(f.Low, f.High).Frame().String()
	case RangeFrame:
		text = " " + window.RowNumber().Range(f.LowOffset, f.HighOffset).Frame().String()
	}
	if f.AtLeast != 0 {
		text += fmt.Sprintf(" at least %d", f.AtLeast)
	}
	return text
}

// Same reports whether two frames are equal.
func (f Frame) Same(g Frame) bool {
	return f.Kind == g.Kind && f.Low == g.Low && f.High == g.High && f.AtLeast == g.AtLeast &&
		sameOffset(f.LowOffset, g.LowOffset) && sameOffset(f.HighOffset, g.HighOffset)
}

// sameOffset compares offsets, which may be of types that Go cannot compare.
func sameOffset(x, y any) bool {
	return x == nil && y == nil || fmt.Sprintf("%T %v", x, x) == fmt.Sprintf("%T %v", y, y)
}
