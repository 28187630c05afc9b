package checks_test

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestManyChecks runs checks of every kind in one batch, and makes one element after
// another invalid.
func TestManyChecks(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		offsets := encoded([]int64{0, 2, 2, 5}, 4)
		wide := encoded([]int64{7, 8, 1 << 40}, 8)
		ends := encoded([]int64{2, 3, 9}, 2)
		lists, sizes := encoded([]int64{4, 0, 1}, 4), encoded([]int64{1, 5, 2}, 4)
		views := encoded([]int64{5, 0, 0, 0, 20, 0, 1, 10}, 4)
		ids, slots := []byte{0, 7, 7}, encoded([]int64{0, 0, 1}, 4)
		indices := encoded([]int64{0, 3, -1}, 1)
		bits := []byte{0b011}
		all := [][]byte{offsets, wide, ends, lists, sizes, views, ids, slots, indices, bits}
		add := func(b *checks.Batch) (made []checks.Check) {
			s.used = 0
			buffer := make([]checks.Buffer, len(all))
			for i, bytes := range all {
				buffer[i] = s.put(bytes, 0)
			}
			of := func(i, n int) checks.Elements { return checks.Elements{Buffer: buffer[i], Count: n} }
			validity := checks.Validity{Bits: buffer[9]}
			return []checks.Check{
				b.Offsets("offsets", 4, of(0, 3), 5),
				b.Offsets("large offsets", 8, of(1, 2), -1),
				b.RunEnds("run ends", 2, of(2, 3), 8),
				b.ListViews("list views", 4, of(3, 3), buffer[4], 5),
				b.BinaryViews("views", of(5, 2), checks.Validity{}, []int64{1, 30}),
				b.TypeIDs("type ids", of(6, 3), checks.NewTypeIDs[int8](0, 7)),
				b.DenseOffsets("dense offsets", buffer[6], of(7, 3), []int64{0: 1, 7: 2}),
				b.Indices("indices", checks.Integer{Width: 1, Signed: true}, of(8, 3), validity, 4),
				b.Valid("validity", validity, 3, 1),
				b.Valid("no validity", checks.Validity{}, 3, 0),
				b.Offsets("nothing", 4, checks.Elements{}, 0),
			}
		}
		b := checks.NewBatch(s.manager, nil)
		made := add(b)
		require.Equal(t, len(made), b.Len())
		for range 2 {
			results, err := b.Run(t.Context())
			require.NoError(t, err)
			var first, last []int64
			for _, c := range made[:3] {
				first, last = append(first, results.First(c)), append(last, results.Last(c))
			}
			assert.Equal(t, []int64{0, 7, 2}, first)
			assert.Equal(t, []int64{5, 1 << 40, 9}, last)
			assert.EqualValues(t, 2, results.Valid(made[8]))
			assert.EqualValues(t, 3, results.Valid(made[9]))
			assert.Zero(t, results.Last(made[10]))
			assert.Zero(t, results.Last(checks.Check(99)))
		}
		for i, name := range []string{"offsets", "large offsets", "run ends", "list views", "list views", "views", "type ids", "dense offsets", "indices", "validity"} {
			good := all[i]
			all[i] = append([]byte(nil), good...)
			for j := range all[i] {
				all[i][j] = 0xff
			}
			// Later checks may fail now too: the first failure is reported.
			b.Reset()
			require.Zero(t, b.Len())
			add(b)
			_, err := b.Run(t.Context())
			var found *checks.ElementError
			require.ErrorAs(t, err, &found, name)
			if name == "validity" {
				name = "indices" // the last is no longer null
			}
			require.Equal(t, name, found.Name)
			all[i] = good
		}
	})
}

// TestLongOffsets is long enough for every thread of a GPU to iterate its loop more
// than once.
func TestLongOffsets(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		n := 1<<20 + 3
		if s.manager.Device().Info().Multiprocessors > 8 {
			n = 1<<25 + 3
		}
		bytes := make([]byte, 4*(n+1))
		for i := range n + 1 {
			binary.NativeEndian.PutUint32(bytes[4*i:], uint32(i))
		}
		block, err := s.manager.Allocate(uint64(len(bytes)+4), memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, block.Release()) }()
		for _, shift := range []uint64{0, 4} {
			offsets, err := memory.View[uint8](block, shift, len(bytes))
			require.NoError(t, err)
			require.NoError(t, offsets.Upload(t.Context(), nil, bytes))
			run := func() error {
				_, _, err := s.run(func(b *checks.Batch) checks.Check {
					return b.Offsets("the check", 4, checks.Elements{Buffer: offsets, Count: n}, int64(n))
				})
				return err
			}
			require.NoError(t, run())
			// From the end, so that each is the first wrong one.
			for _, at := range []int{n, n - 1, n - 600, n / 2, 70_000, 512, 511, 4, 3, 1, 0} {
				one, err := offsets.Slice(4*at, 4*at+4)
				require.NoError(t, err)
				require.NoError(t, one.Upload(t.Context(), nil, encoded([]int64{-1}, 4)))
				s.requireFound(run(), at)
			}
		}
	})
}

func TestNothingToDo(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		before := s.manager.Stats()
		b := checks.NewBatch(s.manager, nil)
		_, err := b.Run(t.Context())
		require.NoError(t, err)
		b.Offsets("no offsets", 4, checks.Elements{}, 0)
		b.RunEnds("no run ends", 8, checks.Elements{}, 0)
		b.ListViews("no lists", 4, checks.Elements{}, checks.Buffer{}, 0)
		b.BinaryViews("no views", checks.Elements{}, checks.Validity{}, nil)
		b.TypeIDs("no ids", checks.Elements{}, checks.TypeIDs{})
		b.DenseOffsets("no dense offsets", checks.Buffer{}, checks.Elements{}, nil)
		b.Indices("no indices", checks.Integer{Width: 4}, checks.Elements{}, checks.Validity{}, 0)
		b.Valid("no validity", checks.Validity{}, 0, 0)
		bytes := s.put(make([]byte, 9), 0)
		b.Indices("a type that is narrow enough", checks.Integer{Width: 1}, checks.Elements{Buffer: bytes, Count: 9}, checks.Validity{}, 256)
		_, err = b.Run(t.Context())
		require.NoError(t, err)
		assert.Equal(t, before.Allocations, s.manager.Stats().Allocations)
	})
}

func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		eight := s.put(make([]byte, 8), 0)
		one, err := s.manager.Allocate(8, memory.AllocateOptions{})
		require.NoError(t, err)
		released, err := memory.View[uint8](one, 0, 8)
		require.NoError(t, err)
		require.NoError(t, one.Release())
		other := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
		elsewhere, err := memory.NewSlice[uint8](other, 8, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, elsewhere.Release()) }()
		type batch = *checks.Batch
		of := func(first, n int) checks.Elements { return checks.Elements{Buffer: eight, First: first, Count: n} }
		no := checks.Validity{}
		for _, test := range []struct {
			name string
			add  func(b batch) checks.Check
			want error
			text string
		}{
			{"one offset too few", func(b batch) checks.Check { return b.Offsets("it", 4, of(0, 2), 0) }, memory.ErrRange, "it: 3 elements of 4 bytes from element 0 on, in a buffer of 8 bytes"},
			{"no buffer", func(b batch) checks.Check { return b.Offsets("it", 4, checks.Elements{Count: 1}, 0) }, memory.ErrRange, "in a buffer of 0 bytes"},
			{"negative first", func(b batch) checks.Check { return b.RunEnds("it", 4, of(-1, 1), 0) }, memory.ErrRange, "from element -1 on"},
			{"negative count", func(b batch) checks.Check { return b.RunEnds("it", 4, of(0, -1), 0) }, memory.ErrRange, "-1 elements"},
			{"most there can be", func(b batch) checks.Check { return b.Offsets("it", 4, of(0, math.MaxInt), 0) }, memory.ErrRange, "it: "},
			{"first beyond all", func(b batch) checks.Check { return b.TypeIDs("it", of(math.MaxInt, 1), checks.TypeIDs{}) }, memory.ErrRange, "it: "},
			{"width of offsets", func(b batch) checks.Check { return b.Offsets("it", 2, of(0, 1), 0) }, device.ErrInvalidValue, "a width of 2 bytes: expected one of [4 8]"},
			{"width of run ends", func(b batch) checks.Check { return b.RunEnds("it", 1, of(0, 1), 0) }, device.ErrInvalidValue, "a width of 1 bytes"},
			{"width of lists", func(b batch) checks.Check { return b.ListViews("it", 16, of(0, 1), eight, 0) }, device.ErrInvalidValue, "a width of 16 bytes"},
			{"width of indices", func(b batch) checks.Check { return b.Indices("it", checks.Integer{}, of(0, 1), no, 0) }, device.ErrInvalidValue, "a width of 0 bytes"},
			{"negative dictionary", func(b batch) checks.Check { return b.Indices("it", checks.Integer{Width: 1}, of(0, 1), no, -1) }, device.ErrInvalidValue, "a dictionary of -1 elements"},
			{"sizes too short", func(b batch) checks.Check { return b.ListViews("it", 4, of(0, 2), checks.Buffer{}, 0) }, memory.ErrRange, "it: sizes: 2 elements"},
			{"views too short", func(b batch) checks.Check { return b.BinaryViews("it", of(0, 1), no, nil) }, memory.ErrRange, "1 elements of 16 bytes"},
			{"ids too short", func(b batch) checks.Check { return b.DenseOffsets("it", checks.Buffer{}, of(0, 2), nil) }, memory.ErrRange, "it: type ids: 2 elements"},
			{"too many ids", func(b batch) checks.Check { return b.DenseOffsets("it", eight, of(0, 2), make([]int64, 129)) }, device.ErrInvalidValue, "129 children by type id"},
			{"bits too few", func(b batch) checks.Check { return b.Valid("it", checks.Validity{Bits: eight, Offset: 1}, 64, -1) }, memory.ErrRange, "validity bits of 64 slots from bit 1 on, in 8 bytes"},
			{"negative bits", func(b batch) checks.Check { return b.Valid("it", no, -1, -1) }, memory.ErrRange, "validity bits of -1 slots"},
			{"negative bit offset", func(b batch) checks.Check { return b.Valid("it", checks.Validity{Bits: eight, Offset: -1}, 1, -1) }, memory.ErrRange, "from bit -1 on"},
			{"released", func(b batch) checks.Check {
				return b.TypeIDs("it", checks.Elements{Buffer: released, Count: 8}, checks.TypeIDs{})
			}, memory.ErrReleased, "it: check the contents"},
			{"another device", func(b batch) checks.Check {
				return b.TypeIDs("it", checks.Elements{Buffer: elsewhere, Count: 8}, checks.NewTypeIDs[int8](0))
			}, device.ErrInvalidValue, "it: check the contents: the memory is on host"},
		} {
			t.Run(test.name, func(t *testing.T) {
				if test.name == "another device" && s.manager.Device().Kind() == device.Host {
					t.Skip("there is only one host")
				}
				_, _, err := s.run(test.add)
				require.ErrorIs(t, err, test.want)
				assert.NotErrorIs(t, err, checks.ErrOutOfRange)
				assert.ErrorContains(t, err, test.text)
			})
		}
	})
}

func TestStreams(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		dev := s.manager.Device()
		other, err := dev.NewStream()
		require.NoError(t, err)
		ids := s.put(make([]byte, 1000), 0)
		b := checks.NewBatch(s.manager, other)
		b.TypeIDs("ids", checks.Elements{Buffer: ids, Count: 1000}, checks.NewTypeIDs[int8](1))
		// Written on the manager's stream: the check is ordered after it.
		require.NoError(t, ids.Fill(nil, 1))
		_, err = b.Run(t.Context())
		require.NoError(t, err)

		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(io.ErrClosedPipe)
		_, err = b.Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, io.ErrClosedPipe)

		require.NoError(t, other.Synchronize(t.Context()))
		require.NoError(t, other.Close())
		_, err = b.Run(t.Context())
		require.ErrorIs(t, err, device.ErrClosed)
	})
}
