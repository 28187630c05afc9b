package caching_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/caching"
)

// On every device a manager on a caching resource counts every byte, keeps the
// contents of blocks apart and releases all memory.
func TestManagerOverCachingResource(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, mode := range map[string]caching.SegmentMode{"fixed": caching.FixedSegments, "expandable": caching.ExpandableSegments} {
			t.Run(name, func(t *testing.T) {
				caching.SkipFewAddresses(t, mode)
				var streams []*device.Stream
				for range 3 {
					stream, err := dev.NewStream()
					require.NoError(t, err)
					defer func() { require.NoError(t, stream.Close()) }()
					streams = append(streams, stream)
				}
				property.Check(t, func(t *rapid.T) {
					resource, err := caching.New(dev, caching.Options{
						Segments: mode, SmallBytes: 8 << 10, SmallSegmentBytes: 64 << 10, LargeSegmentBytes: 256 << 10,
						OversizeBytes: rapid.SampledFrom([]uint64{0, 4 << 20}).Draw(t, "oversize"),
					})
					if errors.Is(err, device.ErrNotSupported) {
						t.Skip("this device cannot map memory")
					}
					require.NoError(t, err)
					mgr, err := memory.NewManager(dev, memory.Options{Resource: resource, Budget: managedBudget})
					require.NoError(t, err)
					m := &managedModel{t: t, mgr: mgr, resource: resource, streams: streams}
					m.run()
				})
			})
		}
	})
}

const managedBudget = 8 << 20

// managedModel records the expected memory in use.
type managedModel struct {
	t        *rapid.T
	mgr      *memory.Manager
	resource *caching.Resource
	streams  []*device.Stream
	live     []*managedBlock
	last     uint32

	inUse, peak, allocations, frees, failures uint64
	limit                                     uint64
}

type managedBlock struct {
	*memory.Block
	bytes uint64
	// value is the fill value of the block, written by work on last.
	value uint32
	last  *device.Stream
}

func (m *managedModel) run() {
	for range rapid.IntRange(1, 25).Draw(m.t, "steps") {
		switch rapid.SampledFrom([]string{"allocate", "allocate", "allocate", "fill", "fill", "verify", "release", "release", "trim", "limit"}).Draw(m.t, "action") {
		case "allocate":
			m.allocate()
		case "fill":
			if block := m.draw(); block != nil {
				m.fill(block, m.stream())
			}
		case "verify":
			if block := m.draw(); block != nil {
				m.verify(block)
			}
		case "release":
			if block := m.draw(); block != nil {
				m.release(block)
			}
		case "trim":
			before := m.resource.Stats().Reserved
			released, err := m.resource.Trim(rapid.SampledFrom([]uint64{0, 1 << 20}).Draw(m.t, "keep"))
			require.NoError(m.t, err)
			require.Equal(m.t, before-m.resource.Stats().Reserved, released)
		case "limit":
			m.limit = rapid.SampledFrom([]uint64{0, 0, 4 << 20}).Draw(m.t, "limit")
			require.NoError(m.t, m.resource.SetLimit(m.limit))
		}
		m.check()
	}
	for len(m.live) > 0 {
		m.verify(m.live[0])
		m.release(m.live[0])
		m.check()
	}
	require.NoError(m.t, m.mgr.Close())
	require.NoError(m.t, m.resource.Close())
	require.Zero(m.t, m.resource.Stats().Reserved)
}

func (m *managedModel) stream() *device.Stream {
	return m.streams[rapid.IntRange(0, len(m.streams)-1).Draw(m.t, "stream")]
}

func (m *managedModel) draw() *managedBlock {
	if len(m.live) == 0 {
		return nil
	}
	return m.live[rapid.IntRange(0, len(m.live)-1).Draw(m.t, "block")]
}

func (m *managedModel) allocate() {
	size := rapid.SampledFrom([]uint64{4, 700, 8 << 10, 100_000, 300_000, 3 << 20, 5 << 20}).Draw(m.t, "bytes")
	stream := m.stream()
	block, err := m.mgr.Allocate(size, memory.AllocateOptions{Stream: stream})
	if err != nil {
		m.failures++
		if m.inUse+size > managedBudget {
			require.ErrorIs(m.t, err, memory.ErrBudget)
			return
		}
		require.ErrorIs(m.t, err, device.ErrOutOfMemory)
		require.NotZero(m.t, m.limit, "only the limit keeps a request from its memory here: %v", err)
		return
	}
	require.LessOrEqual(m.t, m.inUse+size, uint64(managedBudget))
	m.inUse += size
	m.peak = max(m.peak, m.inUse)
	m.allocations++
	managed := &managedBlock{Block: block, bytes: size, last: stream}
	m.live = append(m.live, managed)
	m.fill(managed, stream)
}

// fill makes a stream write to a block after the previous writes.
func (m *managedModel) fill(block *managedBlock, stream *device.Stream) {
	if stream != block.last {
		require.NoError(m.t, stream.WaitStream(block.last))
	}
	m.last++
	block.value, block.last = m.last, stream
	require.NoError(m.t, stream.Enqueue(func(handle backend.Stream) error {
		return m.mgr.Device().Driver().MemsetAsync(block.Pointer(), block.value, 4, block.bytes/4, handle)
	}))
	require.NoError(m.t, block.RecordUse(stream))
}

func (m *managedModel) verify(block *managedBlock) {
	require.NoError(m.t, block.last.Synchronize(m.t.Context()))
	got := make([]byte, block.bytes)
	require.NoError(m.t, m.mgr.Device().Driver().CopyToHost(unsafe.Pointer(&got[0]), block.Pointer(), block.bytes))
	require.Equal(m.t, block.value, binary.NativeEndian.Uint32(got))
	require.True(m.t, bytes.Equal(got[4:], got[:len(got)-4]), "a block of %d bytes holds more than one value", len(got))
}

func (m *managedModel) release(block *managedBlock) {
	m.live = slices.DeleteFunc(m.live, func(other *managedBlock) bool { return other == block })
	require.NoError(m.t, block.Release())
	m.inUse -= block.bytes
	m.frees++
}

func (m *managedModel) check() {
	t, s := struct{ require.TestingT }{m.t}, m.mgr.Stats()
	require.Equal(t, m.inUse, s.InUse)
	require.Equal(t, managedBudget-m.inUse, s.Remaining)
	require.Equal(t, m.peak, s.Peak)
	require.EqualValues(t, len(m.live), s.Blocks)
	require.Equal(t, m.allocations, s.Allocations)
	require.Equal(t, m.frees, s.Frees)
	require.Equal(t, m.failures, s.Failures)
	r := m.resource.Stats()
	require.GreaterOrEqual(t, r.InUse, s.InUse)
	require.Equal(t, r.Reserved, r.InUse+r.Held+r.Cached)
	require.LessOrEqual(t, r.Reserved, r.PeakReserved)
}
