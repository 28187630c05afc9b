package bestfit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// tester is the common part of *testing.T, the argument of *testing.F and *rapid.T.
type tester interface {
	require.TestingT
	Helper()
}

// checkSets walks every tree of all the sets of a space. It requires that each tree
// is well formed, that the bitmaps and counts agree with the trees, and that no page
// leaks.
func checkSets(t tester, s *Space, sets ...*Set) {
	t.Helper()
	pages := 0
	for _, set := range sets {
		if set.table == nil {
			require.Zero(t, set.Len())
			continue
		}
		length, bytes := 0, uint64(0)
		visit := func(class uint, key uint64, number uint32) {
			n := s.nodes.at(number)
			inClass, width := classOf(n.Bytes)
			if class != inClass || key != keyOf(n.Bytes, n.Address, width) || !n.member {
				require.Failf(t, "entry", "class %d, key %#x: %+v", class, key, *n)
			}
			length++
			bytes += n.Bytes
		}
		for i, root := range set.table.roots {
			class := uint(i)
			if bit := set.table.words[class/64]>>(class%64)&1 == 1; bit != (root != 0) {
				require.Failf(t, "bitmap", "class %d: bit %t, root %d", class, bit, root)
			}
			switch {
			case root&single != 0:
				number := root &^ single
				n := s.nodes.at(number)
				_, width := classOf(n.Bytes)
				visit(class, keyOf(n.Bytes, n.Address, width), number)
			case root != 0:
				pages += checkTree(t, s, class, root, visit)
			}
		}
		for i, word := range set.table.words {
			require.Equal(t, word != 0, set.table.summary>>i&1 == 1, "summary of word %d", i)
		}
		require.Equal(t, length, set.Len())
		require.Equal(t, bytes, set.Bytes())
	}
	require.Equal(t, pages, int(s.pages.used)-len(s.pages.free), "pages in use")
}

// checkTree requires that a tree is well formed, visits its runs and returns the
// number of its pages.
func checkTree(t tester, s *Space, class uint, root uint32, visit func(class uint, key uint64, number uint32)) (pages int) {
	t.Helper()
	var walk func(number uint32, low, high uint64)
	walk = func(number uint32, low, high uint64) {
		pages++
		p := s.pages.at(number)
		require.LessOrEqual(t, p.count, uint32(pageLength))
		switch {
		case number != root:
			require.GreaterOrEqual(t, p.count, uint32(pageLow))
		case p.level == 0:
			require.Positive(t, p.count)
		default:
			require.Greater(t, p.count, uint32(1))
		}
		for i := range p.count {
			if p.level == 0 {
				if p.keys[i] < low || p.keys[i] > high {
					require.Failf(t, "order", "key %#x not in %#x to %#x", p.keys[i], low, high)
				}
				visit(class, p.keys[i], p.numbers[i])
				continue
			}
			from, to := low, high
			if i > 0 {
				from = p.keys[i]
			}
			if i+1 < p.count {
				to = p.keys[i+1] - 1
			}
			require.LessOrEqual(t, from, to)
			require.Equal(t, p.level-1, s.pages.at(p.numbers[i]).level)
			walk(p.numbers[i], from, to)
		}
	}
	walk(root, 0, ^uint64(0))
	return pages
}

// checkSegment requires that the runs from first on are contiguous and linked to
// each other. It returns their number and the last one.
func checkSegment(t tester, s *Space, first *Node) (runs int, last *Node) {
	t.Helper()
	require.Nil(t, s.Previous(first))
	for n := first; n != nil; n = s.Next(n) {
		runs++
		if n.Bytes == 0 || s.nodes.at(n.self) != n || s.Previous(n) != last ||
			last != nil && last.Address+last.Bytes != n.Address {
			require.Failf(t, "segment", "%+v after %+v", n, last)
		}
		last = n
	}
	return runs, last
}

// checkHeap requires that a heap's segment is complete, that exactly its free runs
// are in the set, and that no two of them are adjacent.
func checkHeap(t tester, h *heap) {
	t.Helper()
	checkSets(t, &h.space, &h.free)
	if h.last == nil {
		return
	}
	first := h.last
	for previous := h.space.Previous(first); previous != nil; previous = h.space.Previous(first) {
		first = previous
	}
	require.Equal(t, uint64(heapStart), first.Address)
	runs, last := checkSegment(t, &h.space, first)
	require.Equal(t, h.space.Len(), runs)
	require.Same(t, h.last, last)
	var inUse uint64
	free := 0
	for n := first; n != nil; n = h.space.Next(n) {
		if n.member != (n.State == stateFree) {
			require.Failf(t, "state", "%+v", n)
		}
		if n.State != stateFree {
			inUse += n.Bytes
			continue
		}
		free++
		if next := h.space.Next(n); next != nil && next.State == stateFree {
			require.Failf(t, "free runs side by side", "%+v", n)
		}
	}
	require.Equal(t, h.inUse, inUse)
	require.Equal(t, free, h.free.Len())
	require.Equal(t, h.length(), inUse+h.free.Bytes())
}

// bestFit finds the best fit of a heap by a scan of all runs.
func bestFit(h *heap, bytes uint64) (best *Node) {
	for n := h.last; n != nil; n = h.space.Previous(n) {
		if n.State == stateFree && n.Bytes >= bytes && (best == nil || n.Bytes <= best.Bytes) {
			best = n
		}
	}
	return best
}

var _ tester = (*testing.T)(nil)
