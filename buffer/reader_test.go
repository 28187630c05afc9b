package buffer_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestReaderUploadsBatchByBatch(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 100)
		parts := batches(t, whole, 40, 0, 60)
		var told []buffer.Progress
		reader := buffer.NewReader(mgr, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{
			Progress: func(p buffer.Progress) { told = append(told, p) },
		})
		require.True(t, whole.Schema().Equal(reader.Schema()))
		for i, part := range parts {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			requireRecord(t, part, table)
			require.NoError(t, table.Release())
			require.Len(t, told, i+1)
			assert.True(t, told[i].Moved)
		}
		assert.EqualValues(t, 100, told[2].Rows)
		for range 2 {
			_, err := reader.Next(t.Context())
			require.Equal(t, io.EOF, err)
		}
		require.NoError(t, reader.Close())
		require.NoError(t, reader.Close())
		_, err := reader.Next(t.Context())
		require.ErrorIs(t, err, memory.ErrReleased)
		requireEmpty(t, mgr)
	})
}

func TestReaderOfAReaderThatFails(t *testing.T) {
	mgr := hostManager(t)
	whole := flights(t, 20)
	parts := batches(t, whole, 10, 10)
	reader := buffer.NewReader(mgr, &stopping{RecordReader: readerOf(t, whole.Schema(), parts...), batches: 1, err: errInjected}, buffer.LoadOptions{})
	table, err := reader.Next(t.Context())
	require.NoError(t, err)
	for range 2 {
		_, err = reader.Next(t.Context())
		require.ErrorIs(t, err, errInjected)
	}
	require.NoError(t, reader.Close())
	requireRecord(t, parts[0], table) // the table outlives the reader
	require.NoError(t, table.Release())
	requireEmpty(t, mgr)
}

// If the device had no room for a batch, the next call returns it.
func TestReaderTriesABatchAgain(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		resource := &failing{Resource: memory.NewDriverResource(dev)}
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
		whole := flights(t, 30)
		parts := batches(t, whole, 10, 20)
		reader := buffer.NewReader(mgr, readerOf(t, whole.Schema(), parts...), buffer.LoadOptions{})
		for _, part := range parts {
			resource.count.Store(0)
			resource.fail.Store(1)
			_, err := reader.Next(t.Context())
			require.ErrorIs(t, err, errInjected)
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(io.ErrClosedPipe)
			_, err = reader.Next(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, io.ErrClosedPipe)
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			requireRecord(t, part, table)
			require.NoError(t, table.Release())
		}
		resource.count.Store(0)
		require.NoError(t, reader.Close())
		requireEmpty(t, mgr)
	})
}

func TestReaderClosedBeforeItsBatchIsMoved(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 64})
	whole := flights(t, 1000)
	reader := buffer.NewReader(mgr, readerOf(t, whole.Schema(), whole), buffer.LoadOptions{})
	_, err := reader.Next(t.Context())
	require.ErrorIs(t, err, memory.ErrBudget)
	require.NoError(t, reader.Close())
	requireEmpty(t, mgr)
}

func TestReaderOfNothing(t *testing.T) {
	reader := buffer.NewReader(hostManager(t), nil, buffer.LoadOptions{})
	require.Nil(t, reader.Schema())
	_, err := reader.Next(t.Context())
	require.ErrorIs(t, err, memory.ErrReleased)
	require.NoError(t, reader.Close())
}
