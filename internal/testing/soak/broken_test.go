package soak_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/soak"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// TestBrokenResourcesAreFound runs resources with known faults: a run must find each.
func TestBrokenResourcesAreFound(t *testing.T) {
	for _, test := range []struct {
		name  string
		reuse func(freed freed, stream *device.Stream) bool
	}{
		{"any stream gets what is freed at once", func(freed, *device.Stream) bool { return true }},
		{"work on further streams is ignored", func(f freed, stream *device.Stream) bool {
			return f.Stream.Equal(stream)
		}},
		{"the memory's own stream is ignored", func(f freed, stream *device.Stream) bool {
			return !f.Stream.Equal(stream) && f.further == 0
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			devicetest.Each(t, func(t *testing.T, dev *device.Device) {
				resource := &hasty{Resource: memory.NewDriverResource(dev), reuse: test.reuse}
				defer func() { require.NoError(t, resource.giveBack()) }()
				requireCorruption(t, dev, resource)
			})
		})
	}
	overlapping := func(t *testing.T, dev *device.Device) {
		resource := &overlapping{Resource: memory.NewDriverResource(dev)}
		defer func() { require.NoError(t, resource.giveBack()) }()
		corruption := requireCorruption(t, dev, resource)
		for _, m := range corruption.First {
			assert.NotEqual(t, m.Writing, m.Other)
		}
	}
	t.Run("blocks overlap", func(t *testing.T) {
		devicetest.Each(t, overlapping)
		t.Run("kernels in Go", func(t *testing.T) { overlapping(t, launchtest.Open(t, newModel())) })
	})
}

func requireCorruption(t *testing.T, dev *device.Device, resource memory.Resource) *soak.CorruptionError {
	t.Helper()
	o := options(dev)
	o.Resource, o.Operations, o.CrossStream = resource, 20_000, 0.3
	o.MaximumBytes = min(o.MaximumBytes, 1<<20)
	var report soak.Report
	var err error
	// The fault needs two blocks to meet in one run, which is a matter of chance, most
	// of all on a fast GPU.
	for o.Seed = 0; err == nil && o.Seed < 20; o.Seed++ {
		report, err = soak.Run(t.Context(), dev, o)
	}
	require.ErrorIs(t, err, soak.ErrCorruption)
	var corruption *soak.CorruptionError
	require.ErrorAs(t, err, &corruption)
	t.Log(report)
	t.Log(corruption)
	assert.Equal(t, report.Mismatches, corruption.Mismatches)
	require.NotEmpty(t, corruption.First)
	for _, m := range corruption.First {
		assert.NotEqual(t, m.Expected, m.Found)
		assert.Less(t, m.Offset, m.Bytes)
		assert.Less(t, m.Writing.Goroutine(), o.Goroutines)
		assert.NotZero(t, m.Writing.Sequence())
		assert.NotZero(t, m.Address)
	}
	return corruption
}

// hasty keeps freed memory by its size, rounded up to a power of two, and reuses the
// last freed block if reuse allows it. It waits for nothing.
type hasty struct {
	memory.Resource
	reuse func(freed freed, stream *device.Stream) bool
	mu    sync.Mutex
	freed map[uint64][]freed
	all   []resource.Allocation
}

type freed struct {
	resource.Allocation
	further int
}

func roundUp(bytes uint64) uint64 {
	rounded := uint64(256)
	for rounded < bytes {
		rounded *= 2
	}
	return rounded
}

func (r *hasty) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := roundUp(bytes)
	kept := r.freed[size]
	for i := len(kept) - 1; i >= 0; i-- {
		if found := kept[i]; r.reuse(found, stream) {
			r.freed[size] = append(kept[:i:i], kept[i+1:]...)
			return resource.Allocation{Pointer: found.Pointer, Bytes: bytes, Stream: stream}, nil
		}
	}
	a, err := r.Resource.Allocate(size, stream)
	if err == nil {
		r.all = append(r.all, a)
	}
	a.Bytes = bytes
	return a, err
}

func (r *hasty) Free(a resource.Allocation, further []*device.Stream) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.freed == nil {
		r.freed = map[uint64][]freed{}
	}
	size := roundUp(a.Bytes)
	r.freed[size] = append(r.freed[size], freed{a, len(further)})
	return nil
}

// giveBack frees everything once the device is idle.
func (r *hasty) giveBack() error { return freeAll(r.Resource, r.all) }

// overlapping cuts blocks from large chunks and advances by whole granules, rounding
// down. It never reuses freed blocks.
type overlapping struct {
	memory.Resource
	mu     sync.Mutex
	chunks []resource.Allocation
	left   uint64
}

func (r *overlapping) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	const chunk, granule = 8 << 20, 256
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > r.left {
		a, err := r.Resource.Allocate(chunk, stream)
		if err != nil {
			return a, err
		}
		r.chunks, r.left = append(r.chunks, a), chunk
	}
	at := r.chunks[len(r.chunks)-1].Pointer.Add(chunk - r.left)
	r.left -= max(granule, bytes/granule*granule)
	return resource.Allocation{Pointer: at, Bytes: bytes, Stream: stream}, nil
}

func (r *overlapping) Free(resource.Allocation, []*device.Stream) error { return nil }

func (r *overlapping) giveBack() error { return freeAll(r.Resource, r.chunks) }

func freeAll(from memory.Resource, all []resource.Allocation) error {
	var failures []error
	for _, a := range all {
		failures = append(failures, from.Device().Driver().Free(a.Pointer))
	}
	return errors.Join(failures...)
}
