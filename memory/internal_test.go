package memory

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

// A caller that refers to an earlier block does not complete uses in the list of a later one.
func TestUseListOfALaterBlock(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	var uses useList
	own := host.DefaultStream()
	uses.record(1, own, own, false)
	_, token, pending := uses.pending(1, own)
	require.True(t, pending)

	uses.record(2, own, own, false)
	uses.complete(1, token)
	uses.record(1, own, own, false)
	_, second, pending := uses.pending(2, own)
	require.True(t, pending, "an earlier block's wait says nothing of this one")
	assert.EqualValues(t, 2, second)
	uses.complete(2, second)
	_, _, pending = uses.pending(2, own)
	require.False(t, pending)
}

func TestUseListForgetsIdleStreams(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	var uses useList
	for range 10 * manyStreams {
		stream, err := host.NewStream()
		require.NoError(t, err)
		uses.record(1, host.DefaultStream(), stream, false)
		require.NoError(t, stream.Close())
		require.NoError(t, host.Synchronize(context.Background()))
	}
	further, _, _ := uses.pending(1, host.DefaultStream())
	assert.LessOrEqual(t, len(further), manyStreams+1, "the own stream with them")
}

// Completed work on the block's own stream is not queried again while another stream
// still works.
func TestUseListKnowsTheOwnStreamApart(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	other, err := host.NewStream()
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	var uses useList
	own := host.DefaultStream()
	uses.record(1, own, other, false)
	streams, token, _ := uses.pending(1, own)
	assert.Equal(t, []*device.Stream{other, own}, streams, "the allocation is a use")
	uses.completeOwn(1, token)
	streams, _, pending := uses.pending(1, own)
	assert.True(t, pending)
	assert.Equal(t, []*device.Stream{other}, streams)
	uses.record(1, own, own, false)
	streams, _, _ = uses.pending(1, own)
	assert.Equal(t, []*device.Stream{other, own}, streams)
	uses.completeOwn(0, token+5)
	streams, _, _ = uses.pending(1, own)
	assert.Equal(t, []*device.Stream{other, own}, streams, "an earlier block's")
}

func TestExportsOfALaterBlockAtTheSameAddress(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	m, err := NewManager(host, Options{})
	require.NoError(t, err)
	block, err := m.Allocate(100, AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, block.BeginExport())
	_, found := FindExported(block.Pointer(), ^uint64(0))
	require.False(t, found, "a length that wraps around fits nothing")

	stale := &Block{state: block.state, generation: block.generation - 1, manager: m}
	require.ErrorIs(t, stale.EndExport(), ErrReleased)
	_, found = FindExported(block.Pointer(), 100)
	require.True(t, found, "another block's end does not end this one's export")
	require.NoError(t, block.Release())
	require.NoError(t, block.EndExport())
	require.NoError(t, block.Release())
	require.ErrorIs(t, m.Close(), ErrLeak, "a release too many is told")
}

func TestMisalignedViews(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	m, err := NewManager(host, Options{})
	require.NoError(t, err)
	block, err := m.Allocate(64, AllocateOptions{})
	require.NoError(t, err)
	_, err = View[float64](block, 4, 1)
	require.ErrorIs(t, err, ErrRange)
	bytes, err := View[uint8](block, 1, 8)
	require.NoError(t, err)
	_, err = Reinterpret[int16](bytes)
	require.ErrorIs(t, err, ErrRange)
	require.NoError(t, block.Release())
	require.NoError(t, m.Close())
}

func TestSourcesThatSayTwoThings(t *testing.T) {
	host, err := device.Open("host")
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Close()) }()
	m, err := NewManager(host, Options{})
	require.NoError(t, err)
	slice, err := NewSlice[uint8](m, 64, AllocateOptions{})
	require.NoError(t, err)
	fill := func([]byte, uint64) {}
	for name, source := range map[string]Source{
		"data and fill":   {Data: []byte{1}, Fill: fill, Bytes: 1},
		"bytes of nobody": {Bytes: 3},
	} {
		require.ErrorIs(t, Upload(t.Context(), nil, slice, []Source{source}), device.ErrInvalidValue, name)
	}
	require.NoError(t, slice.Release())
	require.NoError(t, m.Close())
}
