package adaptor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// ErrInjected is wrapped by every error that a [Fault] injects.
var ErrInjected = errors.New("injected fault")

// FaultRule selects the calls that fail; calls are numbered from 1. A call fails if
// any part of the rule matches. The zero rule fails no call.
type FaultRule struct {
	// Nth fails only the call with this number.
	Nth uint64
	// Every fails each call with a number that is a multiple of Every.
	Every uint64
	// Probability is the share of calls that fail, from 0 to 1. The selection
	// depends only on the seed and the number of the call.
	Probability float64
}

func (r FaultRule) fails(number, seed uint64) bool {
	switch {
	case r.Nth != 0 && number == r.Nth, r.Every != 0 && number%r.Every == 0:
		return true
	case r.Probability > 0:
		return rand.New(rand.NewPCG(seed, number)).Float64() < r.Probability
	}
	return false
}

// FaultOptions select the calls that fail and their errors. The zero value fails no
// call.
type FaultOptions struct {
	// Allocate fails requests before they reach the upstream.
	Allocate FaultRule
	// Free fails frees after the upstream has freed the memory, as a lost device
	// does: nothing leaks, but the caller gets an error.
	Free FaultRule
	// Seed selects the calls that Probability fails.
	Seed uint64
	// AllocateError is wrapped by the errors of failed requests, together with
	// ErrInjected; nil means device.ErrOutOfMemory.
	AllocateError error
	// FreeError is wrapped by the errors of failed frees, together with ErrInjected;
	// nil means device.ErrDeviceLost.
	FreeError error
}

// Fault fails calls on purpose to test the error handling of the code above. With
// equal options, calls with equal numbers fail, independent of the number of
// goroutines.
type Fault struct {
	base
	mu       sync.Mutex
	options  FaultOptions
	requests FaultCount
	frees    FaultCount
}

// FaultCount counts calls.
type FaultCount struct {
	// Seen counts all calls, Failed those that the Fault failed.
	Seen, Failed uint64
}

// NewFault returns an adaptor that fails calls according to the options.
func NewFault(upstream resource.Resource, options FaultOptions) *Fault {
	f := &Fault{base: base{upstream: upstream}}
	f.Arm(options)
	return f
}

// Arm replaces the options and resets the counts. The next call has number 1.
func (f *Fault) Arm(options FaultOptions) {
	options.AllocateError = cmp.Or(options.AllocateError, device.ErrOutOfMemory)
	options.FreeError = cmp.Or(options.FreeError, device.ErrDeviceLost)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.options, f.requests, f.frees = options, FaultCount{}, FaultCount{}
}

// Requests counts the calls of Allocate.
func (f *Fault) Requests() FaultCount {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// Frees counts the calls of Free.
func (f *Fault) Frees() FaultCount {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.frees
}

// Allocate fails or passes the request on.
func (f *Fault) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return f.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (f *Fault) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	f.mu.Lock()
	number, fails := f.requests.count(f.options.Allocate, f.options.Seed)
	cause := f.options.AllocateError
	f.mu.Unlock()
	if fails {
		return resource.Allocation{}, fmt.Errorf("memory/adaptor: fault: allocate %s, request %d: %w: %w",
			humanize.IBytes(bytes), number, ErrInjected, cause)
	}
	return resource.AllocateFrom(ctx, f.upstream, bytes, stream)
}

// Free passes the allocation on and then may fail.
func (f *Fault) Free(allocation resource.Allocation, further []*device.Stream) error {
	f.mu.Lock()
	// Frees use a different seed than requests.
	number, fails := f.frees.count(f.options.Free, ^f.options.Seed)
	cause := f.options.FreeError
	f.mu.Unlock()
	err := f.upstream.Free(allocation, further)
	if fails {
		err = errors.Join(fmt.Errorf("memory/adaptor: fault: free %s, call %d: %w: %w",
			humanize.IBytes(allocation.Bytes), number, ErrInjected, cause), err)
	}
	return err
}

func (c *FaultCount) count(rule FaultRule, seed uint64) (number uint64, fails bool) {
	c.Seen++
	if fails = rule.fails(c.Seen, seed); fails {
		c.Failed++
	}
	return c.Seen, fails
}
