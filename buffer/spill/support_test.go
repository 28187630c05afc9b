package spill_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// numbers makes a record of one column of 8·rows bytes with distinct values for each
// first.
func numbers(rows int, first int64) arrow.Record {
	b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
	for i := range int64(rows) {
		b.Append(first + i*i)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "number", Type: arrow.PrimitiveTypes.Int64}}, nil)
	return array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(rows))
}

// tableRows is the length of most tables in these tests, tableBytes their size.
const (
	tableRows  = 1024
	tableBytes = 8 * tableRows
)

// newSpiller makes a spiller until the end of the test, which fails if a table is
// still open or host memory is still in use.
func newSpiller(t testing.TB, mgr *memory.Manager, options spill.Options) *spill.Spiller {
	t.Helper()
	s, err := spill.NewSpiller(mgr, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// onDevice makes a manager with a budget for a number of tables, and its spiller.
func onDevice(t testing.TB, dev *device.Device, tables int, options spill.Options) (*memory.Manager, *spill.Spiller) {
	t.Helper()
	mgr := devicetest.Manager(t, dev, memory.Options{Budget: uint64(tables) * tableBytes})
	return mgr, newSpiller(t, mgr, options)
}

// add copies a record to the device and adds it as a table until the end of the test.
func add(t testing.TB, mgr *memory.Manager, s *spill.Spiller, record arrow.Record) *spill.Table {
	t.Helper()
	table := addOnly(t, mgr, s, record)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

func addOnly(t require.TestingT, mgr *memory.Manager, s *spill.Spiller, record arrow.Record) *spill.Table {
	loaded, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	table, err := s.Add(loaded)
	require.NoError(t, err)
	require.ErrorIs(t, loaded.Check(), memory.ErrReleased, "the reference was taken over")
	return table
}

// press spills every movable table.
func press(t testing.TB, s *spill.Spiller) (released uint64) {
	t.Helper()
	released, err := s.Reclaim(t.Context(), 1<<60)
	require.NoError(t, err)
	return released
}

func acquire(t testing.TB, table *spill.Table) *buffer.Buffer {
	t.Helper()
	held, err := table.Acquire(t.Context())
	require.NoError(t, err)
	require.False(t, table.Spilled())
	return held
}

func requireSame(t require.TestingT, want, got arrow.Record) {
	require.True(t, want.Schema().Equal(got.Schema()), "want %v\ngot  %v", want.Schema(), got.Schema())
	require.True(t, array.RecordEqual(want, got), "want %v\ngot  %v", want, got)
}

// requireTable requires that a table has the contents of a record, on the device or
// the host.
func requireTable(t testing.TB, want arrow.Record, table *spill.Table) {
	t.Helper()
	spilled := table.Spilled()
	got, err := table.Record(t.Context())
	require.NoError(t, err)
	defer got.Release()
	requireSame(t, want, got)
	require.Equal(t, spilled, table.Spilled(), "it is read in place")
}

// requireBuffer requires that a buffer has the contents of a record.
func requireBuffer(t testing.TB, want arrow.Record, table *buffer.Buffer) {
	t.Helper()
	got, err := table.Record(t.Context())
	require.NoError(t, err)
	defer got.Release()
	requireSame(t, want, got)
}

// spilled returns for each table whether it is on the host.
func spilled(tables []*spill.Table) []bool {
	where := make([]bool, len(tables))
	for i, table := range tables {
		where[i] = table.Spilled()
	}
	return where
}

// differs returns an error unless the records are the same. It releases the
// second one.
func differs(want, got arrow.Record) error {
	defer got.Release()
	if !array.RecordEqual(want, got) {
		return fmt.Errorf("want %v\ngot  %v", want, got)
	}
	return nil
}

var errInjected = errors.New("injected")

// fake is the driver of a simulated GPU, with the host's memory and streams. Streams
// never report that they are idle.
type fake struct {
	backend.Device
	// operation fails when left counts down to zero, and the next time too, because
	// managers try each allocation twice.
	operation string
	left      atomic.Int64
	// held keeps all events pending.
	held atomic.Bool
	// onQuery and onCopyToHost are called by the operations of these names.
	onQuery, onCopyToHost func()
}

func (f *fake) fail(operation string) error {
	if operation != f.operation {
		return nil
	}
	if left := f.left.Add(-1); left == 0 || left == -1 {
		return fmt.Errorf("%s: %w", operation, errInjected)
	}
	return nil
}

func (f *fake) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := f.fail("HostAlloc"); err != nil {
		return nil, err
	}
	return f.Device.HostAlloc(bytes)
}

func (f *fake) Alloc(bytes uint64) (backend.Pointer, error) {
	if err := f.fail("Alloc"); err != nil {
		return 0, err
	}
	return f.Device.Alloc(bytes)
}

func (f *fake) CopyToDeviceAsync(to backend.Pointer, from unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	if err := f.fail("CopyToDeviceAsync"); err != nil {
		return err
	}
	return f.Device.CopyToDeviceAsync(to, from, bytes, stream)
}

func (f *fake) CopyToHostAsync(to unsafe.Pointer, from backend.Pointer, bytes uint64, stream backend.Stream) error {
	if err := f.fail("CopyToHostAsync"); err != nil {
		return err
	}
	if f.onCopyToHost != nil {
		f.onCopyToHost()
	}
	return f.Device.CopyToHostAsync(to, from, bytes, stream)
}

func (f *fake) EventRecord(event backend.Event, stream backend.Stream) error {
	if err := f.fail("EventRecord"); err != nil {
		return err
	}
	return f.Device.EventRecord(event, stream)
}

func (f *fake) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	if err := f.fail("StreamWaitEvent"); err != nil {
		return err
	}
	return f.Device.StreamWaitEvent(stream, event)
}

func (f *fake) EventQuery(event backend.Event) (bool, error) {
	if f.onQuery != nil {
		f.onQuery()
	}
	if f.held.Load() {
		return false, nil
	}
	return f.Device.EventQuery(event)
}

// openFake opens such a device until the end of the test.
func openFake(t testing.TB) (*device.Device, *fake) {
	t.Helper()
	return launchtest.OpenWrapped(t, func(below backend.Device) *fake { return &fake{Device: below} })
}

// onFake makes a manager on such a device, with a budget for a number of tables, and
// its spiller.
func onFake(t testing.TB, tables int, options spill.Options) (*memory.Manager, *spill.Spiller, *fake) {
	t.Helper()
	dev, f := openFake(t)
	mgr := devicetest.Manager(t, dev, memory.Options{
		Budget: uint64(tables) * tableBytes, Resource: memory.NewDriverResource(dev),
	})
	options.Host = memory.NewPinnedResource(dev)
	return mgr, newSpiller(t, mgr, options), f
}
