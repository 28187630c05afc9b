package bestfit

import (
	"math/rand/v2"
)

const (
	stateUsed = iota + 1
	stateFree

	heapStart = 1 << 40
)

// heap is a minimal allocator on a Space and a Set: it takes the best fit, and grows
// its only segment if nothing fits.
type heap struct {
	space Space
	free  Set
	last  *Node
	// inUse and peak are bytes.
	inUse, peak uint64
}

// grow adds a free run at the end.
func (h *heap) grow(bytes uint64) *Node {
	if h.last == nil {
		h.last = h.space.Add(heapStart, bytes)
	} else if h.last.State == stateFree {
		h.free.Remove(&h.space, h.last)
		h.space.Append(h.last, bytes)
		h.space.Join(h.last)
	} else {
		h.last = h.space.Append(h.last, bytes)
	}
	h.last.State = stateFree
	h.free.Insert(&h.space, h.last)
	return h.last
}

func (h *heap) allocate(bytes uint64) *Node {
	n := h.free.Find(&h.space, bytes)
	if n == nil {
		missing := bytes
		if h.last != nil && h.last.State == stateFree {
			missing -= h.last.Bytes
		}
		n = h.grow(missing)
	}
	h.free.Remove(&h.space, n)
	if rest := h.space.Split(n, bytes); rest != nil {
		h.free.Insert(&h.space, rest)
		if n == h.last {
			h.last = rest
		}
	}
	n.State = stateUsed
	h.inUse += n.Bytes
	h.peak = max(h.peak, h.inUse)
	return n
}

func (h *heap) release(n *Node) {
	h.inUse -= n.Bytes
	n.State = stateFree
	// Both neighbours are read before either is used, so that the processor fetches
	// them in parallel.
	next, previous := h.space.Next(n), h.space.Previous(n)
	joinNext := next != nil && next.State == stateFree
	joinPrevious := previous != nil && previous.State == stateFree
	if joinNext {
		h.free.Remove(&h.space, next)
		if next == h.last {
			h.last = n
		}
		h.space.Join(n)
	}
	if joinPrevious {
		h.free.Remove(&h.space, previous)
		if n == h.last {
			h.last = previous
		}
		h.space.Join(previous)
		n = previous
	}
	h.free.Insert(&h.space, n)
}

// length returns the length of the segment.
func (h *heap) length() uint64 {
	if h.last == nil {
		return 0
	}
	return h.last.Address + h.last.Bytes - heapStart
}

// step is an allocation of a number of bytes. If bytes is 0, it is the release of
// the entry at an index of the list of live runs; the last entry replaces it.
type step struct {
	bytes  uint64
	victim int
}

// randomSteps is the workload of RMM's random benchmark: sizes are uniform up to a
// maximum, 73 of 100 steps allocate, up to a number of allocations and of bytes in
// use, and the other steps release a random run. Sizes are rounded up to multiples
// of 512, as an allocator would do.
func randomSteps(allocations int, maximum uint64) []step {
	const (
		budget      = 16_000 << 20
		probability = 0.73
	)
	random := rand.New(rand.NewPCG(1, maximum))
	var (
		steps []step
		live  []uint64
		inUse uint64
		count int
	)
	for range 2 * allocations {
		bytes := (1 + random.Uint64N(maximum) + 511) &^ 511
		allocate := count < allocations && inUse+bytes <= budget && random.Float64() < probability
		if allocate || len(live) == 0 {
			if count == allocations {
				break
			}
			steps = append(steps, step{bytes: bytes})
			live = append(live, bytes)
			inUse += bytes
			count++
			continue
		}
		victim := random.IntN(len(live))
		steps = append(steps, step{victim: victim})
		inUse -= live[victim]
		live[victim] = live[len(live)-1]
		live = live[:len(live)-1]
	}
	return steps
}

// run executes steps.
func (h *heap) run(steps []step, live []*Node) []*Node {
	for _, step := range steps {
		if step.bytes != 0 {
			live = append(live, h.allocate(step.bytes))
			continue
		}
		last := len(live) - 1
		h.release(live[step.victim])
		live[step.victim] = live[last]
		live = live[:last]
	}
	return live
}
