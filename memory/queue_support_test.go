package memory_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// result is the result of an allocation on another goroutine.
type result struct {
	block *memory.Block
	err   error
}

// allocateLater allocates memory on another goroutine and returns once the request
// waits.
func allocateLater(t testing.TB, ctx context.Context, m *memory.Manager, bytes uint64, options memory.AllocateOptions) <-chan result {
	t.Helper()
	before := m.Stats().Waiting
	results := make(chan result, 1)
	go func() {
		block, err := m.AllocateWait(ctx, bytes, options)
		results <- result{block, err}
	}()
	requireWaiting(t, m, before+1)
	return results
}

func requireWaiting(t testing.TB, m *memory.Manager, want int) {
	t.Helper()
	await.Until(t, func() bool { return m.Stats().Waiting == want }, "%d requests wait", want)
}

// take returns the result of a request that must have ended.
func take(t testing.TB, results <-chan result) (*memory.Block, error) {
	t.Helper()
	r := await.Receive(t, results, "the request has ended")
	return r.block, r.err
}

func mustTake(t testing.TB, results <-chan result) *memory.Block {
	t.Helper()
	block, err := take(t, results)
	require.NoError(t, err)
	return block
}

func mustAllocate(t testing.TB, m *memory.Manager, bytes uint64, tag string) *memory.Block {
	t.Helper()
	block, err := m.Allocate(bytes, memory.AllocateOptions{Tag: tag})
	require.NoError(t, err)
	return block
}

func mustChild(t testing.TB, m *memory.Manager, name string, budget uint64) *memory.Manager {
	t.Helper()
	child, err := m.Child(name, budget)
	require.NoError(t, err)
	return child
}

// requireNothingHeld checks that a tree holds no memory and has no waiting requests.
func requireNothingHeld(t testing.TB, s memory.Stats) {
	t.Helper()
	assert.Zero(t, s.InUse, "%s in use", s.Name)
	assert.Zero(t, s.Blocks, "%s blocks", s.Name)
	assert.Zero(t, s.Waiting, "%s waiting", s.Name)
	assert.Equal(t, s.Allocations, s.Frees, s.Name)
	for _, tag := range s.Tags {
		assert.Zero(t, tag.InUse, "%s tag %s", s.Name, tag.Tag)
		assert.Zero(t, tag.Blocks, "%s tag %s", s.Name, tag.Tag)
	}
	for _, child := range s.Children {
		requireNothingHeld(t, child)
	}
}

// small is a resource with little memory that can fail or block requests on demand.
type small struct {
	memory.Resource
	mu       sync.Mutex
	capacity uint64
	used     uint64
	asked    int
	// before is called before each allocation; if it returns an error the allocation
	// fails.
	before func(bytes uint64) error
}

func newSmall(dev *device.Device, capacity uint64) *small {
	return &small{Resource: memory.NewDriverResource(dev), capacity: capacity}
}

func (s *small) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	s.mu.Lock()
	before := s.before
	s.asked++
	s.mu.Unlock()
	if before != nil {
		if err := before(bytes); err != nil {
			return resource.Allocation{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes > s.capacity-s.used {
		return resource.Allocation{}, device.ErrOutOfMemory
	}
	allocation, err := s.Resource.Allocate(bytes, stream)
	if err == nil {
		s.used += bytes
	}
	return allocation, err
}

func (s *small) Free(allocation resource.Allocation, further []*device.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= allocation.Bytes
	return s.Resource.Free(allocation, further)
}

// set replaces the function that is called before each allocation.
func (s *small) set(before func(bytes uint64) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

func (s *small) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// reclaimFunc is a function as a Reclaimer.
type reclaimFunc struct {
	reclaim func(ctx context.Context, bytes uint64) (uint64, error)
}

func (r *reclaimFunc) Reclaim(ctx context.Context, bytes uint64) (uint64, error) {
	return r.reclaim(ctx, bytes)
}
