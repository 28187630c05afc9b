package spill_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// records makes records of tableBytes each.
func records(n int) []arrow.Record {
	all := make([]arrow.Record, n)
	for i := range all {
		all[i] = numbers(tableRows, int64(i)*1_000_003)
	}
	return all
}

// addAll adds records as tables until the end of the test. Together they may exceed
// the device's memory.
func addAll(t testing.TB, mgr *memory.Manager, s *spill.Spiller, records []arrow.Record) []*spill.Table {
	t.Helper()
	tables := make([]*spill.Table, len(records))
	for i, record := range records {
		tables[i] = add(t, mgr, s, record)
	}
	return tables
}

func TestTenTablesInTheRoomOfThree(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, s := onDevice(t, dev, 3, spill.Options{})
		all := records(10)
		tables := addAll(t, mgr, s, all)
		assert.Equal(t, 7, s.Stats().Spilled)
		for range 3 {
			for i, table := range tables {
				held := acquire(t, table)
				requireBuffer(t, all[i], held)
				require.NoError(t, held.Release())
				where := spilled(tables)
				for back := range len(tables) { // the last three are on the device
					require.Equal(t, back >= 3, where[(i-back+len(tables))%len(tables)], "table %d after %d", i-back, i)
				}
			}
		}
		stats := s.Stats()
		assert.EqualValues(t, 7+30, stats.Spills)
		assert.EqualValues(t, 30, stats.Restores)
		assert.EqualValues(t, 37*tableBytes, stats.SpilledBytes)
		assert.EqualValues(t, 7*tableBytes, stats.HostBytes)
		assert.Zero(t, stats.Failures)
		assert.EqualValues(t, 3*tableBytes, mgr.Stats().Peak)
	})
}

func TestLeastRecentlyUsedGoFirst(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, s := onDevice(t, dev, 4, spill.Options{})
		all := records(4)
		tables := addAll(t, mgr, s, all)
		for _, touched := range []int{2, 0, 3, 1, 0} { // so the order is 2, 3, 1, 0
			require.NoError(t, tables[touched].Use(t.Context(), func(*buffer.Buffer) error { return nil }))
		}
		requireTable(t, all[3], tables[3]) // a read touches a table: 2, 1, 0, 3
		held := acquire(t, tables[1])      // a held table stays: 2, 0, 3
		where := []bool{false, false, false, false}
		for _, next := range []int{2, 0, 3} {
			released, err := s.Reclaim(t.Context(), 1)
			require.NoError(t, err)
			require.EqualValues(t, tableBytes, released)
			where[next] = true
			require.Equal(t, where, spilled(tables))
		}
		released, err := s.Reclaim(t.Context(), 1)
		require.NoError(t, err)
		require.Zero(t, released)
		require.NoError(t, held.Release())
		released, err = s.Reclaim(t.Context(), 0)
		require.NoError(t, err)
		require.Zero(t, released, "zero bytes were requested")
	})
}

// Allocations other than tables make room too, and the error of a request that is too
// large lists the holders.
func TestAnyAllocationMakesRoom(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, s := onDevice(t, dev, 3, spill.Options{})
		tables := addAll(t, mgr, s, records(3))
		block, err := mgr.Allocate(tableBytes+1, memory.AllocateOptions{})
		require.NoError(t, err)
		require.Equal(t, []bool{true, true, false}, spilled(tables))

		held := acquire(t, tables[2])
		_, err = tables[0].Acquire(t.Context())
		require.ErrorIs(t, err, memory.ErrBudget)
		require.ErrorContains(t, err, "acquire table of 1 columns in 8.0 KiB")
		require.True(t, tables[0].Spilled())
		assert.EqualValues(t, 1, s.Stats().Failures)
		requireTable(t, numbers(tableRows, 0), tables[0])

		require.NoError(t, held.Release())
		held = acquire(t, tables[0])
		requireBuffer(t, numbers(tableRows, 0), held)
		require.True(t, tables[2].Spilled())
		require.NoError(t, held.Release())
		require.NoError(t, block.Release())
	})
}

// A tenant's tables make room for others, and are restored within the tenant's
// budget.
func TestTablesOfManagersBelow(t *testing.T) {
	mgr, s := onDevice(t, devicetest.Open(t, "host"), 2, spill.Options{})
	tenant, err := mgr.Child("tenant", 0)
	require.NoError(t, err)
	want := numbers(tableRows, 4)
	table := addOnly(t, tenant, s, want)
	whole, err := mgr.Allocate(2*tableBytes, memory.AllocateOptions{})
	require.NoError(t, err)
	require.True(t, table.Spilled())
	require.Zero(t, tenant.Stats().InUse)
	require.NoError(t, whole.Release())
	held := acquire(t, table)
	require.EqualValues(t, tableBytes, tenant.Stats().InUse)
	require.NoError(t, held.Release())
	require.NoError(t, table.Release())
	require.NoError(t, tenant.Close())
}

func TestHostBudget(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{HostBudget: 2*tableBytes - 1})
		all := append(records(2), numbers(tableRows/2, 7))
		tables := addAll(t, mgr, s, all)
		released, err := s.Reclaim(t.Context(), 1<<40)
		require.ErrorIs(t, err, memory.ErrBudget)
		require.ErrorContains(t, err, "Options.HostBudget")
		require.EqualValues(t, tableBytes*3/2, released, "a smaller one fits")
		require.Equal(t, []bool{true, false, true}, spilled(tables))
		stats := s.Stats()
		assert.EqualValues(t, 1, stats.Refusals.HostMemory)
		assert.Zero(t, stats.Failures)
		assert.EqualValues(t, 2*tableBytes-1, stats.HostBudget)
		for i, table := range tables {
			requireTable(t, all[i], table)
		}

		// A request waits for memory that is being returned.
		stream, err := dev.NewStream()
		require.NoError(t, err)
		held, err := tables[0].AcquireOn(t.Context(), stream)
		require.NoError(t, err)
		released, err = s.Reclaim(t.Context(), tableBytes)
		require.NoError(t, err)
		require.EqualValues(t, tableBytes, released)
		require.Equal(t, []bool{false, true, true}, spilled(tables))
		require.NoError(t, held.Release())
		require.NoError(t, stream.Close())
	})
}

func TestManyGoroutines(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, s := onDevice(t, dev, 5, spill.Options{HostBudget: 20 * tableBytes})
		all := records(20)
		tables := addAll(t, mgr, s, all)
		stream, err := dev.NewStream()
		require.NoError(t, err)
		var group errgroup.Group
		for worker := range uint64(16) {
			random := rand.New(rand.NewPCG(worker, 1))
			group.Go(func() error {
				for range 40 {
					i := random.IntN(len(tables))
					err := useOnce(t, random.IntN(5), mgr, s, tables[i], all[i], stream)
					if err != nil && !errors.Is(err, memory.ErrBudget) { // other tables are held
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
		assert.Positive(t, s.Stats().Spills)
		for i, table := range tables {
			requireTable(t, all[i], table)
		}
		require.NoError(t, stream.Close())
	})
}

// useOnce touches a table in one of five ways.
func useOnce(t testing.TB, way int, mgr *memory.Manager, s *spill.Spiller, table *spill.Table, want arrow.Record, stream *device.Stream) error {
	switch way {
	case 0:
		block, err := mgr.Allocate(tableBytes, memory.AllocateOptions{})
		if err != nil {
			return err
		}
		return block.Release()
	case 1:
		_, err := s.Reclaim(t.Context(), tableBytes)
		return err
	case 2:
		got, err := table.Record(t.Context())
		if err != nil {
			return err
		}
		return differs(want, got)
	}
	acquire := table.Acquire
	if way == 3 {
		acquire = func(ctx context.Context) (*buffer.Buffer, error) { return table.AcquireOn(ctx, stream) }
	}
	held, err := acquire(t.Context())
	if err != nil {
		return err
	}
	got, err := held.Record(t.Context())
	if err == nil {
		err = differs(want, got)
	}
	return errors.Join(err, held.Release())
}

// TestSpillersWithinOneBudget spills tables of a tenant and of its parent, which have room for three
// of four tables together.
func TestSpillersWithinOneBudget(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		parent := newSpiller(t, mgr, spill.Options{HostBudget: 3 * tableBytes})
		child, err := mgr.Child("tenant", 0)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, child.Close()) })
		tenant := newSpiller(t, child, spill.Options{HostBudget: 100 * tableBytes, Within: parent})
		all := records(4)
		own, others := addAll(t, mgr, parent, all[:2]), addAll(t, child, tenant, all[2:])
		require.EqualValues(t, 2*tableBytes, press(t, parent))
		released, err := tenant.Reclaim(t.Context(), 1<<40)
		require.ErrorIs(t, err, memory.ErrBudget)
		require.EqualValues(t, tableBytes, released)
		require.EqualValues(t, 1, tenant.Stats().Refusals.HostMemory)
		require.EqualValues(t, tableBytes, tenant.Stats().HostBytes)
		require.EqualValues(t, 3*tableBytes, tenant.Stats().HostBudget)
		require.EqualValues(t, 3*tableBytes, parent.Stats().HostBytes)
		for i, table := range append(own, others...) {
			requireTable(t, all[i], table)
		}
		back := acquire(t, own[0])
		require.EqualValues(t, tableBytes, press(t, tenant), "the parent has made room")
		require.EqualValues(t, 3*tableBytes, parent.Stats().HostBytes)
		require.NoError(t, back.Release())
	})
}

// TestSpillerWithinOneOfAnotherDevice is refused.
func TestSpillerWithinOneOfAnotherDevice(t *testing.T) {
	parent := newSpiller(t, devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), spill.Options{})
	other := devicetest.Manager(t, devicetest.Hosts(t, 2)[1], memory.Options{})
	_, err := spill.NewSpiller(other, spill.Options{Within: parent})
	require.ErrorContains(t, err, "Options.Within is on")
}
