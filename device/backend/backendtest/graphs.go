package backendtest

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

func testGraphs(t *testing.T, d backend.Device) {
	s := newStream(t, d)
	err := d.StreamBeginCapture(s)
	if d.Info().Kind != backend.CUDA {
		require.ErrorIs(t, err, backend.ErrNotSupported)
		testNoGraphs(t, d, s)
		return
	}
	if errors.Is(err, backend.ErrNotSupported) {
		t.Skipf("the driver is too old: %v", err)
	}
	require.NoError(t, err)
	empty, err := d.StreamEndCapture(s)
	require.NoError(t, err)
	require.NoError(t, d.GraphDestroy(empty), "a graph of nothing")

	t.Run("Replay", func(t *testing.T) { testGraphReplay(t, d) })
	t.Run("LostCapture", func(t *testing.T) { testLostCapture(t, d) })
	require.Error(t, d.StreamBeginCapture(0), "the default stream")
	_, err = d.StreamEndCapture(s)
	require.Error(t, err, "a stream that is not captured")
	require.ErrorIs(t, d.GraphDestroy(0), backend.ErrInvalidValue)
	require.ErrorIs(t, d.GraphLaunch(0, s), backend.ErrInvalidValue)
	require.ErrorIs(t, d.GraphExecutableDestroy(0), backend.ErrInvalidValue)
	_, err = d.GraphInstantiate(0)
	require.ErrorIs(t, err, backend.ErrInvalidValue)
}

func testNoGraphs(t *testing.T, d backend.Device, s backend.Stream) {
	_, err := d.StreamEndCapture(s)
	require.ErrorIs(t, err, backend.ErrNotSupported)
	require.ErrorIs(t, d.GraphDestroy(1), backend.ErrNotSupported)
	_, err = d.GraphInstantiate(1)
	require.ErrorIs(t, err, backend.ErrNotSupported)
	require.ErrorIs(t, d.GraphLaunch(1, s), backend.ErrNotSupported)
	require.ErrorIs(t, d.GraphExecutableDestroy(1), backend.ErrNotSupported)
}

// testGraphReplay captures a copy, a fill and a launch, checks that none runs before
// the graph is launched, and launches the graph on several streams.
func testGraphReplay(t *testing.T, d backend.Device) {
	const count = 1000
	module, err := d.ModuleLoad([]byte(addScalar))
	require.NoError(t, err)
	defer func() { require.NoError(t, d.ModuleUnload(module)) }()
	function, err := d.ModuleFunction(module, "add_scalar")
	require.NoError(t, err)
	from, to, sum := allocate(t, d, 4*count), allocate(t, d, 4*count), allocate(t, d, 4*count)
	require.NoError(t, d.Memset(from, 0x01010101, 4, count))
	require.NoError(t, d.Memset(to, 0, 4, count))
	require.NoError(t, d.Memset(sum, 0, 4, count))
	first := func(p backend.Pointer) uint32 { return binary.NativeEndian.Uint32(download(t, d, p, 4)) }

	s := newStream(t, d)
	require.NoError(t, d.StreamBeginCapture(s))
	require.NoError(t, d.CopyOnDeviceAsync(to, from, 4*count, s))
	require.NoError(t, d.MemsetAsync(to, 7, 4, 10, s))
	config := backend.LaunchConfig{Grid: backend.Dim3{X: 8}, Block: backend.Dim3{X: 128}, Stream: s}
	for _, p := range []backend.Pointer{to, sum} {
		// The arguments are read when the launch is captured.
		slots := []uint64{uint64(p), count, 5}
		require.NoError(t, d.Launch(function, config, slots, []uint32{0, 1, 2}))
		clear(slots)
	}
	graph, err := d.StreamEndCapture(s)
	require.NoError(t, err)
	executable, err := d.GraphInstantiate(graph)
	require.NoError(t, err)
	require.NoError(t, d.GraphDestroy(graph))
	require.NoError(t, d.Synchronize())
	assert.Zero(t, first(to), "what is captured does not run")

	const launches = 6
	streams := []backend.Stream{s, newStream(t, d), 0}
	for i := range launches {
		require.NoError(t, d.GraphLaunch(executable, streams[i%len(streams)]))
	}
	require.NoError(t, d.GraphExecutableDestroy(executable))
	require.NoError(t, d.Synchronize(), "what was launched still runs")
	assert.EqualValues(t, 7+5, first(to))
	assert.EqualValues(t, 0x01010101+5, first(to.Add(40)))
	assert.EqualValues(t, launches*5, first(sum.Add(4*(count-1))), "launches of one graph follow one another")

	require.NoError(t, d.MemsetAsync(to, 9, 4, count, s))
	require.NoError(t, d.StreamSynchronize(s))
	assert.EqualValues(t, 9, first(to), "the stream is an ordinary one again")
}

// testLostCapture makes queries that are not allowed on a captured stream.
func testLostCapture(t *testing.T, d backend.Device) {
	s := newStream(t, d)
	require.NoError(t, d.StreamBeginCapture(s))
	_, err := d.StreamQuery(s)
	require.ErrorIs(t, err, backend.ErrCapturing)
	_, err = d.StreamEndCapture(s)
	require.ErrorIs(t, err, backend.ErrCapturing)
	require.NoError(t, d.StreamSynchronize(s), "the capture has ended all the same")
	done, err := d.StreamQuery(s)
	require.NoError(t, err)
	require.True(t, done)
}
