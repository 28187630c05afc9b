package backendtest

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// needs skips the test if an operation is not supported. The device's attribute must
// agree.
func needs(t *testing.T, d backend.Device, attribute backend.Attribute, err error) {
	t.Helper()
	if !errors.Is(err, backend.ErrNotSupported) {
		require.NoError(t, err)
		return
	}
	if value, failure := d.Attribute(attribute); failure == nil {
		require.Zero(t, value, "attribute %d says that the device can what it refuses: %v", attribute, err)
	}
	t.Skip(err)
}

// granularity skips the test on a device that cannot map memory.
func granularity(t *testing.T, d backend.Device) uint64 {
	t.Helper()
	unit, err := d.PhysicalGranularity()
	needs(t, d, backend.VirtualMemoryManagement, err)
	require.NotZero(t, unit)
	require.Zero(t, unit&(unit-1), "granularity %d", unit)
	return unit
}

// The functions here create objects for the length of a test. Cleanups run in reverse
// order, so a mapping ends before its memory and its reservation.

func reserve(t *testing.T, d backend.Device, bytes, alignment uint64) backend.Pointer {
	t.Helper()
	p, err := d.AddressReserve(bytes, alignment)
	require.NoError(t, err)
	require.NotZero(t, p)
	t.Cleanup(func() { require.NoError(t, d.AddressFree(p, bytes)) })
	return p
}

func physical(t *testing.T, d backend.Device, bytes uint64) backend.Physical {
	t.Helper()
	h, err := d.PhysicalCreate(bytes)
	require.NoError(t, err)
	require.NotZero(t, h)
	t.Cleanup(func() { require.NoError(t, d.PhysicalRelease(h)) })
	return h
}

func mapAt(t *testing.T, d backend.Device, at backend.Pointer, bytes uint64, h backend.Physical) {
	t.Helper()
	require.NoError(t, d.Map(at, bytes, 0, h))
	t.Cleanup(func() { require.NoError(t, d.Unmap(at, bytes)) })
}

// testVirtualMoves maps memory in the middle of a range, and then at another place.
func testVirtualMoves(t *testing.T, d backend.Device) {
	unit := granularity(t, d)
	again, err := d.PhysicalGranularity()
	require.NoError(t, err)
	require.Equal(t, unit, again)
	bytes := 32 * unit // 64 MiB on current GPUs
	base := reserve(t, d, bytes, 4*unit)
	require.Zero(t, uint64(base)%(4*unit), "aligned")
	first, second := physical(t, d, unit), physical(t, d, 2*unit)

	at := base.Add(3 * unit)
	require.NoError(t, d.Map(at, unit, 0, first))
	require.NoError(t, d.SetAccess(at, unit))
	content := pattern(int(unit), 11)
	require.NoError(t, d.Memset(at, 0x5A, 1, unit))
	require.NoError(t, d.CopyToDevice(at.Add(1), start(content[1:]), unit-2))
	content[0], content[unit-1] = 0x5A, 0x5A
	requireBytes(t, content, download(t, d, at, int(unit)), "through the first mapping")

	info, err := d.PointerInfo(at.Add(unit - 1))
	require.NoError(t, err)
	own := backend.MemoryDevice
	if d.Info().Kind == backend.Host {
		own = backend.MemoryHost
	}
	assert.Equal(t, backend.PointerInfo{Kind: own, Ordinal: d.Info().Ordinal}, info)
	mapped, length, err := d.AddressRange(at.Add(unit / 2))
	require.NoError(t, err)
	assert.Equal(t, at, mapped, "a mapping is an allocation of its own")
	assert.Equal(t, unit, length)

	require.NoError(t, d.Synchronize())
	require.NoError(t, d.Unmap(at, unit))
	mapAt(t, d, base, unit, first)
	mapAt(t, d, base.Add(unit), 2*unit, second)
	require.NoError(t, d.SetAccess(base, 3*unit), "two mappings at once")
	requireBytes(t, content, download(t, d, base, int(unit)), "the same memory elsewhere")

	// Work crosses the border of two mappings, in stream order too.
	s := newStream(t, d)
	long, result := pinned(t, d, int(2*unit)), pinned(t, d, int(2*unit))
	copy(long, pattern(int(2*unit), 12))
	across := base.Add(unit / 2)
	require.NoError(t, d.CopyToDeviceAsync(across, start(long), 2*unit, s))
	require.NoError(t, d.MemsetAsync(base.Add(unit-4), 0x33333333, 4, 2, s))
	require.NoError(t, d.CopyToHostAsync(start(result), across, 2*unit, s))
	require.NoError(t, d.StreamSynchronize(s))
	for i := range long[unit/2-4 : unit/2+4] {
		long[unit/2-4+uint64(i)] = 0x33
	}
	requireBytes(t, long, result, "across two mappings")
	ordinary := allocate(t, d, 2*unit)
	require.NoError(t, d.CopyOnDevice(ordinary, across, 2*unit))
	requireBytes(t, long, download(t, d, ordinary, int(2*unit)), "to ordinary memory")
}

// testVirtualLifetime checks that memory outlives its handle while it is mapped.
func testVirtualLifetime(t *testing.T, d backend.Device) {
	unit := granularity(t, d)
	base := reserve(t, d, 2*unit, 0)
	content := pattern(int(unit), 13)
	h, err := d.PhysicalCreate(unit)
	require.NoError(t, err)
	require.NoError(t, d.Map(base, unit, 0, h))
	require.NoError(t, d.SetAccess(base, unit))
	require.NoError(t, d.CopyToDevice(base, start(content), unit))
	require.NoError(t, d.PhysicalRelease(h))
	requireBytes(t, content, download(t, d, base, int(unit)), "after the handle was released")
	require.NoError(t, d.Synchronize())
	require.NoError(t, d.Unmap(base, unit))

	// The total is more than a small device has, so memory that is not freed would be
	// noticed.
	for range 64 {
		h, err := d.PhysicalCreate(16 * unit)
		require.NoError(t, err)
		require.NoError(t, d.PhysicalRelease(h))
	}
}

// testVirtualMisuse makes the errors that CUDA's reference names, and checks that none
// of them changes anything.
func testVirtualMisuse(t *testing.T, d backend.Device) {
	unit := granularity(t, d)
	const crooked = 512 // no page is so small
	base := reserve(t, d, 8*unit, 0)
	h := physical(t, d, 2*unit)
	mapAt(t, d, base, 2*unit, h)
	require.NoError(t, d.SetAccess(base, 2*unit))
	content := pattern(int(2*unit), 14)
	require.NoError(t, d.CopyToDevice(base, start(content), 2*unit))
	free := base.Add(4 * unit)

	for name, call := range map[string]func() error{
		"no addresses":                 func() error { _, err := d.AddressReserve(0, 0); return err },
		"crooked addresses":            func() error { _, err := d.AddressReserve(unit+crooked, 0); return err },
		"crooked alignment":            func() error { _, err := d.AddressReserve(unit, 3); return err },
		"free of no reservation":       func() error { return d.AddressFree(0, unit) },
		"free of no bytes":             func() error { return d.AddressFree(base, 0) },
		"no memory":                    func() error { _, err := d.PhysicalCreate(0); return err },
		"crooked memory":               func() error { _, err := d.PhysicalCreate(unit + crooked); return err },
		"release of no memory":         func() error { return d.PhysicalRelease(0) },
		"map at no address":            func() error { return d.Map(0, unit, 0, h) },
		"map of no bytes":              func() error { return d.Map(free, 0, 0, h) },
		"map of no memory":             func() error { return d.Map(free, unit, 0, 0) },
		"map over a mapping":           func() error { return d.Map(base, 2*unit, 0, h) },
		"unmap of no address":          func() error { return d.Unmap(0, unit) },
		"unmap of no bytes":            func() error { return d.Unmap(base, 0) },
		"unmap of a part":              func() error { return d.Unmap(base, unit) },
		"access to no address":         func() error { return d.SetAccess(0, unit) },
		"access to no bytes":           func() error { return d.SetAccess(base, 0) },
		"access to what is not mapped": func() error { return d.SetAccess(free, unit) },
	} {
		assert.ErrorIs(t, call(), backend.ErrInvalidValue, name)
	}
	// CUDA's driver reports these as not supported.
	for name, call := range map[string]func() error{
		"map at a crooked address":  func() error { return d.Map(free+crooked, unit, 0, h) },
		"map of crooked bytes":      func() error { return d.Map(free, crooked, 0, h) },
		"map from a crooked offset": func() error { return d.Map(free, unit, crooked, h) },
		"map of more than there is": func() error { return d.Map(free, 3*unit, 0, h) },
	} {
		assert.Error(t, call(), name)
	}
	_, err := d.PhysicalCreate(4 * (d.Info().TotalMemory / unit * unit))
	assert.ErrorIs(t, err, backend.ErrOutOfMemory)
	_, err = d.AddressReserve(math.MaxUint64/unit*unit/2, 0)
	assert.Error(t, err, "more addresses than there are")
	requireBytes(t, content, download(t, d, base, int(2*unit)), "after what was refused")
}

func testVirtualConcurrency(t *testing.T, d backend.Device) {
	unit := granularity(t, d)
	const workers = 8
	var group sync.WaitGroup
	failures := make([]error, workers)
	for i := range workers {
		group.Go(func() {
			for range 4 {
				if failures[i] == nil {
					failures[i] = mapAndUse(d, unit, byte(i+1))
				}
			}
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
}

func mapAndUse(d backend.Device, unit uint64, value byte) (err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	base, err := d.AddressReserve(4*unit, 0)
	if err != nil {
		return err
	}
	undo = append(undo, func() error { return d.AddressFree(base, 4*unit) })
	for i := range uint64(2) {
		h, err := d.PhysicalCreate(unit)
		if err != nil {
			return err
		}
		undo = append(undo, func() error { return d.PhysicalRelease(h) })
		at := base.Add((i + 1) * unit)
		if err := d.Map(at, unit, 0, h); err != nil {
			return err
		}
		undo = append(undo, func() error { return d.Unmap(at, unit) })
	}
	if err := d.SetAccess(base.Add(unit), 2*unit); err != nil {
		return err
	}
	if err := d.Memset(base.Add(unit), uint32(value), 1, 2*unit); err != nil {
		return err
	}
	got := make([]byte, 2)
	if err := d.CopyToHost(start(got), base.Add(2*unit-1), 2); err != nil {
		return err
	}
	if got[0] != value || got[1] != value {
		return fmt.Errorf("%d about the border, not %d", got, value)
	}
	return nil
}
