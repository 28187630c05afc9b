package checks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// each runs f on every device, and on one that imitates a GPU.
func each(t *testing.T, f func(t *testing.T, s *scene)) {
	t.Helper()
	on := func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		block, err := m.Allocate(sceneBytes, memory.AllocateOptions{Tag: "inputs"})
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, block.Release())
			require.Zero(t, m.Stats().InUse)
			require.Zero(t, m.Stats().Blocks)
		})
		f(t, &scene{t: t, manager: m, block: block})
	}
	devicetest.EachKernel(t, on)
	t.Run("passes for a GPU", func(t *testing.T) { on(t, launchtest.Open(t, &launchtest.GPU{Kernels: checks.Kernels()})) })
}

const sceneBytes = 1 << 20

// scene is memory in which buffers can begin at any byte.
type scene struct {
	t       require.TestingT
	manager *memory.Manager
	block   *memory.Block
	used    int
}

// property checks f on the scene.
func (s *scene) property(t *testing.T, f func(r *rapid.T)) {
	property.Check(t, func(r *rapid.T) {
		before := s.t
		s.t, s.used = r, 0
		defer func() { s.t = before }()
		f(r)
	})
}

// put uploads bytes that begin shift bytes after a 64-byte boundary.
func (s *scene) put(bytes []byte, shift int) checks.Buffer {
	at := (s.used+63)/64*64 + shift
	s.used = at + len(bytes)
	buffer, err := memory.View[uint8](s.block, uint64(at), len(bytes))
	require.NoError(s.t, err)
	require.NoError(s.t, buffer.Upload(context.Background(), nil, bytes))
	return buffer
}

// run runs one check and returns the error, and the results for it.
func (s *scene) run(add func(b *checks.Batch) checks.Check) (checks.Results, checks.Check, error) {
	b := checks.NewBatch(s.manager, nil)
	c := add(b)
	results, err := b.Run(context.Background())
	return results, c, err
}

// requireFound requires that the error names the element, or that no error occurred for
// −1.
func (s *scene) requireFound(err error, element int) {
	if element < 0 {
		require.NoError(s.t, err)
		return
	}
	require.ErrorIs(s.t, err, checks.ErrOutOfRange)
	var found *checks.ElementError
	require.True(s.t, errors.As(err, &found))
	require.Equal(s.t, "the check", found.Name)
	require.EqualValues(s.t, element, found.Index, err.Error())
	require.NotContains(s.t, err.Error(), "a moment ago", "what is wrong is not explained")
}

// encoded encodes numbers in little-endian order, dropping bytes above the width.
func encoded(values []int64, width int) []byte {
	out := make([]byte, 0, len(values)*width)
	for _, v := range values {
		switch width {
		case 1:
			out = append(out, byte(v))
		case 2:
			out = binary.NativeEndian.AppendUint16(out, uint16(v))
		case 4:
			out = binary.NativeEndian.AppendUint32(out, uint32(v))
		default:
			out = binary.NativeEndian.AppendUint64(out, uint64(v))
		}
	}
	return out
}

// counts generates numbers of elements near the sizes that matter to the kernels:
// vectors, warps, tiles and blocks.
func counts() *rapid.Generator[int] {
	return rapid.OneOf(
		rapid.IntRange(0, 40),
		rapid.SampledFrom([]int{63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 527, 528, 1023, 1025, 4095, 4096, 4097}),
		rapid.IntRange(0, 5000),
	)
}

// shifts generates distances of memory from a boundary: aligned to 16, to less, and
// not.
func shifts() *rapid.Generator[int] {
	return rapid.SampledFrom([]int{0, 0, 0, 16, 8, 8, 4, 4, 12, 2, 6, 1, 3, 7, 15})
}

// extremes generates numbers that a producer may get wrong.
func extremes(width int) *rapid.Generator[int64] {
	most := int64(1)<<(8*width-1) - 1
	return rapid.OneOf(
		rapid.SampledFrom([]int64{-1, 0, 1, most, most - 1, -most, -most - 1}),
		rapid.Int64Range(-most-1, most),
		rapid.Int64Range(-3, 3000),
	)
}

// bitmap draws validity bits for n slots, and their offset.
func bitmap(r *rapid.T, s *scene, n int) (v checks.Validity, valid func(i int) bool) {
	if rapid.Bool().Draw(r, "no bitmap") {
		return checks.Validity{}, func(int) bool { return true }
	}
	offset := rapid.IntRange(0, 70).Draw(r, "bit offset")
	size := (offset + n + 7) / 8
	bits := rapid.SliceOfN(rapid.Byte(), size, size).Draw(r, "bits")
	v = checks.Validity{Bits: s.put(bits, rapid.IntRange(0, 17).Draw(r, "bits begin")), Offset: offset}
	return v, func(i int) bool { return bits[(offset+i)/8]>>((offset+i)%8)&1 != 0 }
}
