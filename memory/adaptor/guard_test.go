package adaptor_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

func requireViolation(t *testing.T, err error, want adaptor.Violation) *adaptor.GuardError {
	t.Helper()
	var guard *adaptor.GuardError
	require.ErrorAs(t, err, &guard)
	require.ErrorIs(t, err, adaptor.ErrGuard)
	require.Equal(t, want, guard.Violation, "%v", err)
	assert.ErrorContains(t, err, want.String())
	return guard
}

func TestGuardRefusesWhatMustNotBeFreed(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream, other := newStream(t, dev), newStream(t, dev)
		guard := adaptor.NewGuard(foot, adaptor.GuardOptions{})
		allocation, err := guard.Allocate(1000, stream)
		require.NoError(t, err)
		require.NoError(t, guard.Check(allocation))
		assert.EqualValues(t, 1, guard.Generation(allocation))
		assert.Equal(t, 1, guard.Live())

		for name, test := range map[string]struct {
			change func(*resource.Allocation)
			want   adaptor.Violation
		}{
			"pointer":       {func(a *resource.Allocation) { a.Pointer++ }, adaptor.Altered},
			"fewer bytes":   {func(a *resource.Allocation) { a.Bytes-- }, adaptor.Altered},
			"more bytes":    {func(a *resource.Allocation) { a.Bytes++ }, adaptor.Altered},
			"stream":        {func(a *resource.Allocation) { a.Stream = other }, adaptor.Altered},
			"no generation": {func(a *resource.Allocation) { a.Private = nil }, adaptor.Unknown},
		} {
			wrong := allocation
			test.change(&wrong)
			requireViolation(t, guard.Check(wrong), test.want)
			failure := requireViolation(t, guard.Free(wrong, nil), test.want)
			assert.Equal(t, wrong.Pointer, failure.Block.Pointer, name)
			assert.Equal(t, wrong.Bytes, failure.Block.Bytes, name)
		}
		second := adaptor.NewGuard(foot, adaptor.GuardOptions{})
		requireViolation(t, second.Free(allocation, nil), adaptor.Unknown)
		assert.Zero(t, second.Generation(allocation), "every guard has generations of its own")

		require.NoError(t, guard.Free(allocation, nil))
		assert.Zero(t, guard.Live())
		failure := requireViolation(t, guard.Free(allocation, nil), adaptor.DoubleFree)
		assert.Equal(t, adaptor.GuardedBlock{Pointer: allocation.Pointer, Bytes: 1000, Generation: 1}, failure.Block)
		requireViolation(t, guard.Check(allocation), adaptor.DoubleFree)
	})
}

func TestGuardTellsAStaleCopy(t *testing.T) {
	guard := adaptor.NewGuard(&none{pointers: []device.Pointer{0x1000, 0x1000}}, adaptor.GuardOptions{})
	stale, err := guard.Allocate(64, nil)
	require.NoError(t, err)
	require.NoError(t, guard.Free(stale, nil))
	current, err := guard.Allocate(64, nil)
	require.NoError(t, err)
	failure := requireViolation(t, guard.Check(stale), adaptor.Stale)
	assert.EqualValues(t, 1, failure.Block.Generation)
	assert.EqualValues(t, 2, failure.Other.Generation)
	requireViolation(t, guard.Free(stale, nil), adaptor.Stale)
	require.NoError(t, guard.Check(current))
	require.NoError(t, guard.Free(current, nil))
}

func TestGuardFindsOverlaps(t *testing.T) {
	for name, test := range map[string]struct {
		pointer  device.Pointer
		bytes    uint64
		overlaps bool
	}{
		"ends where it begins":  {0x0f00, 0x100, false},
		"begins where it ends":  {0x1100, 0x100, false},
		"the same":              {0x1000, 0x100, true},
		"reaches in":            {0x0f00, 0x101, true},
		"begins within":         {0x10ff, 1, true},
		"lies within":           {0x1040, 0x10, true},
		"lies around":           {0x0f00, 0x1000, true},
		"around the second too": {0x0100, 0x8000, true},
		"between":               {0x1200, 0x100, false},
	} {
		t.Run(name, func(t *testing.T) {
			guard := adaptor.NewGuard(&none{pointers: []device.Pointer{0x1000, 0x3000, test.pointer}}, adaptor.GuardOptions{})
			first, err := guard.Allocate(0x100, nil)
			require.NoError(t, err)
			second, err := guard.Allocate(0x100, nil)
			require.NoError(t, err)
			third, err := guard.Allocate(test.bytes, nil)
			if test.overlaps {
				failure := requireViolation(t, err, adaptor.Overlap)
				assert.Equal(t, test.pointer, failure.Block.Pointer)
				assert.NotZero(t, failure.Other.Generation)
			} else {
				require.NoError(t, err)
				require.NoError(t, guard.Free(third, nil))
			}
			require.NoError(t, guard.Free(first, nil))
			require.NoError(t, guard.Free(second, nil))
			assert.Zero(t, guard.Live())
		})
	}
}

func TestGuardRedZones(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream, other := newStream(t, dev), newStream(t, dev)
		const size = 1000
		for name, test := range map[string]struct {
			at   int64
			want adaptor.Violation
		}{
			"inside":              {0, 0},
			"inside, at the end":  {size - 1, 0},
			"just before":         {-1, adaptor.WrittenBefore},
			"far before":          {-256, adaptor.WrittenBefore},
			"just after":          {size, adaptor.WrittenAfter},
			"far after":           {size + 255, adaptor.WrittenAfter},
			"after, in the slack": {size + 17, adaptor.WrittenAfter},
		} {
			t.Run(name, func(t *testing.T) {
				guard := adaptor.NewGuard(foot, adaptor.GuardOptions{RedZone: 100})
				allocation, err := guard.Allocate(size, stream)
				require.NoError(t, err)
				assert.Zero(t, uint64(allocation.Pointer)%64, "still aligned")
				require.NoError(t, other.WaitStream(stream))
				fill(t, allocation, other, 9)
				// The write is still pending when Free is called.
				fill(t, resource.Allocation{Pointer: allocation.Pointer + device.Pointer(test.at), Bytes: 1}, other, 9)
				err = guard.Free(allocation, []*device.Stream{other})
				if test.want == 0 {
					require.NoError(t, err)
					return
				}
				failure := requireViolation(t, err, test.want)
				assert.Equal(t, test.at, failure.Offset)
				requireViolation(t, guard.Free(allocation, nil), adaptor.DoubleFree)
			})
		}
		guard := adaptor.NewGuard(foot, adaptor.GuardOptions{RedZone: 1})
		_, err := guard.Allocate(math.MaxUint64-500, stream)
		require.ErrorIs(t, err, memory.ErrOverflow)
		guard = adaptor.NewGuard(foot, adaptor.GuardOptions{RedZone: math.MaxUint64})
		_, err = guard.Allocate(1, stream)
		require.ErrorIs(t, err, memory.ErrOverflow)
	})
}

func TestGuardRedZonesThatCannotBeMade(t *testing.T) {
	eachBase(t, func(t *testing.T, dev *device.Device, foot *ledger) {
		stream, err := dev.NewStream()
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		guard := adaptor.NewGuard(foot, adaptor.GuardOptions{RedZone: 1})
		_, err = guard.Allocate(1, stream)
		require.ErrorIs(t, err, memory.ErrClosed)
		assert.Zero(t, guard.Live())
	})
}
