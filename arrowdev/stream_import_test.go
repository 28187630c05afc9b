//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

func TestAForeignStream(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		const batches, rows = 6, 7
		foreign := foreignBatches(t, m, batches, rows)
		stream := newStruct[cabi.DeviceStream](t)
		foreign.DeviceStream(stream)
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.NoError(t, err)
		require.Zero(t, stream.Release)
		for i := range batches {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			require.Positive(t, m.Stats().ExternalBlocks)
			requireNumbers(t, table, i, rows)
		}
		_, err = reader.Next(t.Context())
		require.Equal(t, io.EOF, err)
		require.NoError(t, reader.Close())
		requireGivenBack(t, foreign)
	})
}

// A reader is closed at any point, after any failure of the stream.
func TestForeignStreamClosedEarly(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		const batches, rows = 6, 3
		foreign := foreignBatches(t, m, batches, rows)
		property.Check(t, func(r *rapid.T) {
			b := *foreign
			b.FailAt = rapid.IntRange(0, batches-1).Draw(r, "fails at")
			b.ElsewhereAt = rapid.IntRange(0, batches-1).Draw(r, "elsewhere at")
			b.FailCode = 28
			reads := rapid.IntRange(0, batches+2).Draw(r, "reads")
			b = cabitest.Batches{DeviceType: b.DeviceType, DeviceID: b.DeviceID, Data: b.Data, Rows: b.Rows, Count: b.Count,
				FailAt: b.FailAt, ElsewhereAt: b.ElsewhereAt, FailCode: b.FailCode}
			defer b.Free()
			stream := cabitest.New[cabi.DeviceStream]()
			defer cabitest.Free(stream)
			b.DeviceStream(stream)
			reader, err := arrowdev.ImportStream(m, pointerTo(stream))
			require.NoError(r, err)
			for i := range reads {
				table, err := reader.Next(context.Background())
				switch {
				case b.FailAt > 0 && i >= b.FailAt && (b.ElsewhereAt == 0 || b.ElsewhereAt >= b.FailAt):
					var told *arrowdev.StreamError
					require.ErrorAs(r, err, &told)
					require.Equal(r, 28, told.Code)
					require.Contains(r, told.Message, "is broken")
				case b.ElsewhereAt > 0 && i >= b.ElsewhereAt:
					require.ErrorIs(r, err, arrowdev.ErrDevice)
				case i >= batches:
					require.Equal(r, io.EOF, err)
				default:
					require.NoError(r, err)
					requireNumbers(t, table, i, rows)
				}
			}
			require.NoError(r, reader.Close())
			schemas, arrays, streams := b.Held()
			require.Zero(r, schemas+arrays+streams)
		})
	})
}

func TestTheContextOfNext(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		foreign := foreignBatches(t, m, 2, 3)
		stream := newStruct[cabi.DeviceStream](t)
		foreign.DeviceStream(stream)
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = reader.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
		table, err := reader.Next(t.Context()) // nothing was lost
		require.NoError(t, err)
		requireNumbers(t, table, 0, 3)
		require.NoError(t, reader.Close())
		requireGivenBack(t, foreign)
	})
}

func TestStreamsThatAreRefused(t *testing.T) {
	cases := map[string]struct {
		alter func(*cabi.DeviceStream)
		want  error
	}{
		"another device":        {func(s *cabi.DeviceStream) { s.DeviceType = 8 }, arrowdev.ErrDevice},
		"no device":             {func(s *cabi.DeviceStream) { s.DeviceType = 0 }, arrowdev.ErrDevice},
		"get_schema is missing": {func(s *cabi.DeviceStream) { s.GetSchema = 0 }, arrowdev.ErrInvalid},
		"get_next is missing":   {func(s *cabi.DeviceStream) { s.GetNext = 0 }, arrowdev.ErrInvalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			streaming(t, func(t *testing.T, m *memory.Manager) {
				foreign := foreignBatches(t, m, 2, 3)
				stream := newStruct[cabi.DeviceStream](t)
				foreign.DeviceStream(stream)
				c.alter(stream)
				_, err := arrowdev.ImportStream(m, pointerTo(stream))
				require.ErrorIs(t, err, c.want)
				requireGivenBack(t, foreign)
				_, err = arrowdev.ImportStream(m, pointerTo(stream))
				require.ErrorIs(t, err, arrowdev.ErrMoved)
			})
		})
	}
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		_, err := arrowdev.ImportStream(m, nil)
		require.ErrorIs(t, err, arrowdev.ErrInvalid)
		foreign := foreignBatches(t, m, 2, 3)
		stream := newStruct[cabi.DeviceStream](t)
		foreign.DeviceStream(stream)
		_, err = arrowdev.ImportStream(nil, pointerTo(stream))
		require.Error(t, err)
		foreign.DeviceStream(stream)
		_, err = arrowdev.ImportStream(m, pointerTo(stream), arrowdev.ImportOptions{}, arrowdev.ImportOptions{})
		require.Error(t, err)
		requireGivenBack(t, foreign)
	})
}

func TestBatchesOfAnotherSchema(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		foreign := foreignBatches(t, m, 2, 3)
		foreign.Lying = true
		stream := newStruct[cabi.DeviceStream](t)
		foreign.DeviceStream(stream)
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.NoError(t, err)
		_, err = reader.Next(t.Context())
		require.ErrorIs(t, err, arrowdev.ErrInvalid)
		_, again := reader.Next(t.Context())
		require.Equal(t, err, again)
		require.NoError(t, reader.Close())
		requireGivenBack(t, foreign)
	})
}

// A stream without get_last_error still fails in an orderly way.
func TestAStreamWithoutLastError(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		foreign := foreignBatches(t, m, 2, 3)
		foreign.FailAt, foreign.FailCode = 1, 5
		stream := newStruct[cabi.DeviceStream](t)
		foreign.DeviceStream(stream)
		stream.GetLastError = 0
		reader, err := arrowdev.ImportStream(m, pointerTo(stream))
		require.NoError(t, err)
		table, err := reader.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, table.Release())
		_, err = reader.Next(t.Context())
		var told *arrowdev.StreamError
		require.ErrorAs(t, err, &told)
		require.Empty(t, told.Message)
		require.NoError(t, reader.Close())
		requireGivenBack(t, foreign)
	})
}
