package streamcopy

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func TestCopyIsCopy(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{0, 1, 63, 1023, 1024, 1025, 4096, 70_001}).Draw(t, "size")
		from, to := rapid.IntRange(0, 130).Draw(t, "from"), rapid.IntRange(0, 130).Draw(t, "to")
		room := rapid.SampledFrom([]int{0, 1, 64, 5000}).Draw(t, "room")
		source := make([]byte, from+size)
		for i := range source {
			source[i] = byte(i*7 + i>>8)
		}
		got := bytes.Repeat([]byte{0xee}, to+size+room)
		want := bytes.Clone(got)
		n := copy(want[to:to+size], source[from:])
		require.Equal(t, n, Copy(got[to:to+size], source[from:]))
		require.True(t, bytes.Equal(want, got))
	})
}

func TestCopyUnequalLengths(t *testing.T) {
	long, short := make([]byte, 5000), bytes.Repeat([]byte{1}, 2000)
	require.Equal(t, 2000, Copy(long, short))
	require.Equal(t, 2000, bytes.Count(long, []byte{1}))
	require.Equal(t, 2000, Copy(short, long[2500:]))
	require.Zero(t, bytes.Count(short, []byte{1}))
}

func Example() {
	destination := make([]byte, 5)
	fmt.Println(Copy(destination, []byte("stream")), string(destination))
	// Output: 5 strea
}

func BenchmarkCopy(b *testing.B) {
	source, destination := make([]byte, 64<<20), make([]byte, 64<<20)
	for _, size := range []int{4 << 10, 128 << 10, 1 << 20, 64 << 20} {
		for name, function := range map[string]func(a, b []byte) int{
			"past": Copy, "through": func(a, b []byte) int { return copy(a, b) },
		} {
			b.Run(fmt.Sprintf("%dKiB/%s", size>>10, name), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					function(destination[:size], source[:size])
				}
			})
		}
	}
}
