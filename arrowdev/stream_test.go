//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

func TestOwnStream(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		const batches = 1000
		source := newTables(m, batches, 5)
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(stream)))
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.NoError(t, err)
		require.Zero(t, stream.Release, "moved")
		require.True(t, numbersSchema().Equal(reader.Schema()))
		for i := range batches {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			requireNumbers(t, table, i, 5)
		}
		for range 2 {
			_, err = reader.Next(t.Context())
			require.Equal(t, io.EOF, err)
		}
		require.Zero(t, source.closed.Load())
		require.NoError(t, reader.Close())
		require.NoError(t, reader.Close())
		require.EqualValues(t, 1, source.closed.Load())
		_, err = reader.Next(t.Context())
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}

// A stream that is exported and imported repeatedly keeps its error codes.
func TestAStreamOfAStream(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		source := newTables(m, 9, 3).fail(2, &arrowdev.StreamError{Code: 28, Message: "disk full"})
		first, second := newStruct[cabi.DeviceStream](t), newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(first)))
		reader, err := arrowdev.ImportStream(m, pointerTo(first))
		require.NoError(t, err)
		require.NoError(t, arrowdev.ExportStream(m, reader, pointerTo(second)))
		seen, err := cabitest.ReadDeviceStream(second, -1, true)
		require.NoError(t, err)
		require.Equal(t, 2, seen.Batches)
		require.Equal(t, 28, seen.Code)
		require.Contains(t, seen.Message, "disk full")
		require.EqualValues(t, 1, source.closed.Load())
	})
}

func TestTablesOutliveTheirStream(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, newTables(m, 3, 4), pointerTo(stream)))
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.NoError(t, err)
		table, err := reader.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		requireNumbers(t, table, 0, 4)
	})
}

// A stream may be left at any point, on any thread.
func TestAForeignConsumer(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		property.Check(t, func(r *rapid.T) {
			count, rows := rapid.IntRange(0, 5).Draw(r, "batches"), rapid.IntRange(0, 4).Draw(r, "rows")
			limit := rapid.IntRange(-1, 6).Draw(r, "limit")
			source := newTables(m, count, rows)
			stream := cabitest.New[cabi.DeviceStream]()
			defer cabitest.Free(stream)
			require.NoError(r, arrowdev.ExportStream(m, source, pointerTo(stream)))
			seen, err := cabitest.ReadDeviceStream(stream, limit, rapid.Bool().Draw(r, "on a thread"))
			require.NoError(r, err)
			want := count
			if limit >= 0 {
				want = min(count, limit)
			}
			require.Equal(r, want, seen.Batches)
			require.Equal(r, want*rows, seen.Rows)
			require.Equal(r, 1, seen.Columns)
			require.Zero(r, seen.Code, seen.Message)
			if want > 0 {
				require.Equal(r, stream.DeviceType, seen.DeviceType)
			}
			require.EqualValues(r, 1, source.closed.Load())
			require.Zero(r, stream.Release)
		})
	})
}

func TestAStreamThatIsNeverRead(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		source := newTables(m, 3, 3)
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(stream)))
		require.NoError(t, cabitest.ReleaseStreamOnThread(stream))
		require.EqualValues(t, 1, source.closed.Load())
		require.Zero(t, source.made.Load())
	})
}

// Several threads fetch batches, first in sequence, then concurrently.
func TestAStreamOnManyThreads(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		const batches = 40
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, newTables(m, batches, 3), pointerTo(stream)))
		fetch := func() (got int) {
			out := cabitest.New[cabi.DeviceArray]()
			defer cabitest.Free(out)
			for cabitest.NextOnThread(stream, out) == 0 && out.Array.Release != 0 {
				got++
				cabi.ReleaseArray(&out.Array)
			}
			return got
		}
		counts := make(chan int)
		for range 4 {
			go func() { counts <- fetch() }()
		}
		total := 0
		for range 4 {
			total += <-counts
		}
		require.Equal(t, batches, total)
		require.NoError(t, cabitest.ReleaseStreamOnThread(stream))
	})
}

func TestCallsThatAreForbidden(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		stream, out, schema := newStruct[cabi.DeviceStream](t), newStruct[cabi.DeviceArray](t), newStruct[cabi.Schema](t)
		source := newTables(m, 2, 3)
		require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(stream)))
		calls := cabitest.CallsOf(stream)

		require.Equal(t, cabi.EINVAL, calls.Schema(nil, schema))
		require.Equal(t, cabi.EINVAL, calls.Next(nil, out))
		_, given := calls.LastError(nil)
		require.False(t, given)
		calls.Release(nil)

		require.Equal(t, cabi.EINVAL, calls.Next(stream, nil))
		text, given := calls.LastError(stream)
		require.True(t, given)
		require.Contains(t, text, "get_next: out")
		require.Equal(t, cabi.EINVAL, calls.Schema(stream, nil))
		text, _ = calls.LastError(stream)
		require.Contains(t, text, "get_schema: out")

		require.Zero(t, calls.Next(stream, out), "that was no end of the stream")
		_, given = calls.LastError(stream)
		require.False(t, given)
		cabi.ReleaseArray(&out.Array)

		released := *stream // a consumer may still hold the struct that it moved
		calls.Release(stream)
		moved := newStruct[cabi.DeviceStream](t)
		*moved = released
		calls.Release(moved)
		require.Equal(t, cabi.EINVAL, calls.Next(moved, out))
		require.Equal(t, cabi.EINVAL, calls.Schema(moved, schema))
		_, given = calls.LastError(moved)
		require.False(t, given)
		require.EqualValues(t, 1, source.closed.Load())
	})
}

func TestStreamsThatCannotBeExported(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		stream := newStruct[cabi.DeviceStream](t)
		source := newTables(m, 1, 1)
		require.Error(t, arrowdev.ExportStream(nil, source, pointerTo(stream)))
		require.ErrorIs(t, arrowdev.ExportStream(m, source, nil), arrowdev.ErrInvalid)
		require.Error(t, arrowdev.ExportStream(m, source, pointerTo(stream), arrowdev.ExportOptions{}, arrowdev.ExportOptions{}))
		require.EqualValues(t, 3, source.closed.Load(), "taken over in every case")
		require.Error(t, arrowdev.ExportStream(m, nil, pointerTo(stream)))
		require.Zero(t, stream.Release)
	})
}

// A reader without a schema.
type unschooled struct{ *tables }

func (unschooled) Schema() *arrow.Schema { return nil }

func TestAReaderWithoutASchema(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, unschooled{newTables(m, 1, 1)}, pointerTo(stream)))
		_, err := arrowdev.ImportStream(m, pointerTo(stream))
		var told *arrowdev.StreamError
		require.ErrorAs(t, err, &told)
		require.Equal(t, cabi.EINVAL, told.Code)
		require.Contains(t, told.Message, "schema")
	})
}

func TestTheContextOfAnExportedStream(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		ctx, cancel := context.WithCancel(t.Context())
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(m, newTables(m, 3, 3), pointerTo(stream), arrowdev.ExportOptions{Context: ctx}))
		cancel()
		seen, err := cabitest.ReadDeviceStream(stream, -1, false)
		require.NoError(t, err)
		require.Equal(t, cabi.ECANCELED, seen.Code)
	})
}
