//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// connect runs our exporter into one of our readers.
func connect(t require.TestingT, m *memory.Manager, source buffer.Reader, options arrowdev.AsyncOptions) (*arrowdev.AsyncReader, <-chan error) {
	reader, err := arrowdev.ImportAsync(m, options)
	require.NoError(t, err)
	done := make(chan error, 1)
	handler := reader.Handler()
	go func() { done <- arrowdev.ExportAsync(context.Background(), m, source, handler) }()
	return reader, done
}

func TestOwnAsyncStream(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		const batches = 1000
		source := newTables(m, batches, 5)
		reader, done := connect(t, m, source, arrowdev.AsyncOptions{})
		require.True(t, numbersSchema().Equal(reader.Schema()))
		for i := range batches {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			require.LessOrEqual(t, source.made.Load(), int64(i+1+2), "two ahead")
			requireNumbers(t, table, i, 5)
		}
		for range 2 {
			_, err := reader.Next(t.Context())
			require.Equal(t, io.EOF, err)
		}
		require.NoError(t, <-done)
		require.Nil(t, reader.Handler())
		require.NoError(t, reader.Close())
		require.NoError(t, reader.Close())
		require.EqualValues(t, 1, source.closed.Load())
		_, err := reader.Next(t.Context())
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}

// Readers leave, and sources fail, at any point.
func TestAsyncStreamsThatEndEarly(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		property.Check(t, func(r *rapid.T) {
			count, rows := rapid.IntRange(0, 6).Draw(r, "batches"), rapid.IntRange(0, 4).Draw(r, "rows")
			ahead := rapid.IntRange(0, 4).Draw(r, "ahead")
			reads := rapid.IntRange(0, 8).Draw(r, "reads")
			failAt := rapid.IntRange(-1, 6).Draw(r, "fails at")
			source := newTables(m, count, rows)
			if failAt >= 0 {
				source.fail(failAt, errBroken)
			}
			reader, done := connect(r, m, source, arrowdev.AsyncOptions{Ahead: ahead})
			end := count
			if failAt >= 0 {
				end = min(count, failAt)
			}
			for i := range reads {
				table, err := reader.Next(context.Background())
				switch {
				case i < end:
					require.NoError(r, err)
					requireNumbers(t, table, i, rows)
				case failAt >= 0 && failAt <= count:
					var told *arrowdev.StreamError
					require.ErrorAs(r, err, &told)
					require.Contains(r, told.Message, errBroken.Error())
				default:
					require.Equal(r, io.EOF, err)
				}
			}
			require.NoError(r, reader.Close())
			if err := <-done; err != nil && (reads > 0 || !strings.Contains(err.Error(), "on_schema: the consumer returned")) {
				require.ErrorIs(r, err, errBroken)
			}
			require.EqualValues(r, 1, source.closed.Load())
			require.Zero(r, m.Stats().InUse)
		})
	})
}

// A source that waits for its context gets the cancel.
func TestCancelReachesTheSource(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		source := newTables(m, 5, 3)
		waiting := make(chan struct{})
		source.at[1] = func(ctx context.Context) (*buffer.Buffer, error) {
			close(waiting)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		reader, done := connect(t, m, source, arrowdev.AsyncOptions{})
		<-waiting
		require.NoError(t, reader.Close())
		require.NoError(t, <-done, "a cancel is no error")
	})
}

func TestTheContextOfAsyncNext(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		reader, err := arrowdev.ImportAsync(m, arrowdev.AsyncOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := reader.Next(ctx)
			failed <- err
		}()
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
		_, err = reader.AwaitSchema(ctx)
		require.ErrorIs(t, err, context.Canceled)

		// Close wakes the waiting calls.
		go func() {
			_, err := reader.Next(context.Background())
			failed <- err
		}()
		go func() {
			_, err := reader.AwaitSchema(context.Background())
			failed <- err
		}()
		require.NoError(t, reader.Close())
		require.ErrorIs(t, <-failed, memory.ErrReleased)
		require.ErrorIs(t, <-failed, memory.ErrReleased)
		require.Nil(t, reader.Schema())
	})
}

func TestAsyncImportsThatAreRefused(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		_, err := arrowdev.ImportAsync(nil, arrowdev.AsyncOptions{})
		require.Error(t, err)
		_, err = arrowdev.ImportAsync(m, arrowdev.AsyncOptions{Ahead: -1})
		require.Error(t, err)
	})
}

// A reader that is closed before its producer begins refuses it.
func TestProducerAfterClose(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		reader, err := arrowdev.ImportAsync(m, arrowdev.AsyncOptions{})
		require.NoError(t, err)
		handler := reader.Handler()
		require.NoError(t, reader.Close())
		source := newTables(m, 2, 2)
		err = arrowdev.ExportAsync(t.Context(), m, source, handler)
		require.ErrorContains(t, err, "on_schema")
		require.EqualValues(t, 1, source.closed.Load())
		require.Zero(t, source.made.Load())
	})
}
