package memory

// shrinking gives back, while the resource is in use, what it only reserved
// because free memory was in pieces. Requests that differ much in size need half
// again as much as they use, however well they are placed; once most of it is
// free, the next demand of the same height may well need less.
//
// A program whose demand goes up and down would give memory back and get it anew
// each time. So after each time that turned out to be in vain, it takes twice as
// many occasions until the next.
type shrinking struct {
	// demand is the most that was in use at a time when the resource grew.
	demand uint64
	// occasions are left out until skip is zero.
	skip, patience uint64
	// shrunk says that nothing has grown since memory was given back.
	shrunk bool
}

// slack is the part of the demand that is reserved beyond it: an eighth.
const slack = 8

// busyOccasions are left out where work is pending on what could be given back.
const busyOccasions = 64

// grown notes that the resource grew, and how much is in use then.
func (s *shrinking) grown(r *CachingResource, inUse uint64) {
	s.demand = max(s.demand, inUse)
	if s.shrunk {
		s.shrunk = false
		s.patience = min(2*s.patience+1, 1<<20)
		s.skip = s.patience
	}
}

// freed is told when more than half of what is reserved is free.
func (s *shrinking) freed(r *CachingResource) {
	keep := s.demand + s.demand/slack
	if r.reserved <= keep+r.options.LargeSegmentBytes {
		return
	}
	if s.skip > 0 {
		s.skip--
		return
	}
	// What cannot be given back now will be another time.
	before := r.reserved
	if err := r.ground.trim(keep, false); err != nil || r.reserved > keep {
		s.skip = busyOccasions
	}
	s.shrunk = s.shrunk || r.reserved < before
}
