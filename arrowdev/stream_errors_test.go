//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// failures are the errors of a reader, with the codes that the consumer receives.
func failures(m *memory.Manager) map[string]struct {
	batch func(context.Context) (*buffer.Buffer, error)
	code  int
	text  string
} {
	type failure = struct {
		batch func(context.Context) (*buffer.Buffer, error)
		code  int
		text  string
	}
	with := func(err error) func(context.Context) (*buffer.Buffer, error) {
		return func(context.Context) (*buffer.Buffer, error) { return nil, err }
	}
	return map[string]failure{
		"anything":      {with(errBroken), cabi.EIO, errBroken.Error()},
		"a budget":      {with(fmt.Errorf("read: %w", &memory.BudgetError{})), cabi.ENOMEM, "budget"},
		"no memory":     {with(fmt.Errorf("read: %w", device.ErrOutOfMemory)), cabi.ENOMEM, "memory"},
		"a context":     {with(fmt.Errorf("read: %w", context.DeadlineExceeded)), cabi.ECANCELED, "deadline"},
		"a bad request": {with(fmt.Errorf("read: %w", device.ErrInvalidValue)), cabi.EINVAL, "invalid"},
		"a stream":      {with(&arrowdev.StreamError{Code: 95, Message: "elsewhere"}), 95, "elsewhere"},
		"nonsense code": {with(&arrowdev.StreamError{Code: -1, Message: "elsewhere"}), cabi.EIO, "elsewhere"},
		"wrapped end":   {with(fmt.Errorf("header: %w", errWrappedEOF)), cabi.EIO, "header"},
		"a panic": {func(context.Context) (*buffer.Buffer, error) { panic("at the disco") }, cabi.EIO,
			"panicked: at the disco"},
		"another schema": {func(context.Context) (*buffer.Buffer, error) { return otherTable(m) }, cabi.EINVAL, "schema differs"},
		"a released table": {func(context.Context) (*buffer.Buffer, error) {
			table, err := numbersTable(m, 0, 3)
			if err == nil {
				err = table.Release()
			}
			return table, err
		}, cabi.EINVAL, "released"},
	}
}

var errWrappedEOF = fmt.Errorf("cut short: %w", io.EOF)

// otherTable has a column of another type.
func otherTable(m *memory.Manager) (*buffer.Buffer, error) {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator,
		arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil))
	defer b.Release()
	b.Field(0).AppendEmptyValue()
	record := b.NewRecord()
	defer record.Release()
	return buffer.FromRecord(m, record)
}

func TestErrorsOfAnExportedStream(t *testing.T) {
	for name := range failures(nil) {
		t.Run(name, func(t *testing.T) {
			streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
				failure := failures(m)[name]
				source := newTables(m, 5, 3)
				source.at[2] = failure.batch
				stream, out := newStruct[cabi.DeviceStream](t), newStruct[cabi.DeviceArray](t)
				require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(stream)))
				calls := cabitest.CallsOf(stream)
				for range 2 {
					require.Zero(t, calls.Next(stream, out))
					cabi.ReleaseArray(&out.Array)
				}
				for range 3 { // again and again
					out.Array.Release = 0xBAD
					require.Equal(t, failure.code, calls.Next(stream, out))
					require.Zero(t, out.Array.Release)
					for range 2 {
						text, given := calls.LastError(stream)
						require.True(t, given)
						require.Contains(t, text, failure.text)
					}
				}
				schema := newStruct[cabi.Schema](t)
				require.Zero(t, calls.Schema(stream, schema), "that still works")
				cabi.ReleaseSchema(schema)
				_, given := calls.LastError(stream)
				require.False(t, given)
				calls.Release(stream)
			})
		})
	}
}

// Our importer receives the same failures.
func TestErrorsThroughOurImporter(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		source := newTables(m, 5, 3).fail(1, &memory.BudgetError{})
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(stream)))
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.NoError(t, err)
		table, err := reader.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, table.Release())
		for range 2 {
			_, err = reader.Next(t.Context())
			require.ErrorIs(t, err, device.ErrOutOfMemory)
			var told *arrowdev.StreamError
			require.ErrorAs(t, err, &told)
			require.Equal(t, cabi.ENOMEM, told.Code)
			require.NotEmpty(t, told.Message)
		}
		require.NoError(t, reader.Close())
	})
}

// Memory of another kind is on another type of device, except on the host.
func TestBatchOnAnotherDevice(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		if m.Device().Kind() == device.Host {
			t.Skip("all memory of the host device is the CPU's")
		}
		pinned := devicetest.Manager(t, m.Device(), memory.Options{Resource: memory.NewPinnedResource(m.Device())})
		source := newTables(m, 3, 3)
		source.at[1] = func(context.Context) (*buffer.Buffer, error) { return numbersTable(pinned, 1, 3) }
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(stream)))
		seen, err := cabitest.ReadDeviceStream(stream, -1, false)
		require.NoError(t, err)
		require.Equal(t, 1, seen.Batches)
		require.Equal(t, cabi.EINVAL, seen.Code)
		require.Contains(t, seen.Message, "device_type")

		source = newTables(pinned, 3, 3)
		require.NoError(t, arrowdev.ExportStream(pinned, source, pointerTo(stream)))
		require.EqualValues(t, cabi.DeviceCUDAHost, stream.DeviceType)
		seen, err = cabitest.ReadDeviceStream(stream, -1, false)
		require.NoError(t, err)
		require.Equal(t, 3, seen.Batches, seen.Message)
	})
}

func TestStreamErrors(t *testing.T) {
	require.Contains(t, (&arrowdev.StreamError{Code: 5}).Error(), "code 5 and no message")
	require.ErrorIs(t, &arrowdev.StreamError{Code: cabi.ECANCELED}, context.Canceled)
	require.NotErrorIs(t, &arrowdev.StreamError{Code: cabi.EIO}, context.Canceled)
	require.NotErrorIs(t, &arrowdev.StreamError{Code: cabi.EIO}, device.ErrOutOfMemory)
}
