package caching

import (
	"errors"
	"time"
)

// shrinking releases memory while the resource is in use, if the resource reserved
// it only because free memory was fragmented. Requests of very different sizes
// reserve about 1.5 times the bytes in use. After most of that memory has been
// freed, the next demand of the same size often needs less.
//
// A program with alternating demand releases memory and gets it again each time.
// Unmapping is slow, so shrinking pauses for four times as long as it took, and for twice
// as long as before if the resource has grown since: with many streams it grows because
// the free memory is that of others.
type shrinking struct {
	// demand is the maximum of the bytes that were needed when the resource grew: those in use, or
	// all if it grew because the free ones were those of other streams.
	demand uint64
	// pause is the length of the last pause. regrown is set if the resource has grown since it began.
	pause   time.Duration
	regrown bool
	// pausedUntil is the time before which nothing is released.
	pausedUntil time.Time
	// now is the clock in tests.
	now func() time.Time
}

const (
	// slack keeps demand/slack bytes reserved in addition to the demand.
	slack = 8
	// pauseFactor is the length of the pause as a multiple of the time that
	// releasing took.
	pauseFactor = 4
	// shortestPause applies if work was pending on all memory, longestPause if each
	// release was for nothing.
	shortestPause = time.Millisecond
	longestPause  = 10 * time.Second
)

// grown records the bytes that are needed when the resource grows.
func (s *shrinking) grown(needed uint64) { s.demand, s.regrown = max(s.demand, needed), true }

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
	// Memory that cannot be released now stays until the next call.
	_ = errors.Join(r.coalesceIdle(false), r.segments.trim(keep))
	end := s.time()
	pause := max(pauseFactor*end.Sub(start), shortestPause)
	if s.regrown {
		pause = max(pause, min(2*s.pause, longestPause))
	}
	s.pause, s.pausedUntil, s.regrown = pause, end.Add(pause), false
}

func (s *shrinking) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}
