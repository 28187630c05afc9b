//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"os"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachDevice runs f on each device with a manager, and requires zero statistics at
// the end.
func eachDevice(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		f(t, devicetest.Manager(t, dev, memory.Options{}))
	})
}

// newHostManager is for tests that do not depend on the device.
func newHostManager(t testing.TB) *memory.Manager {
	return devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
}

// requireNothingHeld checks that every byte and block has been released.
func requireNothingHeld(t require.TestingT, m *memory.Manager) {
	s := m.Stats()
	require.Zero(t, s.InUse)
	require.Zero(t, s.Blocks)
	require.Zero(t, s.External)
	require.Zero(t, s.ExternalBlocks)
	require.Zero(t, s.DoubleReleases)
}

// upload makes a table of a record.
func upload(t testing.TB, m *memory.Manager, record arrow.Record) *buffer.Buffer {
	t.Helper()
	table, err := buffer.FromRecord(m, record)
	require.NoError(t, err)
	return table
}

// download downloads a table and releases it.
func download(t testing.TB, table *buffer.Buffer) arrow.Record {
	t.Helper()
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	require.NoError(t, table.Release())
	return record
}

// arrayOf downloads a column.
func arrayOf(t testing.TB, c *column.Column) arrow.Array {
	t.Helper()
	arrays, err := column.ToArrays(t.Context(), []*column.Column{c}, column.DownloadOptions{})
	require.NoError(t, err)
	return arrays[0]
}

// recordOf makes a record of the arrays, with a separate name for each column.
func recordOf(arrays ...arrow.Array) arrow.Record {
	fields := make([]arrow.Field, len(arrays))
	rows := 0
	for i, each := range arrays {
		fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: each.DataType(), Nullable: true}
		rows = each.Len()
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

// disguised exports a table and moves the array to structs that gpuframe does not
// recognise.
func disguised(t testing.TB, table *buffer.Buffer) (*producertest.Producer, *Array) {
	t.Helper()
	a, err := Export(table)
	require.NoError(t, err)
	p := producertest.Disguise((*cabi.DeviceArray)(a.Device()))
	t.Cleanup(p.Free)
	return p, a
}

// pointerTo returns a struct's address as an unsafe.Pointer, which the functions of
// this package take.
func pointerTo[T any](t *T) unsafe.Pointer { return unsafe.Pointer(t) }

func TestMain(m *testing.M) {
	if err := arraytest.RegisterExtension(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// pointerAt turns the address of host memory into a pointer.
func pointerAt(at uintptr) unsafe.Pointer { return address.Pointer(at) }
