package caching

import (
	"errors"
	"time"
)

// shrinking gives memory back while the resource is in use, if the resource reserved it
// only because free memory was in pieces. Requests of very different sizes reserve about
// 1.5 times the bytes in use. Once most of that is free, the next demand of the same
// height often needs less.
//
// A program whose demand goes up and down gives memory back and gets it again each time.
// Unmapping is slow, so shrinking pauses for four times as long as it took.
type shrinking struct {
	// demand is the most that was in use at a time when the resource grew.
	demand uint64
	// pausedUntil is the time before which nothing is given back.
	pausedUntil time.Time
	// now is another clock, for tests.
	now func() time.Time
}

const (
	// slack keeps an eighth of the demand reserved beyond it.
	slack = 8
	// pauseFactor is the length of the pause in units of the time that giving back took.
	pauseFactor = 4
	// shortestPause applies if work was pending on all memory.
	shortestPause = time.Millisecond
)

// grown notes how much is in use when the resource grows.
func (s *shrinking) grown(inUse uint64) { s.demand = max(s.demand, inUse) }

// freed is called when more than three quarters of the reserved memory is free.
func (s *shrinking) freed(r *Resource) {
	keep := s.demand + s.demand/slack
	if r.reserved <= keep+r.options.LargeSegmentBytes {
		return
	}
	start := s.time()
	if start.Before(s.pausedUntil) {
		return
	}
	// Memory that cannot be given back now stays until the next time.
	_ = errors.Join(r.coalesceIdle(false), r.segments.trim(keep))
	end := s.time()
	s.pausedUntil = end.Add(max(pauseFactor*end.Sub(start), shortestPause))
}

func (s *shrinking) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}
