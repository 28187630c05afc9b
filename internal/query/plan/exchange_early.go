package plan

import (
	"math"
	"slices"

	"github.com/gpuframe/gpuframe/internal/io/source"
)

// SizeBelow returns the bytes that all nodes below an all-gather are expected to yield together. It
// is negative if they are not known, or if a scan below uses the bounds of the keys of a join above:
// then the work must not begin before that join has read its right side.
func (e *Exchange) SizeBelow() int64 { return e.below }

// sizeBelow returns the SizeBelow of an exchange.
func (a *Analysis) sizeBelow(n Node) int64 {
	inner := map[*KeyBounds]bool{}
	Walk(n, func(n Node) {
		if j, ok := n.(*Join); ok {
			for _, b := range j.options.Bounds {
				inner[b] = true
			}
		}
	})
	total, known := int64(0), true
	Walk(n, func(n Node) {
		size := a.SizeOf(n)
		bytes := size.Bytes()
		if known = known && size.Rows >= 0 && bytes <= math.MaxInt64-total; known {
			total += bytes
		}
	})
	for _, scan := range Scans(n) {
		known = known && !usesOthers(scan, inner)
	}
	if !known {
		return -1
	}
	return total
}

// usesOthers reports whether a scan uses bounds that are not among some. Tables in the memory of
// devices use none.
func usesOthers(scan *Scan, known map[*KeyBounds]bool) bool {
	if _, ok := source.DevicesOf(scan.source); ok {
		return false
	}
	return slices.ContainsFunc(scan.bounds, func(b ScanBounds) bool { return !known[b.Of] })
}
