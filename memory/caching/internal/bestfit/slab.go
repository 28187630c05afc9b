package bestfit

// slabLength is the number of elements that are allocated at a time.
const slabLength = 256

// slabs hands out elements that never move, by number. Number 0 is never handed
// out and stands for none. An element that was given back keeps its contents;
// the one given back last is handed out first, because it is in the cache.
type slabs[T any] struct {
	blocks []*[slabLength]T
	free   []uint32
	// used is the lowest number that was never handed out, less 1.
	used uint32
}

// at returns the element with a number that was handed out.
func (s *slabs[T]) at(number uint32) *T {
	return &s.blocks[number/slabLength][number%slabLength]
}

// take hands out an element.
func (s *slabs[T]) take() (number uint32, element *T) {
	if last := len(s.free) - 1; last >= 0 {
		number = s.free[last]
		s.free = s.free[:last]
		return number, s.at(number)
	}
	s.used++
	if int(s.used/slabLength) >= len(s.blocks) {
		s.blocks = append(s.blocks, new([slabLength]T))
	}
	return s.used, s.at(s.used)
}

// giveBack takes an element back.
func (s *slabs[T]) giveBack(number uint32) {
	s.free = append(s.free, number)
}
