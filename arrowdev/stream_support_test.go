//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

var errBroken = errors.New("broken on purpose")

// streaming runs f on each device. At the end both sides must have released
// everything, and every goroutine must have ended.
func streaming(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) { balanced(t, dev, memory.Options{}, f) })
	t.Run("passes for a GPU", func(t *testing.T) {
		balanced(t, launchtest.Open(t, &launchtest.GPU{}), memory.Options{}, f)
	})
}

// streamingOnHost is for tests that do not depend on the device.
func streamingOnHost(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	balanced(t, devicetest.Open(t, "host"), memory.Options{}, f)
}

func balanced(t *testing.T, dev *device.Device, options memory.Options, f func(t *testing.T, m *memory.Manager)) {
	m := devicetest.Manager(t, dev, options)
	live, structs := cabi.Live(), cabi.Structs()
	f(t, m)
	// A producer may end on another thread after its consumer has the last batch.
	await.Until(t, func() bool { return cabi.Live() == live && cabi.Structs() == structs },
		"%d streams, producers, tasks and handlers and %d structs in C memory are left, as before the test", live, structs)
	require.NoError(t, m.Stream().Synchronize(context.Background()))
	stats := m.Stats()
	require.Zero(t, stats.InUse)
	require.Zero(t, stats.Blocks)
	require.Zero(t, stats.External)
	require.Zero(t, stats.DoubleReleases)
	await.Ended(t, "github.com/gpuframe/gpuframe/arrowdev.")
}

func numbersSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
}

// numbers returns the values of a batch.
func numbers(batch, rows int) []int32 {
	values := make([]int32, rows)
	for i := range values {
		values[i] = int32(batch*1000 + i)
	}
	return values
}

func numbersRecord(batch, rows int) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, numbersSchema())
	defer b.Release()
	b.Field(0).(*array.Int32Builder).AppendValues(numbers(batch, rows), nil)
	return b.NewRecord()
}

func numbersTable(m *memory.Manager, batch, rows int) (*buffer.Buffer, error) {
	record := numbersRecord(batch, rows)
	defer record.Release()
	return buffer.FromRecord(m, record)
}

// requireNumbers checks a table of a batch and releases it.
func requireNumbers(t testing.TB, table *buffer.Buffer, batch, rows int) {
	t.Helper()
	record, err := table.Record(context.Background())
	require.NoError(t, err)
	defer record.Release()
	require.True(t, numbersSchema().Equal(record.Schema()), "%v", record.Schema())
	require.Equal(t, numbers(batch, rows), append([]int32{}, record.Column(0).(*array.Int32).Int32Values()...))
	require.NoError(t, table.Release())
}

// tables is a reader that makes each batch in Next.
type tables struct {
	manager *memory.Manager
	rows    int
	count   int
	// at replaces batches by functions.
	at map[int]func(ctx context.Context) (*buffer.Buffer, error)

	next   int
	made   atomic.Int64
	closed atomic.Int64
}

func newTables(m *memory.Manager, count, rows int) *tables {
	return &tables{manager: m, count: count, rows: rows, at: map[int]func(context.Context) (*buffer.Buffer, error){}}
}

func (s *tables) fail(at int, err error) *tables {
	s.at[at] = func(context.Context) (*buffer.Buffer, error) { return nil, err }
	return s
}

func (s *tables) Schema() *arrow.Schema { return numbersSchema() }

func (s *tables) Next(ctx context.Context) (*buffer.Buffer, error) {
	batch := s.next
	s.next++
	if f := s.at[batch]; f != nil {
		return f(ctx)
	}
	if batch >= s.count {
		return nil, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.made.Add(1)
	return numbersTable(s.manager, batch, s.rows)
}

func (s *tables) Close() error {
	s.closed.Add(1)
	return nil
}

// foreignBatches are another library's batches, in device memory outside all
// managers.
func foreignBatches(t testing.TB, m *memory.Manager, count, rows int) *cabitest.Batches {
	t.Helper()
	b := &cabitest.Batches{DeviceType: cabi.DeviceCPU, DeviceID: cabi.NoDeviceID, Count: count, Rows: rows}
	dev := m.Device()
	if dev.Kind() == device.CUDA {
		b.DeviceType, b.DeviceID = cabi.DeviceCUDA, int64(dev.Info().Ordinal)
	}
	var values []int32
	for i := range count {
		values = append(values, numbers(i, rows)...)
	}
	driver := dev.Driver()
	bytes := uint64(4 * len(values))
	at, err := driver.Alloc(max(bytes, 1))
	require.NoError(t, err)
	if bytes > 0 {
		require.NoError(t, driver.CopyToDevice(at, unsafe.Pointer(&values[0]), bytes))
	}
	b.Data = uintptr(at)
	t.Cleanup(func() {
		b.Free()
		require.NoError(t, driver.Free(at))
	})
	return b
}

// requireGivenBack checks that all batches of the other library were released.
func requireGivenBack(t testing.TB, b *cabitest.Batches) {
	t.Helper()
	schemas, arrays, streams := b.Held()
	require.Equal(t, [3]int{}, [3]int{schemas, arrays, streams}, "schemas, arrays, streams that were not released")
}

func newStruct[T any](t testing.TB) *T {
	s := cabitest.New[T]()
	t.Cleanup(func() { cabitest.Free(s) })
	return s
}

func pointerTo[T any](s *T) unsafe.Pointer { return unsafe.Pointer(s) }
