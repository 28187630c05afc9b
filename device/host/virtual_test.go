package host

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

const unit = vmem.Granularity

// requireNoMappings checks state of the whole process, so no other test may run
// concurrently.
func requireNoMappings(t require.TestingT) {
	require.Zero(t, addresses.reservations.Len(), "reservations")
	require.Zero(t, addresses.reserved.Load(), "reservations")
	require.Zero(t, addresses.mappings.Len(), "mappings")
	require.Empty(t, addresses.physicals, "physical memory")
	require.Zero(t, addresses.committed, "bytes of physical memory")
}

// openToMap skips the test if the system cannot map memory.
func openToMap(t testing.TB) *device {
	t.Helper()
	if !vmem.Supported() {
		t.Skip("the system maps no memory")
	}
	return open(t)
}

func reserveUnits(t testing.TB, d *device, units uint64) backend.Pointer {
	t.Helper()
	p, err := d.AddressReserve(units*unit, 0)
	require.NoError(t, err)
	return p
}

func createUnits(t testing.TB, d *device, units uint64) backend.Physical {
	t.Helper()
	h, err := d.PhysicalCreate(units * unit)
	require.NoError(t, err)
	return h
}

func TestVirtualMisuse(t *testing.T) {
	d := openToMap(t)
	base := reserveUnits(t, d, 8)
	beside := reserveUnits(t, d, 1)
	h := createUnits(t, d, 4)
	require.NoError(t, d.Map(base, 2*unit, 0, h))
	require.NoError(t, d.Map(base+2*unit, unit, 3*unit, h))
	gone := createUnits(t, d, 1)
	require.NoError(t, d.PhysicalRelease(gone))
	foreign := make([]byte, 16)

	for name, err := range map[string]error{
		"free of a part":                 d.AddressFree(base, unit),
		"free of the end":                d.AddressFree(base+unit, 7*unit),
		"free of too much":               d.AddressFree(base, 9*unit),
		"free of what is mapped":         d.AddressFree(base, 8*unit),
		"free of foreign memory":         d.AddressFree(at(foreign), unit),
		"free round the address space":   d.AddressFree(base, math.MaxUint64-unit+1),
		"release twice":                  d.PhysicalRelease(gone),
		"release of what never was":      d.PhysicalRelease(1 << 60),
		"map of what was released":       d.Map(base+4*unit, unit, 0, gone),
		"map outside a reservation":      d.Map(unit, unit, 0, h),
		"map past the reservation":       d.Map(base+7*unit, 2*unit, 0, h),
		"map past the memory":            d.Map(base+4*unit, 2*unit, 3*unit, h),
		"map from past the memory":       d.Map(base+4*unit, unit, 4*unit, h),
		"map from far past the memory":   d.Map(base+4*unit, unit, math.MaxUint64-unit+1, h),
		"map over the end of a mapping":  d.Map(base+unit, unit, 0, h),
		"map around a mapping":           d.Map(base+unit, 4*unit, 0, h),
		"unmap of the end":               d.Unmap(base+unit, unit),
		"unmap of two":                   d.Unmap(base, 3*unit),
		"access to a part":               d.SetAccess(base, unit),
		"access to the end":              d.SetAccess(base+unit, unit),
		"access to more than is mapped":  d.SetAccess(base, 4*unit),
		"use before access":              d.Memset(base, 0, 1, 1),
		"use of what is not mapped":      d.Memset(base+5*unit, 0, 1, 1),
		"use of nothing but addresses":   d.CopyToHost(start(foreign), beside, 16),
		"later use of nothing":           d.CopyToDeviceAsync(beside, start(foreign), 16, 0),
		"registration of addresses":      d.HostRegister(address(beside+64), 64),
		"registration across addresses":  d.HostRegister(unsafe.Add(address(base), -64), 128),
		"free of a mapping":              d.Free(base),
		"free in stream order":           d.FreeAsync(base, 0),
		"free of a mapping as if pinned": d.HostFree(address(base)),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	for name, call := range map[string]func() error{
		"addresses beyond all": func() error { _, err := d.AddressReserve(1<<62, 0); return err },
		"alignment beyond all": func() error { _, err := d.AddressReserve(unit, 1<<63); return err },
		"the whole half":       func() error { _, err := d.AddressReserve(1<<47, 0); return err },
		"memory beyond all":    func() error { _, err := d.PhysicalCreate(1 << 62); return err },
		"memory beyond the machine's": func() error {
			_, err := d.PhysicalCreate(d.info.TotalMemory/unit*unit + unit)
			return err
		},
		"the memory of the machine with what is made": func() error {
			_, err := d.PhysicalCreate(d.info.TotalMemory / unit * unit)
			return err
		},
	} {
		assert.ErrorIs(t, call(), backend.ErrOutOfMemory, name)
	}

	// The reservations, the mappings and the memory are unchanged.
	require.NoError(t, d.SetAccess(base, 3*unit))
	require.NoError(t, d.Memset(base, 1, 1, 3*unit))
	for name, err := range map[string]error{
		"past the mappings":       d.Memset(base, 0, 1, 3*unit+1),
		"past the mappings, copy": d.CopyToHost(start(foreign), base+3*unit-15, 16),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	require.NoError(t, d.CopyToHost(start(foreign), base+3*unit-16, 16))
	require.NoError(t, d.Unmap(base, 2*unit))
	require.NoError(t, d.Unmap(base+2*unit, unit))
	require.NoError(t, d.PhysicalRelease(h))
	require.NoError(t, d.AddressFree(base, 8*unit))
	require.NoError(t, d.AddressFree(beside, unit))
	assert.ErrorIs(t, d.AddressFree(beside, unit), backend.ErrInvalidValue)
	requireNoMappings(t)
}

func TestMappedMemoryIsKnown(t *testing.T) {
	d := openToMap(t)
	base, h := reserveUnits(t, d, 4), createUnits(t, d, 1)
	kind := func(p backend.Pointer) backend.MemoryKind {
		info, err := d.PointerInfo(p)
		require.NoError(t, err)
		return info.Kind
	}
	assert.Equal(t, backend.MemoryUnknown, kind(base+unit), "reserved")
	require.NoError(t, d.Map(base+unit, unit, 0, h))
	assert.Equal(t, backend.MemoryUnknown, kind(base+unit), "without access")
	require.NoError(t, d.SetAccess(base+unit, unit))
	assert.Equal(t, backend.MemoryHost, kind(base+unit))
	assert.Equal(t, backend.MemoryHost, kind(base+2*unit-1))
	assert.Equal(t, backend.MemoryUnknown, kind(base+2*unit))
	_, _, err := d.AddressRange(base)
	assert.ErrorIs(t, err, backend.ErrInvalidValue)
	middle := address(base + unit + unit/2)
	assert.Zero(t, allocations.PerRun(func() {
		_, _, _ = d.AddressRange(base + unit + 77)
		_, _ = d.PointerInfo(base + unit + 77)
		_ = checkRange("test", "pointer", middle, unit/2, true)
	}))
	require.NoError(t, d.Unmap(base+unit, unit))
	assert.Equal(t, backend.MemoryUnknown, kind(base+unit))
	require.NoError(t, d.Map(base+unit, unit, 0, h))
	assert.ErrorIs(t, d.Memset(base+unit, 0, 1, 1), backend.ErrInvalidValue, "access does not outlast a mapping")
	require.NoError(t, d.Unmap(base+unit, unit))
	require.NoError(t, d.PhysicalRelease(h))
	require.NoError(t, d.AddressFree(base, 4*unit))
	requireNoMappings(t)
}

// TestLastUseFreesMemory checks the number of bytes of physical memory.
func TestLastUseFreesMemory(t *testing.T) {
	d := openToMap(t)
	base, h := reserveUnits(t, d, 4), createUnits(t, d, 2)
	require.NoError(t, d.Map(base, 2*unit, 0, h))
	require.NoError(t, d.Map(base+2*unit, unit, unit, h), "at two places")
	require.NoError(t, d.SetAccess(base, 3*unit))
	require.NoError(t, d.Memset(base+unit, 9, 1, 1))
	content := make([]byte, 1)
	require.NoError(t, d.CopyToHost(start(content), base+2*unit, 1))
	assert.Equal(t, byte(9), content[0], "the same memory at both")
	require.NoError(t, d.PhysicalRelease(h))
	require.NoError(t, d.Unmap(base, 2*unit))
	assert.Equal(t, uint64(2*unit), addresses.committed, "one mapping holds all of the memory")
	require.NoError(t, d.Unmap(base+2*unit, unit))
	require.NoError(t, d.AddressFree(base, 4*unit))
	requireNoMappings(t)
}

func TestUnmapWaitsForEnqueuedWork(t *testing.T) {
	d := openToMap(t)
	s := newTestStream(t, d)
	base, h := reserveUnits(t, d, 1), createUnits(t, d, 1)
	require.NoError(t, d.Map(base, unit, 0, h))
	require.NoError(t, d.SetAccess(base, unit))
	unblock := block(t, d, s)
	result := make([]byte, 64)
	require.NoError(t, d.MemsetAsync(base, 5, 1, 64, s))
	require.NoError(t, d.CopyToHostAsync(start(result), base, 64, s))

	unmapped := make(chan error, 1)
	go func() { unmapped <- d.Unmap(base, unit) }()
	await.Until(t, func() bool {
		return d.MemsetAsync(base, 6, 1, 64, s) != nil
	}, "new work is refused")
	for name, err := range map[string]error{
		"unmap twice":        d.Unmap(base, unit),
		"access at the end":  d.SetAccess(base, unit),
		"map over the end":   d.Map(base, unit, 0, h),
		"free of the rest":   d.AddressFree(base, unit),
		"use at the end":     d.CopyToHost(start(make([]byte, 1)), base, 1),
		"free as if of host": d.Free(base),
	} {
		assert.ErrorIs(t, err, backend.ErrInvalidValue, name)
	}
	unblock()
	require.NoError(t, <-unmapped)
	assert.Contains(t, []byte{5, 6}, result[63])
	require.NoError(t, d.PhysicalRelease(h))
	require.NoError(t, d.AddressFree(base, unit))
	requireNoMappings(t)
}

func TestCloseFreesUnreachableMemory(t *testing.T) {
	d := openToMap(t)
	requireNoMappings(t)
	mapped, unused := reserveUnits(t, d, 2), reserveUnits(t, d, 2)
	h, idle := createUnits(t, d, 1), createUnits(t, d, 1)
	require.NoError(t, d.Map(mapped, unit, 0, h))
	require.NoError(t, d.SetAccess(mapped, unit))
	require.NoError(t, d.Memset(mapped, 3, 1, unit))
	other := open(t)
	require.NoError(t, d.Close())
	require.NoError(t, other.PhysicalRelease(idle), "not while a Device is open")
	require.NoError(t, other.Close())

	assert.Equal(t, uint64(unit), addresses.committed)
	later := open(t)
	content := make([]byte, 1)
	require.NoError(t, later.CopyToHost(start(content), mapped, 1))
	assert.Equal(t, byte(3), content[0], "who holds the address still has the memory")
	assert.ErrorIs(t, later.PhysicalRelease(h), backend.ErrInvalidValue)
	assert.ErrorIs(t, later.AddressFree(unused, 2*unit), backend.ErrInvalidValue)
	require.NoError(t, later.Unmap(mapped, unit))
	require.NoError(t, later.AddressFree(mapped, 2*unit))
	requireNoMappings(t)
}

// piece is one unit of physical memory in the model, with the value of its first byte.
type piece struct {
	handle backend.Physical
	units  int
	bytes  []byte // the first of each unit
}

// TestVirtualAgainstModel compares a reservation with an array that holds, for each of
// its units, the memory and the unit mapped there.
func TestVirtualAgainstModel(t *testing.T) {
	d := openToMap(t)
	property.Check(t, func(t *rapid.T) {
		const units = 8
		base, err := d.AddressReserve(units*unit, 0)
		require.NoError(t, err)
		type place struct {
			from       *piece
			unit       int
			first      int // where its mapping begins
			length     int
			accessible bool
		}
		var (
			places [units]place
			pieces []*piece
		)
		nth := func(i int) backend.Pointer { return base.Add(uint64(i) * unit) }
		span := func() (from, to int) {
			from = rapid.IntRange(0, units-1).Draw(t, "from")
			return from, rapid.IntRange(from+1, units).Draw(t, "to")
		}
		choose := func() *piece {
			if len(pieces) == 0 {
				t.Skip("no memory")
			}
			return rapid.SampledFrom(pieces).Draw(t, "memory")
		}
		outcome := func(legal bool, err error) {
			if legal {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, backend.ErrInvalidValue)
			}
		}

		t.Repeat(map[string]func(*rapid.T){
			"create": func(*rapid.T) {
				n := rapid.IntRange(1, 3).Draw(t, "units")
				h, err := d.PhysicalCreate(uint64(n) * unit)
				require.NoError(t, err)
				pieces = append(pieces, &piece{h, n, make([]byte, n)})
			},
			"release": func(*rapid.T) {
				p := choose()
				require.NoError(t, d.PhysicalRelease(p.handle))
				require.ErrorIs(t, d.PhysicalRelease(p.handle), backend.ErrInvalidValue)
				for i := range pieces {
					if pieces[i] == p {
						pieces = append(pieces[:i:i], pieces[i+1:]...)
						break
					}
				}
			},
			"map": func(*rapid.T) {
				p := choose()
				from, to := span()
				offset := rapid.IntRange(0, 3).Draw(t, "offset")
				legal := offset+to-from <= p.units
				for _, at := range places[from:to] {
					legal = legal && at.from == nil
				}
				outcome(legal, d.Map(nth(from), uint64(to-from)*unit, uint64(offset)*unit, p.handle))
				for i := from; legal && i < to; i++ {
					places[i] = place{p, offset + i - from, from, to - from, false}
				}
			},
			"unmap": func(*rapid.T) {
				from, to := span()
				legal := places[from].from != nil && places[from].first == from && places[from].length == to-from
				outcome(legal, d.Unmap(nth(from), uint64(to-from)*unit))
				if legal {
					clear(places[from:to])
				}
			},
			"access": func(*rapid.T) {
				from, to := span()
				legal := true
				for i := from; i < to; i++ {
					at := places[i]
					legal = legal && at.from != nil && at.first >= from && at.first+at.length <= to
				}
				outcome(legal, d.SetAccess(nth(from), uint64(to-from)*unit))
				for i := from; legal && i < to; i++ {
					places[i].accessible = true
				}
			},
			"write": func(*rapid.T) {
				i := rapid.IntRange(0, units-1).Draw(t, "at")
				value := rapid.Byte().Draw(t, "value")
				outcome(places[i].accessible, d.Memset(nth(i), uint32(value), 1, 1))
				if places[i].accessible {
					places[i].from.bytes[places[i].unit] = value
				}
			},
			"": func(*rapid.T) {
				for i, at := range places {
					count, reserved := addresses.usable(uintptr(nth(i)), units*unit, true)
					want := 0
					for i+want < units && places[i+want].accessible {
						want++
					}
					require.True(t, reserved)
					require.Equal(t, uint64(want)*unit, count, "unit %d", i)
					first, bytes, err := d.AddressRange(nth(i))
					if !at.accessible {
						require.ErrorIs(t, err, backend.ErrInvalidValue)
						continue
					}
					require.NoError(t, err)
					require.Equal(t, nth(at.first), first)
					require.Equal(t, uint64(at.length)*unit, bytes)
					content := make([]byte, 1)
					require.NoError(t, d.CopyToHost(start(content), nth(i), 1))
					require.Equal(t, at.from.bytes[at.unit], content[0], "unit %d", i)
				}
			},
		})

		for i, at := range places {
			if at.from != nil && at.first == i {
				require.NoError(t, d.Unmap(nth(i), uint64(at.length)*unit))
			}
		}
		for _, p := range pieces {
			require.NoError(t, d.PhysicalRelease(p.handle))
		}
		require.NoError(t, d.AddressFree(base, units*unit))
		requireNoMappings(t)
	})
}
