package window

import "github.com/gpuframe/gpuframe/internal/op"

// word is an integer as wide as a value. Integers of any sign fold as these.
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
