package exchange_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// orders records which copies come before which, by the order of streams and by the events that
// they wait for. Its devices never report that work is done: every order needs an event.
type orders struct {
	mu      sync.Mutex
	copies  []recordedCopy
	streams map[backend.Stream]map[int]bool
	events  map[backend.Event]map[int]bool
}

// recordedCopy is a copy to a device, and the numbers of the copies before it.
type recordedCopy struct {
	to     int
	peer   bool
	bytes  uint64
	before map[int]bool
}

type recordingDriver struct {
	host.Driver
	orders *orders
}

func (d recordingDriver) Open(ordinal int) (backend.Device, error) {
	real, err := d.Driver.Open(ordinal)
	return &recordingDevice{real, ordinal, d.orders}, err
}

type recordingDevice struct {
	backend.Device
	ordinal int
	orders  *orders
}

func (o *orders) copied(to int, peer bool, bytes uint64, stream backend.Stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.copies = append(o.copies, recordedCopy{to, peer, bytes, maps.Clone(o.streams[stream])})
	o.join(stream, map[int]bool{len(o.copies) - 1: true})
}

func (o *orders) join(stream backend.Stream, more map[int]bool) {
	if o.streams[stream] == nil {
		o.streams[stream] = map[int]bool{}
	}
	maps.Copy(o.streams[stream], more)
}

func (d *recordingDevice) CopyFromPeerAsync(destination, source backend.Pointer, peer int, bytes uint64, stream backend.Stream) error {
	d.orders.copied(d.ordinal, true, bytes, stream)
	return d.Device.CopyFromPeerAsync(destination, source, peer, bytes, stream)
}

func (d *recordingDevice) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	d.orders.copied(d.ordinal, false, bytes, stream)
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

// The copies of an all-to-all between different devices have no order, and those that stay on a
// device do not wait for those from others. Work on a result comes after all copies to it, and
// work on a table after all copies from it.
func TestCopiesOfAnAllToAllHaveNoOrder(t *testing.T) {
	const devices, columns = 3, 2
	for name, rows := range map[string]int{"few rows": 100, "many rows": 600_000} {
		t.Run(name, func(t *testing.T) {
			all := &orders{streams: map[backend.Stream]map[int]bool{}, events: map[backend.Event]map[int]bool{}}
			family := fmt.Sprintf("recorded-%d", rows)
			require.NoError(t, device.Register(family, recordingDriver{host.Driver{Count: devices}, all}))
			var managers []*memory.Manager
			var tables []*buffer.Buffer
			parts := make([][]*buffer.Buffer, devices)
			for i := range devices {
				dev := devicetest.Open(t, fmt.Sprint(family, ":", i))
				managers = append(managers, devicetest.Manager(t, dev, memory.Options{}))
				table := numbered(t, managers[i], i*devices*rows, devices*rows, columns)
				tables = append(tables, table)
				for j := range devices {
					part, err := table.Slice(int64(j*rows), int64(rows))
					require.NoError(t, err)
					t.Cleanup(func() { require.NoError(t, part.Release()) })
					parts[i] = append(parts[i], part)
				}
			}
			all.copies = nil
			for _, s := range all.streams {
				clear(s)
			}
			clear(all.events)
			made, err := exchange.AllToAll(t.Context(), parts, managers)
			require.NoError(t, err)

			require.Len(t, all.copies, devices*devices*columns)
			for i, c := range all.copies {
				for b := range c.before {
					before := all.copies[b]
					require.Equal(t, c.to, before.to, "copy %d to device %d waits for copy %d to device %d", i, c.to, b, before.to)
					if rows > 100 && !c.peer {
						require.False(t, before.peer, "copy %d on device %d waits for copy %d from another device", i, c.to, b)
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
			for j, table := range made {
				downloaded := columntest.Download(t, table.Column(1)).(*array.Int64)
				values := downloaded.Int64Values()
				for i := range devices {
					require.EqualValues(t, i*devices*rows+j*rows, values[i*rows])
					require.EqualValues(t, i*devices*rows+j*rows+rows-1, values[(i+1)*rows-1])
				}
				require.NoError(t, table.Release())
			}
		})
	}
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
