package caching

import (
	"errors"
	"time"
)

// shrinking gives back, while the resource is in use, what it only reserved
// because free memory was in pieces. Requests that differ much in size need half
// again as much as they use, however well they are placed; once most of it is
// free, the next demand of the same height may well need less.
//
// A program whose demand goes up and down gives memory back and gets it anew each
// time. Unmapping takes time, so it is done no more often than makes a fifth of
// the time at most.
type shrinking struct {
	// demand is the most that was in use at a time when the resource grew.
	demand uint64
	// rest is until when nothing is given back.
	rest time.Time
	// now is another clock, for tests.
	now func() time.Time
}

const (
	// slack is the part of the demand that is reserved beyond it: an eighth.
	slack = 8
	// restFactor is how many times as long as giving back the rest from it takes.
	restFactor = 4
	// shortestRest is for when work was pending on what could be given back.
	shortestRest = time.Millisecond
)

// grown notes that the resource grew, and how much is in use then.
func (s *shrinking) grown(inUse uint64) { s.demand = max(s.demand, inUse) }

// freed is told when more than three quarters of what is reserved is free.
func (s *shrinking) freed(r *Resource) {
	keep := s.demand + s.demand/slack
	if r.reserved <= keep+r.options.LargeSegmentBytes {
		return
	}
	start := s.time()
	if start.Before(s.rest) {
		return
	}
	// What cannot be given back now, or fails to be, will be another time.
	_ = errors.Join(r.unite(false), r.ground.trim(keep))
	end := s.time()
	s.rest = end.Add(max(restFactor*end.Sub(start), shortestRest))
}

func (s *shrinking) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}
