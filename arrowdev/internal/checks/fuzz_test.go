package checks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// FuzzHost checks random bytes as every kind of elements, and compares the host's
// results with the models.
func FuzzHost(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0}, uint8(0), uint8(0), int64(5))
	f.Add([]byte{1, 0, 2, 0, 2, 0}, uint8(1), uint8(0), int64(2))
	f.Add([]byte{9, 3, 0xff, 1}, uint8(2), uint8(1), int64(4))
	f.Add([]byte{20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}, uint8(3), uint8(0), int64(23))
	f.Add([]byte{1, 0, 0, 0, 2, 0, 0, 0}, uint8(4), uint8(0), int64(3))
	dev, err := device.Open("host")
	require.NoError(f, err)
	m, err := memory.NewManager(dev, memory.Options{})
	require.NoError(f, err)
	f.Cleanup(func() {
		require.NoError(f, m.Close())
		require.NoError(f, dev.Close())
	})
	f.Fuzz(func(t *testing.T, bytes []byte, kind, first uint8, limit int64) {
		buffer, err := memory.NewSlice[uint8](m, len(bytes), memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, buffer.Release()) }()
		require.NoError(t, buffer.Upload(context.Background(), nil, bytes))
		width := []int{4, 2, 1, 16, 4}[kind%5]
		n := max(0, len(bytes)/width-int(first))
		if n == 0 {
			first = 0
		}
		words := decoded(bytes[int(first)*width:][:n*width], min(width, 4))
		elements := checks.Elements{Buffer: buffer, First: int(first), Count: n}
		b := checks.NewBatch(m, nil)
		want := -1
		switch kind % 5 {
		case 0:
			elements.Count = max(0, n-1)
			b.Offsets("it", width, elements, limit)
			if n > 1 {
				want = firstDisorder(words, limit, false)
			}
		case 1:
			b.RunEnds("it", width, elements, 0)
			want = firstDisorder(words, -1, true)
		case 2:
			limit &= 1<<62 - 1
			of := checks.Integer{Width: width, Signed: first%2 == 0}
			b.Indices("it", of, elements, checks.Validity{}, limit)
			for i := n - 1; i >= 0; i-- {
				if beyond(words[i], of, limit) {
					want = i
				}
			}
		case 3:
			b.BinaryViews("it", elements, checks.Validity{}, []int64{0, limit})
			for i := n - 1; i >= 0; i-- {
				length, in, at := words[4*i], words[4*i+2], words[4*i+3]
				inside := length > 12 && at >= 0 && (in == 0 && at+length <= 0 || in == 1 && at+length <= limit)
				if !inside && (length < 0 || length > 12) {
					want = i
				}
			}
		case 4:
			b.ListViews("it", width, elements, buffer, limit)
			for i := n - 1; i >= 0; i-- {
				if words[i] < 0 || limit >= 0 && 2*words[i] > limit {
					want = i
				}
			}
		}
		_, err = b.Run(context.Background())
		var found *checks.ElementError
		switch {
		case want < 0:
			require.NoError(t, err)
		default:
			require.True(t, errors.As(err, &found))
			require.EqualValues(t, want+int(first), found.Index)
		}
	})
}

// decoded reads signed little-endian numbers, byte by byte.
func decoded(bytes []byte, width int) []int64 {
	var values []int64
	for ; len(bytes) >= width; bytes = bytes[width:] {
		var v uint64
		for i, b := range bytes[:width] {
			v |= uint64(b) << (8*i + 64 - 8*width)
		}
		values = append(values, int64(v)>>(64-8*width))
	}
	return values
}
