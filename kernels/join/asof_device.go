package join

import (
	"github.com/gpuframe/gpuframe/kernels"
)

func word(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func (r *run) nearestOnDevice(n *nearest, m *matches) error {
	d := &n.distances
	argument := kernels.Struct(n.low, n.high, n.begin, n.end, n.valid, n.left, n.right, d.limit, uint32(n.sorted),
		uint32(n.direction), word(n.notEqual), word(d.wanted), word(d.real), uint32(d.width))
	return r.launch("as_of", "nearest_rows", m.probe, m.first, m.count, argument, n.list, uint64(m.probe))
}
