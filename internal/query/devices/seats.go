package devices

import (
	"context"
	"sync/atomic"
	"time"
)

// seats limits how many queries work on a GPU at the same time. More of them than processors and streams only wait for
// each other's locks, in the driver too: on an H200 with 16 processors 16 clients got 8,800 queries a second together, and
// 64 clients 5,100. A query that waits longer than the patience works without a seat, so that queries that wait for each
// other go on, and for a while the others do not wait then: long ones have the seats.
type seats struct {
	occupied chan struct{}
	// patience is the longest wait, rest the time without waits after one that was for nothing.
	patience, rest time.Duration
	// restUntil is the end of the rest, in nanoseconds of the Unix time.
	restUntil atomic.Int64
}

const (
	seatPatience = 50 * time.Millisecond
	seatRest     = time.Second
)

func newSeats(number int) *seats {
	return &seats{occupied: make(chan struct{}, number), patience: seatPatience, rest: seatRest}
}

// enter takes a seat, or none after some time. The caller calls leave at the end of its work.
func (s *seats) enter(ctx context.Context) (leave func()) {
	if s == nil {
		return func() {}
	}
	leave = func() { <-s.occupied }
	select {
	case s.occupied <- struct{}{}:
		return leave
	default:
	}
	if time.Now().UnixNano() < s.restUntil.Load() {
		return func() {}
	}
	patience := time.NewTimer(s.patience)
	defer patience.Stop()
	select {
	case s.occupied <- struct{}{}:
		return leave
	case <-patience.C:
		s.restUntil.Store(time.Now().Add(s.rest).UnixNano())
	case <-ctx.Done():
	}
	return func() {}
}
