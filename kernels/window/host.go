package window

import "github.com/gpuframe/gpuframe/internal/op"

// word is an unsigned integer with the width of a value. Signed integers are folded as
// unsigned ones.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

func writeValidity(in op.HostView, out op.HostBuffers, skip bool) {
	for row := range in.Rows {
		if in.IsValid(row) {
			out.SetValid(row)
		} else if !skip {
			return
		}
	}
}
