package adaptor

import (
	"context"
	"fmt"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Counter tracks a quantity.
type Counter struct {
	// Current is the current amount. In a scope it is relative to the beginning of
	// the scope, and is negative if more was freed than allocated since then.
	Current int64
	// Peak is the maximum of Current, and at least zero.
	Peak int64
	// Total is the sum of all allocations.
	Total int64
}

func (c *Counter) add(amount int64) {
	c.Current += amount
	c.Peak = max(c.Peak, c.Current)
	c.Total += amount
}

func (c *Counter) remove(amount int64) { c.Current -= amount }

// fold adds the counts of a scope that began when c had its current value.
func (c *Counter) fold(scope Counter) {
	c.Peak = max(c.Peak, c.Current+scope.Peak)
	c.Current += scope.Current
	c.Total += scope.Total
}

// Figures are the counts of a scope of a [Statistics].
type Figures struct {
	Bytes, Allocations Counter
}

func (f *Figures) fold(scope Figures) {
	f.Bytes.fold(scope.Bytes)
	f.Allocations.fold(scope.Allocations)
}

// String formats the figures on one line.
func (f Figures) String() string {
	return fmt.Sprintf("%s in %d allocations, peak %s in %d, total %s in %d",
		amount(f.Bytes.Current), f.Allocations.Current, amount(f.Bytes.Peak), f.Allocations.Peak,
		amount(f.Bytes.Total), f.Allocations.Total)
}

func amount(bytes int64) string {
	if bytes < 0 {
		return "-" + humanize.IBytes(uint64(-bytes))
	}
	return humanize.IBytes(uint64(bytes))
}

// Statistics counts requests: bytes and allocations, current, peak and total. Scopes
// nest: [Statistics.Push] begins a scope that counts from zero, and [Statistics.Pop]
// ends it and adds its figures, including the peak, to the enclosing scope. Failed
// requests are not counted.
type Statistics struct {
	base
	mu sync.Mutex
	// scopes has the outermost scope first. Requests are counted only in the
	// innermost scope; the others keep the figures from when the next scope began.
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

// Overall returns the figures since the adaptor was created, over all scopes.
func (s *Statistics) Overall() Figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum Figures
	for _, scope := range s.scopes {
		sum.fold(scope)
	}
	return sum
}

// Push begins a scope that counts from zero, and returns the figures of the
// enclosing scope. A scope belongs to the adaptor, not to a goroutine: it counts the
// allocations of all goroutines.
func (s *Statistics) Push() Figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	around := *s.innermost()
	s.scopes = append(s.scopes, Figures{})
	return around
}

// Pop ends the innermost scope and returns its figures. If only the first scope is
// left it returns an error that wraps device.ErrInvalidValue.
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

// forget runs before the upstream's Free. Otherwise memory that another goroutine
// gets from that Free would count twice in the peak.
func (s *Statistics) forget(bytes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := s.innermost()
	scope.Bytes.remove(int64(bytes))
	scope.Allocations.remove(1)
}

func (s *Statistics) innermost() *Figures { return &s.scopes[len(s.scopes)-1] }
