package bestfit

// slabLength is the number of elements that are allocated at a time.
const slabLength = 256

// slabs allocates elements that never move, by number. Number 0 is never allocated
// and means no element. A freed element keeps its contents; the element freed last
// is reused first, because it is in the processor's cache.
type slabs[T any] struct {
	blocks []*[slabLength]T
	free   []uint32
	// used is the highest number allocated so far.
	used uint32
}

// at returns the element with an allocated number.
func (s *slabs[T]) at(number uint32) *T {
	return &s.blocks[number/slabLength][number%slabLength]
}

// take allocates an element.
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

// giveBack frees an element.
func (s *slabs[T]) giveBack(number uint32) {
	s.free = append(s.free, number)
}
