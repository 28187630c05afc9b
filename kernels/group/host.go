package group

import (
	"math"
	"sort"

	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// onHost counts the values on the host.
func (b bins) onHost(in op.View, counts memory.Slice[int64]) error {
	from, err := numbers.Host(in, b.number)
	if err != nil {
		return err
	}
	to, err := counts.Host()
	if err != nil {
		return err
	}
	clear(to)
	for row := range from.Rows {
		if !from.IsValid(row) {
			continue
		}
		if bin := b.binOf(from, row); bin >= 0 {
			to[bin]++
		}
	}
	return nil
}

// binOf returns the bin of a row's value, or −1 if it is not counted.
func (b bins) binOf(in numbers.HostView, row int) int {
	below, above := -1, -1
	if b.clamp {
		below, above = 0, b.count-1
	}
	if b.mapping.whole() {
		value := in.Integer(row)
		distance := value - b.a
		switch {
		case in.Type.Class == numbers.Unsigned && value < b.a, in.Type.Class == numbers.Signed && int64(value) < int64(b.a):
			return below
		case distance > b.b:
			return above
		}
		return int(min(distance/b.c, uint64(b.count-1)))
	}
	value := in.Float(row)
	low, high := math.Float64frombits(b.a), math.Float64frombits(b.b)
	switch {
	case value != value:
		return -1
	case value < low:
		return below
	case value > high:
		return above
	case b.mapping == betweenEdges:
		// The bin before the first lower edge, but that of bin 0, that is above the value.
		return sort.Search(b.count-1, func(i int) bool { return b.edges[i+1] > value })
	}
	position := float64(value-low) * math.Float64frombits(b.c)
	if position < float64(b.count) {
		return int(position)
	}
	return b.count - 1
}
