package adaptor

import (
	"context"
	"fmt"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Counter follows a quantity.
type Counter struct {
	// Current is how much there is now. In a scope it counts from the scope's
	// beginning and is negative where more was freed than allocated since.
	Current int64
	// Peak is the most that Current has been, and at least zero.
	Peak int64
	// Total is the sum of all that was allocated.
	Total int64
}

func (c *Counter) add(amount int64) {
	c.Current += amount
	c.Peak = max(c.Peak, c.Current)
	c.Total += amount
}

func (c *Counter) remove(amount int64) { c.Current -= amount }

// fold adds what happened in a scope that began when c was what it is.
func (c *Counter) fold(scope Counter) {
	c.Peak = max(c.Peak, c.Current+scope.Peak)
	c.Current += scope.Current
	c.Total += scope.Total
}

// Figures are those of a scope of a [Statistics].
type Figures struct {
	Bytes, Allocations Counter
}

func (f *Figures) fold(scope Figures) {
	f.Bytes.fold(scope.Bytes)
	f.Allocations.fold(scope.Allocations)
}

// String gives the figures in one line.
func (f Figures) String() string {
	return fmt.Sprintf("%s in %d allocations, peak %s in %d, total %s in %d",
		amount(f.Bytes.Current), f.Allocations.Current, amount(f.Bytes.Peak), f.Allocations.Peak,
		amount(f.Bytes.Total), f.Allocations.Total)
}

func amount(bytes int64) string {
	if bytes < 0 {
		return "-" + humanize.Bytes(uint64(-bytes))
	}
	return humanize.Bytes(uint64(bytes))
}

// Statistics counts what passes through it: bytes and allocations, current, peak
// and total. Scopes nest: [Statistics.Push] begins one that counts from zero, and
// [Statistics.Pop] ends it and adds its figures to those of the scope around it,
// the peak included. Requests that fail are in no figure.
type Statistics struct {
	base
	mu sync.Mutex
	// scopes has the outermost first. Only the innermost is counted in; the
	// others stand as they were when the next one began.
	scopes []Figures
}

// NewStatistics returns an adaptor with one scope, which cannot be popped.
func NewStatistics(upstream resource.Resource) *Statistics {
	return &Statistics{base: base{upstream: upstream}, scopes: make([]Figures, 1)}
}

// Figures returns the figures of the innermost scope.
func (s *Statistics) Figures() Figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.innermost()
}

// Overall returns the figures since the adaptor was made, over all scopes.
func (s *Statistics) Overall() Figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum Figures
	for _, scope := range s.scopes {
		sum.fold(scope)
	}
	return sum
}

// Push begins a scope, which counts from zero, and returns the figures of the
// one around it. Scopes are the adaptor's, not a goroutine's: they hold what all
// goroutines allocate meanwhile.
func (s *Statistics) Push() Figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	around := *s.innermost()
	s.scopes = append(s.scopes, Figures{})
	return around
}

// Pop ends the innermost scope and returns its figures. Where there is only the
// first one it returns an error that wraps device.ErrInvalidValue.
func (s *Statistics) Pop() (Figures, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.scopes) == 1 {
		return s.scopes[0], fmt.Errorf("memory/adaptor: statistics: pop: no scope was pushed: %w", device.ErrInvalidValue)
	}
	scope := *s.innermost()
	s.scopes = s.scopes[:len(s.scopes)-1]
	s.innermost().fold(scope)
	return scope, nil
}

// Allocate passes the request on and counts it if it succeeds.
func (s *Statistics) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return s.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (s *Statistics) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	allocation, err := resource.AllocateFrom(ctx, s.upstream, bytes, stream)
	if err != nil {
		return allocation, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := s.innermost()
	scope.Bytes.add(int64(bytes))
	scope.Allocations.add(1)
	return allocation, nil
}

// Free counts the allocation and passes it on.
func (s *Statistics) Free(allocation resource.Allocation, further []*device.Stream) error {
	s.forget(allocation.Bytes)
	return s.upstream.Free(allocation, further)
}

// forget comes before the upstream has the memory. What another goroutine is
// given of it meanwhile would otherwise count twice in the peak.
func (s *Statistics) forget(bytes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := s.innermost()
	scope.Bytes.remove(int64(bytes))
	scope.Allocations.remove(1)
}

func (s *Statistics) innermost() *Figures { return &s.scopes[len(s.scopes)-1] }
