package caching

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

// explored is a small scene in which the test tries every order of a few operations.
// The simulated device is the model: it records for all memory which work used it
// last, and records a fault if memory is allocated, used or unmapped before that
// work.
type explored struct {
	*scene
	streams [2]*device.Stream
	blocks  [2]*sceneBlock
}

// exploredSteps are the operations. Each returns whether it can be performed now.
var exploredSteps = []struct {
	name string
	do   func(e *explored) bool
}{
	{"allocate 0 on a", func(e *explored) bool { return e.take(0, 0) }},
	{"allocate 0 on b", func(e *explored) bool { return e.take(0, 1) }},
	{"allocate 1 on b", func(e *explored) bool { return e.take(1, 1) }},
	{"use 0 on its stream", func(e *explored) bool { return e.work(0, false) }},
	{"use 0 on the other stream", func(e *explored) bool { return e.work(0, true) }},
	{"use 1 on the other stream", func(e *explored) bool { return e.work(1, true) }},
	{"free 0", func(e *explored) bool { return e.give(0) }},
	{"free 1", func(e *explored) bool { return e.give(1) }},
	{"a goes on", func(e *explored) bool { return e.advance(0) }},
	{"b goes on", func(e *explored) bool { return e.advance(1) }},
	{"trim", func(e *explored) bool {
		_, err := e.resource.Trim(0)
		require.NoError(e.t, err)
		return true
	}},
}

func (e *explored) take(block, stream int) bool {
	if e.blocks[block] != nil {
		return false
	}
	// One segment holds one block: the second request has to reclaim or wait.
	b, err := e.tryAllocate(200<<10, e.streams[stream])
	if err != nil {
		require.ErrorIs(e.t, err, device.ErrOutOfMemory)
		require.NotNil(e.t, e.blocks[1-block], "memory that nobody holds can be had")
		return false
	}
	e.blocks[block] = b
	return true
}

func (e *explored) work(block int, other bool) bool {
	b := e.blocks[block]
	if b == nil {
		return false
	}
	stream := b.allocation.Stream
	if other {
		stream = e.streams[0]
		if stream == b.allocation.Stream {
			stream = e.streams[1]
		}
	}
	e.use(b, stream)
	return true
}

func (e *explored) give(block int) bool {
	if e.blocks[block] == nil {
		return false
	}
	e.free(e.blocks[block])
	e.blocks[block] = nil
	return true
}

func (e *explored) advance(stream int) bool {
	if e.completed(e.streams[stream]) == e.position(e.streams[stream]) {
		return false
	}
	e.sim.advance(e.streams[stream].Handle(), 1)
	return true
}

// TestEveryOrderOfAFewOperations tries every sequence of operations on two streams
// and two blocks, with memory for one and a half blocks: 4,000 sequences of five
// operations. GPUFRAME_EXPLORE_DEPTH=7 tries 350,000, which takes some minutes.
func TestEveryOrderOfAFewOperations(t *testing.T) {
	depth := 5
	if deeper, err := strconv.Atoi(os.Getenv("GPUFRAME_EXPLORE_DEPTH")); err == nil {
		depth = deeper
	} else if testing.Short() {
		depth = 4
	}
	for name, mode := range map[string]SegmentMode{"fixed": FixedSegments, "expandable": ExpandableSegments} {
		t.Run(name, func(t *testing.T) {
			sequences := 0
			exploreFrom(t, mode, nil, depth, &sequences)
			t.Logf("%d sequences of at most %d operations", sequences, depth)
			require.Greater(t, sequences, 500)
		})
	}
}

// exploreFrom runs a sequence and, if its last operation could be performed, all
// sequences that begin with it.
func exploreFrom(t *testing.T, mode SegmentMode, sequence []int, depth int, sequences *int) {
	*sequences++
	if !runSequence(t, mode, sequence) || len(sequence) == depth {
		return
	}
	for next := range exploredSteps {
		exploreFrom(t, mode, append(sequence[:len(sequence):len(sequence)], next), depth, sequences)
	}
}

// runSequence reports whether the last operation could be performed.
func runSequence(t *testing.T, mode SegmentMode, sequence []int) (done bool) {
	defer func() {
		if t.Failed() {
			for _, step := range sequence {
				fmt.Println(exploredSteps[step].name)
			}
		}
	}()
	e := &explored{scene: newScene(t)}
	options := smallSegments(mode)
	options.LimitBytes = 320 << 10
	options.LargeSegmentBytes = 256 << 10
	e.start(options)
	for i := range e.streams {
		e.streams[i] = e.newStream()
		e.resource.cacheOf(e.streams[i]) // so that the resource has two streams
	}
	done = true
	for _, step := range sequence {
		done = exploredSteps[step].do(e)
	}
	e.check()
	e.end()
	return done
}
