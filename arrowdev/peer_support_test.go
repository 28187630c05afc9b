//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// peerScene is a device, and the C peer that reads its memory.
type peerScene struct {
	*memory.Manager
	cuda bool
	view peer.View
}

// onEachPeerDevice runs f on each device, and requires at the end that both sides
// have released everything.
func onEachPeerDevice(t *testing.T, f func(t *testing.T, s *peerScene)) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		s := newPeerScene(t, dev)
		f(t, s)
	})
}

func newPeerScene(t *testing.T, dev *device.Device) *peerScene {
	m := devicetest.Manager(t, dev, memory.Options{})
	s := &peerScene{Manager: m, cuda: dev.Kind() != device.Host}
	if s.cuda {
		s.view = peer.View{DeviceType: 2, DeviceID: int64(dev.Info().Ordinal), Read: s.read}
	}
	require.Equal(t, peer.Books{}, peer.Counts())
	t.Cleanup(func() {
		require.Empty(t, peer.Mistakes())
		require.Equal(t, peer.Books{}, peer.Counts())
		peer.Sweep()
		s.requireNothing(t)
	})
	return s
}

func (s *peerScene) requireNothing(t *testing.T) {
	t.Helper()
	stats := s.Stats()
	require.Zero(t, stats.InUse)
	require.Zero(t, stats.Blocks)
	require.Zero(t, stats.External)
	require.Zero(t, stats.ExternalBlocks)
	require.Zero(t, stats.DoubleReleases)
}

// read copies device memory for the C consumer.
func (s *peerScene) read(from uintptr, to []byte) error {
	return s.Device().Driver().CopyToHost(unsafe.Pointer(unsafe.SliceData(to)), device.Pointer(from), uint64(len(to)))
}

// look waits for an array's event and has the C consumer read it.
func (s *peerScene) look(t *testing.T, deviceArray, schema unsafe.Pointer) peer.Seen {
	t.Helper()
	if event := peer.SyncEvent(deviceArray); event != nil {
		require.NoError(t, s.Device().Driver().EventSynchronize(*(*backend.Event)(event)))
	}
	seen := peer.Look(deviceArray, schema, s.view)
	require.Empty(t, seen.Problems)
	return seen
}

// produce makes an array of the peer in the device's memory. It lives until the end
// of the test, after everything made of it has been released. event determines
// whether it has a sync_event.
func (s *peerScene) produce(t *testing.T, kind string, options peer.Options, event bool) *peer.Made {
	t.Helper()
	if s.cuda {
		options.DeviceType, options.DeviceID = s.view.DeviceType, s.view.DeviceID
		if event {
			options.SyncEvent = s.event(t)
		}
	}
	made, err := peer.Produce(kind, options)
	require.NoError(t, err)
	t.Cleanup(made.Free)
	if s.cuda {
		s.place(t, made)
	}
	return made
}

// event records an event on the manager's stream and returns a C pointer to it.
func (s *peerScene) event(t *testing.T) unsafe.Pointer {
	t.Helper()
	event, err := s.Device().NewEvent()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, event.Close()) })
	require.NoError(t, event.Record(s.Stream()))
	cell := peer.Cell(8)
	t.Cleanup(func() { peer.Free(cell) })
	*(*backend.Event)(cell) = event.Handle()
	return cell
}

// place copies each buffer of an array to a separate device allocation, with the same
// misalignment.
func (s *peerScene) place(t *testing.T, made *peer.Made) {
	t.Helper()
	driver := s.Device().Driver()
	for _, buffer := range made.Buffers() {
		if buffer.OnHost {
			continue
		}
		size := uint64(len(buffer.Bytes))
		odd := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buffer.Bytes))) % 64)
		at, err := driver.Alloc(size + odd + 1)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, driver.Free(at)) })
		if size > 0 {
			require.NoError(t, driver.CopyToDevice(at.Add(odd), unsafe.Pointer(unsafe.SliceData(buffer.Bytes)), size))
		}
		for i := range buffer.Bytes {
			buffer.Bytes[i] = 0xee
		}
		buffer.Place(uintptr(at.Add(odd)))
	}
}

// upload copies a record to the device and releases neither.
func (s *peerScene) upload(t *testing.T, record arrow.Record) *buffer.Buffer {
	t.Helper()
	table, err := buffer.FromRecord(s.Manager, record)
	require.NoError(t, err)
	return table
}

// rowsText is the text of a table, which it releases.
func rowsText(t *testing.T, table *buffer.Buffer) string {
	t.Helper()
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.NoError(t, table.Release())
	return peer.RecordText(record)
}

// elementsText is the text of a column, which it releases.
func elementsText(t *testing.T, c *column.Column) string {
	t.Helper()
	arrays, err := column.ToArrays(t.Context(), []*column.Column{c}, column.DownloadOptions{})
	require.NoError(t, err)
	defer arrays[0].Release()
	require.NoError(t, c.Release())
	return peer.Text(arrays[0])
}

// generatedRecord is a record of one column of the type and one of another.
func generatedRecord(t *testing.T, kind arrow.DataType, seed uint64, n int, nulls arraytest.Nulls) arrow.Record {
	t.Helper()
	g := arraytest.NewGenerator(seed)
	g.Nulls, g.Sliced = nulls, seed%2 == 1
	columns := []arrow.Array{g.Array(kind, n), g.Array(arrow.PrimitiveTypes.Int16, n)}
	defer columns[0].Release()
	defer columns[1].Release()
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{
		{Name: "generated", Type: kind, Nullable: true}, {Name: "other", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
	}, nil), columns, int64(n))
	t.Cleanup(record.Release)
	return record
}

// peerCell is zeroed C memory until the end of the test.
func peerCell(t *testing.T, bytes int) unsafe.Pointer {
	t.Helper()
	at := peer.Cell(bytes)
	t.Cleanup(func() { peer.Free(at) })
	return at
}

// newHostPeerScene is for tests that exist on the host only.
func newHostPeerScene(t *testing.T) *peerScene {
	t.Helper()
	return newPeerScene(t, devicetest.Open(t, "host"))
}
