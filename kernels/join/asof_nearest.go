package join

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// nearest is the search for the nearest right row of each left row, in right rows that are
// sorted by their keys.
type nearest struct {
	direction Direction
	notEqual  bool
	// low and high are the numbers of sorted rows before and up to the left row's keys.
	low, high memory.Slice[uint32]
	// begin and end bound the sorted rows with the same values in By. They are empty without
	// such keys.
	begin, end memory.Slice[uint32]
	// sorted is the number of sorted rows.
	sorted int
	// valid has a bit for each left row that can match, or is empty.
	valid memory.Slice[uint8]
	// left and right are the last keys, for distances; right ones are sorted.
	distances   distances
	left, right memory.Slice[uint8]
	// list has the numbers of the sorted rows, or is empty if these are their places.
	list memory.Slice[uint32]
}

func (n *nearest) onDevice(c *call, m *matches) error {
	d := &n.distances
	l := nearestLayout{
		low: n.low, high: n.high, begin: n.begin, end: n.end, valid: n.valid, left: n.left, right: n.right, limit: d.limit, sorted: uint32(n.sorted),
		direction: uint32(n.direction), notEqual: kernelset.Flag(n.notEqual), wanted: kernelset.Flag(d.wanted), real: kernelset.Flag(d.real), width: uint32(d.width),
	}
	return c.launch("as_of", "nearest_rows", m.probe, m.first, m.count, l.asArgument(), n.list, uint64(m.probe))
}

// hostNearest is nearest in memory that the processor reads.
type hostNearest struct {
	*nearest
	low, high, begin, end, list []uint32
	valid, left, right          []byte
}

func (n *nearest) host() (*hostNearest, error) {
	h := &hostNearest{nearest: n}
	var failures [8]error
	h.low, failures[0] = n.low.Host()
	h.high, failures[1] = n.high.Host()
	h.begin, failures[2] = n.begin.Host()
	h.end, failures[3] = n.end.Host()
	h.valid, failures[4] = n.valid.Host()
	h.left, failures[5] = n.left.Host()
	h.right, failures[6] = n.right.Host()
	h.list, failures[7] = n.list.Host()
	return h, errors.Join(failures[:]...)
}

// onHost writes the nearest row of each left row: see as_of.cu.
func (n *nearest) onHost(c *call, m *matches) error {
	h, err := n.host()
	first, firstErr := m.first.Host()
	count, countErr := m.count.Host()
	if err := errors.Join(err, firstErr, countErr); err != nil {
		return err
	}
	return c.each(m.probe, func(begin, end int) {
		for row := begin; row < end; row++ {
			first[row], count[row] = noRow, 0
			if len(h.valid) > 0 && h.valid[row/8]>>(row%8)&1 == 0 {
				continue
			}
			if place, ok := h.place(row); ok {
				if len(h.list) > 0 {
					place = h.list[place]
				}
				first[row], count[row] = place, 1
			}
		}
	})
}

// place returns the place of the nearest row of a left row.
func (h *hostNearest) place(row int) (place uint32, ok bool) {
	back, hasBack := h.back(row)
	ahead, hasAhead := h.ahead(row)
	if !h.distances.wanted {
		if hasBack {
			return back, true
		}
		return ahead, hasAhead
	}
	var backDistance, aheadDistance uint64
	if hasBack {
		backDistance = h.distances.between(h.left, row, h.right, int(back))
		hasBack = h.distances.within(backDistance)
	}
	if hasAhead {
		aheadDistance = h.distances.between(h.right, int(ahead), h.left, row)
		hasAhead = h.distances.within(aheadDistance)
	}
	if hasBack && (!hasAhead || backDistance <= aheadDistance) {
		return back, true
	}
	return ahead, hasAhead
}

// back returns the place of the backward row.
func (h *hostNearest) back(row int) (place uint32, ok bool) {
	if h.direction == Forward {
		return 0, false
	}
	places, begin := h.high, uint32(0)
	if h.notEqual {
		places = h.low
	}
	if len(h.begin) > 0 {
		begin = h.begin[row]
	}
	return places[row] - 1, places[row] > begin
}

// ahead returns the place of the forward row.
func (h *hostNearest) ahead(row int) (place uint32, ok bool) {
	if h.direction == Backward {
		return 0, false
	}
	places, end := h.low, uint32(h.sorted)
	if h.notEqual {
		places = h.high
	}
	if len(h.end) > 0 {
		end = h.end[row]
	}
	return places[row], places[row] < end
}

// between returns the distance from a smaller key to a larger one. The bits of floats that
// are not negative have the order of the floats.
func (d *distances) between(larger []byte, i int, smaller []byte, j int) uint64 {
	a, b := keyBits(larger, i, d.width), keyBits(smaller, j, d.width)
	if !d.real {
		return (a - b) & (1<<(8*d.width) - 1)
	}
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	if x == y {
		return 0 // also for infinities
	}
	return math.Float64bits(x - y)
}

func (d *distances) within(distance uint64) bool { return distance <= d.limit }

func keyBits(keys []byte, i, width int) uint64 {
	switch width {
	case 1:
		return uint64(keys[i])
	case 2:
		return uint64(binary.NativeEndian.Uint16(keys[2*i:]))
	case 4:
		return uint64(binary.NativeEndian.Uint32(keys[4*i:]))
	}
	return binary.NativeEndian.Uint64(keys[8*i:])
}
