package host

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func TestMoveIsCopy(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 300).Draw(t, "size")
		distance := rapid.IntRange(0, 320).Draw(t, "distance")
		requireMoves(t, size, distance, rapid.Bool().Draw(t, "upwards"))
	})
}

// TestSharedMoveIsCopy tests sizes that several goroutines copy, and overlaps, which
// one goroutine must copy at any size.
func TestSharedMoveIsCopy(t *testing.T) {
	for _, upwards := range []bool{true, false} {
		for _, size := range []int{sharedCopy - 1, sharedCopy, sharedCopy + 1, 2*sharedCopy + 7} {
			requireMoves(t, size, size, upwards)
			requireMoves(t, size, 100, upwards)
		}
	}
}

// requireMoves moves between two ranges of one memory.
func requireMoves(t require.TestingT, size, distance int, upwards bool) {
	memory := make([]byte, size+distance+1)
	for i := range memory {
		memory[i] = byte(i * 7 >> 3)
	}
	want := bytes.Clone(memory)
	from, to := distance, 0
	if upwards {
		from, to = to, from
	}
	copy(want[to:to+size], want[from:from+size])
	move(start(memory[to:]), start(memory[from:]), uint64(size))
	require.True(t, bytes.Equal(want, memory), "%d bytes from %d to %d", size, from, to)
}

func TestFillWritesEachElement(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "width")
		count := rapid.OneOf(
			rapid.IntRange(0, 50),
			rapid.IntRange(fillBlock/4-2, fillBlock*3),
		).Draw(t, "count")
		value := rapid.Uint32().Draw(t, "value")

		memory := make([]byte, width*(count+1)) // one element that stays
		fill(start(memory), value, width, uint64(width*count))

		element := binary.NativeEndian.AppendUint32(nil, value)
		switch width {
		case 1:
			element = []byte{byte(value)}
		case 2:
			element = binary.NativeEndian.AppendUint16(nil, uint16(value))
		}
		want := append(bytes.Repeat(element, count), make([]byte, width)...)
		require.True(t, bytes.Equal(want, memory))
	})
}
