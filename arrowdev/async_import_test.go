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

// send starts a producer on a C thread, with a new reader.
func send(t require.TestingT, m *memory.Manager, b *cabitest.Batches, mode cabitest.Mode, at, code, ahead int) (*arrowdev.AsyncReader, *cabitest.Sender) {
	reader, err := arrowdev.ImportAsync(m, arrowdev.AsyncOptions{Ahead: ahead})
	require.NoError(t, err)
	sender := cabitest.NewSender(b, mode, at, code)
	require.NoError(t, sender.Start(reader.Handler()))
	return reader, sender
}

func TestAForeignProducer(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		const batches, rows = 1000, 3
		foreign := foreignBatches(t, m, batches, rows)
		reader, sender := send(t, m, foreign, cabitest.Good, 0, 0, 3)
		defer sender.Free()
		for i := range batches {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			requireNumbers(t, table, i, rows)
		}
		_, err := reader.Next(t.Context())
		require.Equal(t, io.EOF, err)
		require.NoError(t, reader.Close())
		require.NoError(t, sender.Join())
		counts := sender.Counts()
		require.Equal(t, batches, counts.Extracted)
		require.LessOrEqual(t, counts.Ahead, 4, "three ahead, one being extracted")
		require.Zero(t, counts.Tasks)
		require.Equal(t, 1, counts.Released)
		requireGivenBack(t, foreign)
	})
}

// Readers leave at any point; producers fail, quit and break the protocol at any
// point. Every task that was sent is extracted or dropped, and the tables before a
// failure are delivered.
func TestForeignProducerModes(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		const rows = 2
		foreign := foreignBatches(t, m, 8, rows)
		property.Check(t, func(r *rapid.T) {
			b := &cabitest.Batches{DeviceType: foreign.DeviceType, DeviceID: foreign.DeviceID, Data: foreign.Data, Rows: rows}
			b.Count = rapid.IntRange(0, 8).Draw(r, "batches")
			b.FailAt, b.FailCode = rapid.IntRange(0, 8).Draw(r, "extraction fails at"), 28
			mode := cabitest.Mode(rapid.IntRange(0, int(cabitest.EndOfAllModes)-1).Draw(r, "mode"))
			at := rapid.IntRange(0, 8).Draw(r, "at")
			reads := rapid.IntRange(0, 10).Draw(r, "reads")
			reader, sender := send(r, m, b, mode, at, 5, rapid.IntRange(0, 4).Draw(r, "ahead"))
			defer b.Free()
			defer sender.Free()
			good := 0
			var failed error
			for range reads {
				table, err := reader.Next(context.Background())
				if err != nil {
					failed = err
					continue
				}
				require.NoError(r, failed, "nothing comes after an error")
				requireNumbers(t, table, good, rows)
				good++
			}
			require.NoError(r, reader.Close())
			require.NoError(r, sender.Join())
			checkManners(r, b, mode, at, reads, good, failed)
			counts := sender.Counts()
			require.Equal(r, counts.Delivered, counts.Extracted+counts.Discarded)
			require.Zero(r, counts.Tasks)
			require.Equal(r, 1, counts.Released)
			schemas, arrays, _ := b.Held()
			require.Zero(r, schemas)
			require.Zero(r, arrays)
			require.Zero(r, m.Stats().ExternalBlocks)
		})
	})
}

// checkManners compares the tables and errors that were read with the producer's
// mode.
func checkManners(r *rapid.T, b *cabitest.Batches, mode cabitest.Mode, at, reads, good int, failed error) {
	end := b.Count
	if b.FailAt > 0 {
		end = min(end, b.FailAt)
	}
	switch mode {
	case cabitest.Quits, cabitest.Fails:
		end = min(end, at)
	case cabitest.FailsFirst, cabitest.ReleasesFirst, cabitest.HasNoProducer:
		end = 0
	case cabitest.Overruns:
		require.LessOrEqual(r, good, min(end, reads))
		return // the number depends on the order of two threads
	case cabitest.RepeatsSchema:
		require.LessOrEqual(r, good, min(end, reads))
		if reads > end {
			require.ErrorIs(r, failed, arrowdev.ErrInvalid)
		}
		return
	}
	require.Equal(r, min(end, reads), good)
	if reads <= end {
		require.NoError(r, failed)
		return
	}
	var told *arrowdev.StreamError
	switch {
	case mode == cabitest.HasNoProducer:
		require.ErrorIs(r, failed, arrowdev.ErrInvalid)
	case mode == cabitest.ReleasesFirst:
		require.ErrorIs(r, failed, io.ErrUnexpectedEOF)
	case mode == cabitest.FailsFirst:
		require.ErrorAs(r, failed, &told)
		require.Equal(r, 5, told.Code)
	case end == b.FailAt && b.FailAt > 0 && b.FailAt < b.Count && !(at <= end && (mode == cabitest.Quits || mode == cabitest.Fails)):
		require.ErrorAs(r, failed, &told)
		require.Equal(r, 28, told.Code)
	case mode == cabitest.Quits && at < b.Count:
		require.ErrorIs(r, failed, io.ErrUnexpectedEOF)
	case mode == cabitest.Fails && at < b.Count:
		require.ErrorAs(r, failed, &told)
		require.Equal(r, 5, told.Code)
		require.Equal(r, "the disk is full", told.Message)
	case mode == cabitest.GoesOn:
		if failed != io.EOF { // the failure may follow the end of the stream
			require.ErrorIs(r, failed, arrowdev.ErrInvalid)
		}
	default:
		require.Equal(r, io.EOF, failed)
	}
}

func TestAProducerOnAnotherDevice(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		foreign := foreignBatches(t, m, 2, 2)
		foreign.DeviceType = 8
		reader, sender := send(t, m, foreign, cabitest.Good, 0, 0, 0)
		defer sender.Free()
		_, err := reader.Next(t.Context())
		require.ErrorIs(t, err, arrowdev.ErrDevice)
		require.NoError(t, reader.Close())
		require.NoError(t, sender.Join())
		require.Equal(t, cabi.EINVAL, sender.Counts().SchemaCode)
		requireGivenBack(t, foreign)
	})
}

func TestATaskOnAnotherDevice(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		foreign := foreignBatches(t, m, 5, 2)
		foreign.ElsewhereAt = 2
		reader, sender := send(t, m, foreign, cabitest.Good, 0, 0, 4)
		defer sender.Free()
		for i := range 2 {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			requireNumbers(t, table, i, 2)
		}
		for range 2 {
			_, err := reader.Next(t.Context())
			require.ErrorIs(t, err, arrowdev.ErrDevice)
		}
		require.NoError(t, reader.Close())
		require.NoError(t, sender.Join())
		requireGivenBack(t, foreign)
	})
}

// A producer that never quits ends with the context of the options.
func TestCloseWithHungProducer(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(io.ErrClosedPipe)
		options := arrowdev.AsyncOptions{}
		options.Context = ctx
		reader, err := arrowdev.ImportAsync(m, options)
		require.NoError(t, err)
		foreign := foreignBatches(t, m, 5, 2)
		sender := cabitest.NewSender(foreign, cabitest.Good, 0, 0)
		defer sender.Free()
		sender.Hold(true)
		require.NoError(t, sender.Start(reader.Handler()))
		require.NotNil(t, reader.Schema())
		err = reader.Close()
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, io.ErrClosedPipe)
		sender.Hold(false)
		require.NoError(t, sender.Join())
		require.NoError(t, reader.Close())
		requireGivenBack(t, foreign)
	})
}
