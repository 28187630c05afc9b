package soak

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// TestCheckers writes one pattern and checks another, with every method of the device,
// every size of block and eight blocks in a launch.
func TestCheckers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		methods := []Method{Copies}
		if dev.Kind() == device.CUDA {
			methods = append(methods, Kernels)
		}
		for _, method := range methods {
			t.Run(method.String(), func(t *testing.T) { testChecker(t, dev, method) })
		}
	})
}

func testChecker(t *testing.T, dev *device.Device, method Method) {
	options, err := Options{Method: method, Goroutines: 2}.withDefaults(dev)
	require.NoError(t, err)
	r := &run{device: dev, options: options}
	defer func() { require.NoError(t, r.close()) }()
	require.NoError(t, r.open())
	c, on := r.workers[1].checker, r.lanes[1]

	var pieces []piece
	for i, bytes := range []uint64{8, 13, 1000, 64 << 10, 64<<10 + 8, 100_001, 3 << 20} {
		block, err := r.manager.Allocate(bytes, memory.AllocateOptions{Stream: on.Stream})
		require.NoError(t, err)
		defer func() { require.NoError(t, block.Release()) }()
		pieces = append(pieces, piece{block, newWriting(0, uint32(i+1))})
	}
	require.NoError(t, c.write(on, pieces, false))
	require.NoError(t, c.check(on, pieces, true))
	require.NoError(t, on.Synchronize(t.Context()))
	sound, err := c.tally()
	require.NoError(t, err)
	assert.Zero(t, sound.mismatches)
	assert.Empty(t, sound.first)
	assert.GreaterOrEqual(t, sound.bytes, uint64(8+8+1000+64<<10+3*3*edgeBytes))

	// Only the last block has another writer.
	last := len(pieces) - 1
	intruder := piece{pieces[last].block, newWriting(1, 77)}
	require.NoError(t, c.write(on, []piece{intruder}, true))
	require.NoError(t, c.check(on, pieces, false))
	require.NoError(t, on.Synchronize(t.Context()))
	found, err := c.tally()
	require.NoError(t, err)
	assert.Equal(t, 2*sound.bytes, found.bytes)
	assert.GreaterOrEqual(t, found.mismatches, uint64(3*edgeBytes/8))
	require.NotEmpty(t, found.first)
	for _, m := range found.first {
		assert.Equal(t, pieces[last].writing, m.Writing)
		assert.Equal(t, intruder.writing, m.Other)
		assert.Equal(t, intruder.block.Pointer(), m.Address)
		assert.Equal(t, intruder.block.Bytes(), m.Bytes)
		assert.Equal(t, 1, m.Stream)
		assert.Less(t, m.Offset, m.Bytes)
		assert.NotEqual(t, m.Expected, m.Found)
	}
}

func TestWriting(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		goroutine := rapid.IntRange(0, mostGoroutines-1).Draw(r, "goroutine")
		sequence := rapid.Uint32Range(1, 1<<fillSequenceBits-1).Draw(r, "sequence")
		index := rapid.Uint64Range(0, 1<<indexBits-1).Draw(r, "index")
		w := newWriting(goroutine, sequence)
		require.Equal(r, goroutine, w.Goroutine())
		require.Equal(r, sequence, w.Sequence())
		require.Equal(r, w, writingOfWord(w.seed()+index))
		require.Equal(r, w, writingOfFill(w.fill()))
		require.Equal(r, w, w.known(goroutine+1))
		require.Zero(r, w.known(goroutine))
	})
	require.Zero(t, newWriting(3, 0).known(4), "no goroutine begins with zero")
}

func TestExtentsLieWithin(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		bytes := rapid.Uint64Range(leastBytes, 1<<20).Draw(r, "bytes")
		var end uint64
		for _, e := range extents(bytes) {
			require.GreaterOrEqual(r, e.offset, end, "extents are in order and apart")
			require.Zero(r, e.offset%fillBytes)
			require.Zero(r, e.bytes%fillBytes)
			end = e.offset + e.bytes
		}
		require.LessOrEqual(r, end, bytes)
		require.Less(r, bytes-end, uint64(fillBytes), "the end is among them")
	})
}

func TestMismatchReportsFoundValue(t *testing.T) {
	m := Mismatch{
		Writing: newWriting(3, 17), Address: 0x7f00, Bytes: 4096, Offset: 128,
		Expected: 0xab, Found: 0xcd, Other: newWriting(5, 2), Stream: 4,
	}
	assert.Equal(t, "writing 17 of goroutine 3 in 4096 bytes at 0x7f00, checked on stream 4: "+
		"offset 128 holds 0xcd, not 0xab, as by writing 2 of goroutine 5", m.String())
	err := &CorruptionError{Mismatches: 2, First: []Mismatch{m, m}}
	require.ErrorIs(t, err, ErrCorruption)
	assert.EqualError(t, err, "memory is corrupted: 2 words differ from what was written\n"+m.String()+"\n"+m.String())
}
