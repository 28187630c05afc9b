package exchange_test

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// orders records which copies come before which, by the order of streams and by the events that
// they wait for. Its streams never report that work is done, and its events do not while copies are
// recorded: every order needs an event, also if the copies have ended.
type orders struct {
	recording atomic.Bool

	mu      sync.Mutex
	copies  []recordedCopy
	streams map[backend.Stream]map[int]bool
	events  map[backend.Event]map[int]bool
	asked   int
}

// recordedCopy is a copy to a device, and the numbers of the copies before it.
type recordedCopy struct {
	to     int
	source backend.Pointer
	before map[int]bool
}

type recordingDriver struct {
	host.Driver
	orders *orders
	// hasApart is set if the first device and the others cannot access each other's memory.
	hasApart bool
}

func (d recordingDriver) Open(ordinal int) (backend.Device, error) {
	real, err := d.Driver.Open(ordinal)
	return &recordingDevice{real, ordinal, d.orders, d.hasApart}, err
}

type recordingDevice struct {
	backend.Device
	ordinal  int
	orders   *orders
	hasApart bool
}

func (d *recordingDevice) CanAccessPeer(ordinal int) (bool, error) {
	if d.hasApart && (d.ordinal == 0) != (ordinal == 0) {
		return false, nil
	}
	return d.Device.CanAccessPeer(ordinal)
}

func (o *orders) copied(to int, source backend.Pointer, stream backend.Stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.copies = append(o.copies, recordedCopy{to, source, maps.Clone(o.streams[stream])})
	o.join(stream, map[int]bool{len(o.copies) - 1: true})
}

func (o *orders) join(stream backend.Stream, more map[int]bool) {
	if o.streams[stream] == nil {
		o.streams[stream] = map[int]bool{}
	}
	maps.Copy(o.streams[stream], more)
}

func (d *recordingDevice) CopyFromPeerAsync(destination, source backend.Pointer, peer int, bytes uint64, stream backend.Stream) error {
	d.orders.copied(d.ordinal, source, stream)
	return d.Device.CopyFromPeerAsync(destination, source, peer, bytes, stream)
}

func (d *recordingDevice) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	d.orders.copied(d.ordinal, source, stream)
	return d.Device.CopyOnDeviceAsync(destination, source, bytes, stream)
}

func (d *recordingDevice) EventRecord(event backend.Event, stream backend.Stream) error {
	d.orders.mu.Lock()
	defer d.orders.mu.Unlock()
	d.orders.events[event] = maps.Clone(d.orders.streams[stream])
	return d.Device.EventRecord(event, stream)
}

func (d *recordingDevice) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	d.orders.mu.Lock()
	defer d.orders.mu.Unlock()
	d.orders.join(stream, d.orders.events[event])
	return d.Device.StreamWaitEvent(stream, event)
}

func (d *recordingDevice) StreamQuery(backend.Stream) (bool, error) { return false, nil }

func (d *recordingDevice) EventQuery(event backend.Event) (bool, error) {
	if !d.orders.recording.Load() {
		return d.Device.EventQuery(event)
	}
	d.orders.mu.Lock()
	defer d.orders.mu.Unlock()
	d.orders.asked++
	return d.hasApart && d.orders.asked%16 == 0, nil // the host asks again while it waits for rounds
}

// clear forgets all copies and orders, and begins to record.
func (o *orders) clear() {
	o.recording.Store(true)
	o.copies = nil
	for _, s := range o.streams {
		clear(s)
	}
	clear(o.events)
}

// recordedDevices are managers of three recorded devices, with a table on each of a number of rows
// for each device.
func recordedDevices(t *testing.T, family string, rows int) (all *orders, managers []*memory.Manager, tables []*buffer.Buffer) {
	return devicesOf(t, family, rows, false)
}

func devicesOf(t *testing.T, family string, rows int, hasApart bool) (all *orders, managers []*memory.Manager, tables []*buffer.Buffer) {
	all = &orders{streams: map[backend.Stream]map[int]bool{}, events: map[backend.Event]map[int]bool{}}
	require.NoError(t, device.Register(family, recordingDriver{host.Driver{Count: recorded}, all, hasApart}))
	for i := range recorded {
		managers = append(managers, devicetest.Manager(t, devicetest.Open(t, fmt.Sprint(family, ":", i)), memory.Options{}))
		tables = append(tables, numbered(t, managers[i], i*recorded*rows, recorded*rows, recordedColumns))
	}
	return all, managers, tables
}

const recorded, recordedColumns = 3, 2

// sourceOf returns the number of the table that a copy reads, which is that of its device.
func sourceOf(t *testing.T, c recordedCopy, tables []*buffer.Buffer) int {
	for i, table := range tables {
		for column := range table.NumColumns() {
			values := table.Column(column).Buffer(1)
			if at := uint64(c.source) - uint64(values.Pointer()); at < values.Bytes() {
				return i
			}
		}
	}
	require.Fail(t, "a copy reads no table")
	return -1
}

// requireNoOrder fails if copies to different devices have an order, if those that stay on a device
// wait for those from others though these have another stream, if work on a result does not come
// after all copies to it, or work on a table not after the copies from it.
func requireNoOrder(t *testing.T, all *orders, managers []*memory.Manager, tables []*buffer.Buffer, lanes bool) {
	defer all.recording.Store(false)
	require.Len(t, all.copies, recorded*recorded*recordedColumns)
	for i, c := range all.copies {
		for b := range c.before {
			before := all.copies[b]
			require.Equal(t, c.to, before.to, "copy %d to device %d waits for copy %d to device %d", i, c.to, b, before.to)
			if lanes && sourceOf(t, c, tables) == c.to {
				require.Equal(t, c.to, sourceOf(t, before, tables), "copy %d on device %d waits for copy %d from another device", i, c.to, b)
			}
		}
	}
	for i, c := range all.copies {
		require.True(t, all.streams[managers[c.to].Stream().Handle()][i], "work on the result of device %d does not wait for copy %d", c.to, i)
	}
	for i, table := range tables {
		require.NoError(t, table.Column(0).Block().OrderBefore(managers[i].Stream()))
		from := 0
		for number := range all.streams[managers[i].Stream().Handle()] {
			if all.copies[number].to != i {
				from++
			}
		}
		require.Positive(t, from, "work on the table of device %d waits for no copy to another device", i)
	}
}

func TestCopiesOfAnAllToAllHaveNoOrder(t *testing.T) {
	for name, rows := range map[string]int{"few rows": 100, "many rows": 600_000} {
		t.Run(name, func(t *testing.T) {
			all, managers, tables := recordedDevices(t, fmt.Sprintf("recorded-%d", rows), rows)
			parts := make([][]*buffer.Buffer, recorded)
			for i, table := range tables {
				for j := range recorded {
					part, err := table.Slice(int64(j*rows), int64(rows))
					require.NoError(t, err)
					t.Cleanup(func() { require.NoError(t, part.Release()) })
					parts[i] = append(parts[i], part)
				}
			}
			all.clear()
			made, err := exchange.AllToAll(t.Context(), parts, managers)
			require.NoError(t, err)
			requireNoOrder(t, all, managers, tables, rows > 100)
			for j, table := range made {
				downloaded := columntest.Download(t, table.Column(1)).(*array.Int64)
				values := downloaded.Int64Values()
				for i := range recorded {
					require.EqualValues(t, i*recorded*rows+j*rows, values[i*rows])
					require.EqualValues(t, i*recorded*rows+j*rows+rows-1, values[(i+1)*rows-1])
				}
				require.NoError(t, table.Release())
			}
		})
	}
}

// The copies of an all-gather have no order either, and no two devices read from one at a time:
// each begins with its own table and goes on with those of the next devices.
func TestCopiesOfAnAllGatherHaveNoOrder(t *testing.T) {
	for name, rows := range map[string]int{"few rows": 30, "many rows": 200_000} {
		t.Run(name, func(t *testing.T) {
			all, managers, tables := recordedDevices(t, fmt.Sprintf("gathered-%d", rows), rows)
			all.clear()
			made, err := exchange.AllGather(t.Context(), tables, managers)
			require.NoError(t, err)
			sources := make([][]int, recorded)
			for _, c := range all.copies {
				sources[c.to] = append(sources[c.to], sourceOf(t, c, tables))
			}
			for j, from := range sources {
				for step, source := range from {
					require.Equal(t, (j+step)%recorded, source, "copy %d to device %d", step, j)
				}
			}
			requireNoOrder(t, all, managers, tables, rows > 30)
			for _, table := range made {
				downloaded := columntest.Download(t, table.Column(1)).(*array.Int64)
				for i, v := range downloaded.Int64Values() {
					require.EqualValues(t, i, v)
				}
				require.NoError(t, table.Release())
			}
		})
	}
}

// Copies between devices that access each other's memory have no order, also if another device of the
// all-gather sends its rows through pinned memory.
func TestCopiesBesidePinnedMemoryHaveNoOrder(t *testing.T) {
	all, managers, tables := devicesOf(t, "one-apart", 30, true)
	all.clear()
	made, err := exchange.AllGather(t.Context(), tables, managers[1:])
	all.recording.Store(false)
	require.NoError(t, err)
	between := 0
	for i, c := range all.copies {
		for b := range c.before {
			require.Equal(t, c.to, all.copies[b].to, "copy %d to device %d waits for copy %d", i, c.to, b)
		}
		if sourceOf(t, c, tables) != c.to {
			between++
		}
	}
	require.Equal(t, 2*recordedColumns, between)
	require.NoError(t, release.All(made))
}

// numbered makes a table with columns of consecutive numbers.
func numbered(t testing.TB, mgr *memory.Manager, first, rows, columns int) *buffer.Buffer {
	values := make([]int64, rows)
	for i := range values {
		values[i] = int64(first + i)
	}
	list := make([]*column.Column, columns)
	for i := range list {
		var err error
		list[i], err = column.FromSlice(t.Context(), mgr, values, column.SliceOptions{})
		require.NoError(t, err)
	}
	table := columntest.TableOf(t, mgr, -1, list...)
	for _, c := range list {
		require.NoError(t, c.Release())
	}
	return table
}
