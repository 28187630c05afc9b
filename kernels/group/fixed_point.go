package group

import (
	"errors"
	"math/bits"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// A window makes the sum of floats of exact_sum.go in one pass, with three additions of 32 bits
// for a value.
//
// Nearly all values of a column have exponents in a small range. A window is an integer of 94
// bits at a fixed place. A value fits if all its bits are in the window: its exponent is at most
// span above the lowest one. Its bits are added to the words of the group, and the sum of values
// that fit is exact.
//
// The definition drops pieces of bins that are two below the lowest bin of the largest value of
// the group. A window has no bits there: its places are in at most two bins of 28 bits, so the
// bins that any of its values keeps reach to the lowest bit of the window or below. The same
// holds for larger values outside the window up to a limit.
//
// Values outside the window are listed. They are added, piece by piece as the definition says, when
// the largest exponents of all groups are known. If a list overflows, or a value reaches
// the limit, the column is added in two passes by accumulate.cu instead. A kernel decides that, so
// the host does not wait, and the launches that are not needed end at once. Sums of expressions wait:
// value_floats.go.
//
// The window of a column is the one that most of a sample fit. The result does not depend on it.
//
// A state that others are merged with has the bins of the window's sum if [ByOptions].FixedPointSums
// permits it. Its bins carry into each other, so none of them may be dropped: the state records the lowest
// bin of its window, and merging finds out whether a larger value of another state drops it. Other
// states keep each bin of the definition apart. Both have the same sum.

// windowSpan returns how far the exponents of the values in a window may differ. A window has
// 94 bits: one for the sign, 53 for a value, enough for the carries of a sum of that many rows,
// and the rest for the difference.
func windowSpan(rows int) int { return min(94-1-53-bits.Len(uint(rows)), widestSpan) }

// windows allocates the memory of the windows, or nil if no reader has one.
func (t *tiling) windows(call *op.Call, g *grouping) (*memory.Block, error) {
	room := tuningOf(call.Context()).Outside
	if room == 0 {
		room = max(g.rows/outsideShare, fewestOutside)
	}
	var sizes []uint64
	for i := range t.readers {
		if t.readers[i].kind == sumFloats {
			sizes = append(sizes, windowBytes, 8*windowWords*uint64(t.slots), outsideBytes*uint64(room))
		}
	}
	if len(sizes) == 0 {
		return nil, nil
	}
	block, slices, err := call.Scratch(sizes...)
	if err != nil {
		return nil, err
	}
	for i := range t.readers {
		if t.readers[i].kind != sumFloats {
			continue
		}
		w := sumWindow{state: slices[0], limbs: slices[1], list: slices[2], room: room}
		var cut error
		w.overflowed, cut = w.state.Slice(overflowedByte, overflowedByte+4)
		t.readers[i].window, slices, err = w, slices[3:], errors.Join(err, cut)
	}
	return release.OnError(block, err)
}
