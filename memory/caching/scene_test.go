package caching

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// scene is a caching resource on a simulated device, with streams and blocks.
type scene struct {
	t        require.TestingT
	sim      *simulated
	dev      *device.Device
	resource *Resource
	// streams are the open streams; all includes the closed ones, because their
	// fences are closed when they are collected.
	streams, all []*device.Stream
	live         []*sceneBlock
}

type sceneBlock struct {
	allocation resource.Allocation
	further    []*device.Stream
}

func (b *sceneBlock) node() *bestfit.Node { return b.allocation.Private.(*bestfit.Node) }
func (b *sceneBlock) address() uint64     { return uint64(b.allocation.Pointer) }

// smallSegments returns options with small segments.
func smallSegments(mode SegmentMode) Options {
	return Options{Segments: mode, SmallBytes: 8 << 10, SmallSegmentBytes: 64 << 10, LargeSegmentBytes: 256 << 10}
}

// newScene opens a device. The caller calls start and end.
func newScene(t require.TestingT) *scene {
	s := &scene{t: t}
	s.sim, s.dev = openSimulated(t)
	return s
}

func (s *scene) start(options Options) *scene {
	if options.Segments == FixedSegments && options.Upstream == nil {
		options.Upstream = newSimulatedUpstream(s.sim, s.dev)
	}
	var err error
	s.resource, err = New(s.dev, options)
	require.NoError(s.t, err)
	return s
}

func (s *scene) newStream() *device.Stream {
	stream, err := s.dev.NewStream()
	require.NoError(s.t, err)
	s.streams, s.all = append(s.streams, stream), append(s.all, stream)
	return stream
}

// close closes a stream. Its blocks stay allocated.
func (s *scene) close(stream *device.Stream) {
	require.NoError(s.t, stream.Close())
	s.streams = slices.DeleteFunc(s.streams, func(other *device.Stream) bool { return other == stream })
}

// tryAllocate allocates a block if there is enough memory.
func (s *scene) tryAllocate(bytes uint64, stream *device.Stream) (*sceneBlock, error) {
	allocation, err := s.resource.Allocate(bytes, stream)
	if err != nil {
		return nil, err
	}
	require.Equal(s.t, bytes, allocation.Bytes)
	require.Same(s.t, stream, allocation.Stream)
	block := &sceneBlock{allocation: allocation}
	require.GreaterOrEqual(s.t, block.node().Bytes, max(bytes, 1))
	s.sim.handOut(stream.Handle(), block.address(), block.node().Bytes)
	s.live = append(s.live, block)
	return block, nil
}

func (s *scene) allocate(bytes uint64, stream *device.Stream) *sceneBlock {
	block, err := s.tryAllocate(bytes, stream)
	require.NoError(s.t, err)
	return block
}

// use enqueues work with a block; on another stream it comes after the work of the
// block's own stream.
func (s *scene) use(block *sceneBlock, stream *device.Stream) {
	if stream != block.allocation.Stream {
		require.NoError(s.t, stream.WaitStream(block.allocation.Stream))
		if !slices.Contains(block.further, stream) {
			block.further = append(block.further, stream)
		}
	}
	require.NoError(s.t, stream.Enqueue(func(handle backend.Stream) error {
		s.sim.use(handle, block.address(), block.node().Bytes)
		return nil
	}))
}

// work enqueues work that uses no memory.
func (s *scene) work(stream *device.Stream) {
	require.NoError(s.t, stream.Enqueue(func(handle backend.Stream) error {
		s.sim.work(handle)
		return nil
	}))
}

func (s *scene) free(block *sceneBlock) {
	s.live = slices.DeleteFunc(s.live, func(other *sceneBlock) bool { return other == block })
	s.sim.takeBack(block.address(), block.node().Bytes)
	require.NoError(s.t, s.resource.Free(block.allocation, block.further))
}

// check fails the test if a rule was violated or the state is inconsistent.
func (s *scene) check() {
	s.sim.requireSound(s.t)
	var nodes []*bestfit.Node
	for _, block := range s.live {
		nodes = append(nodes, block.node())
	}
	checkBooks(s.t, s.resource, nodes)
}

// end frees the remaining blocks, closes everything and checks that nothing is left.
func (s *scene) end() {
	for len(s.live) > 0 {
		s.free(s.live[0])
	}
	s.check()
	require.NoError(s.t, s.resource.Close())
	s.closed()
}

// closed ends a scene with a closed resource.
func (s *scene) closed() {
	s.check()
	for len(s.streams) > 0 {
		s.close(s.streams[0])
	}
	s.sim.requireEmpty(s.t, s.dev, len(s.all))
}

// position returns the number of pieces of work enqueued on a stream so far.
func (s *scene) position(stream *device.Stream) uint64 {
	s.sim.mu.Lock()
	defer s.sim.mu.Unlock()
	return s.sim.streams[stream.Handle()].enqueued
}

// ordered returns the position up to which the work of one stream comes before the
// next work of another stream.
func (s *scene) ordered(later, earlier *device.Stream) uint64 {
	return s.sim.ordered(later.Handle(), earlier.Handle())
}
