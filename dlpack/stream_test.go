//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func newStream(t testing.TB, dev *device.Device) *device.Stream {
	t.Helper()
	stream, err := dev.NewStream()
	require.NoError(t, err)
	return stream
}

func TestExportForAStream(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		stream := newStream(t, m.Device())
		for _, option := range []dlpack.ExportOptions{{Stream: stream}, {Stream: stream, NoSync: true}, {NoSync: true}} {
			c := newInts(t, m, 1000)
			tensor, err := dlpack.Export(c, option)
			require.NoError(t, err)
			back, err := dlpack.Import(m, tensor.Detach(), dlpack.ImportOptions{Stream: option.Stream, NoSync: option.NoSync})
			require.NoError(t, err)
			require.Equal(t, pattern(4000), valueBytes(t, back, 4))
			require.NoError(t, back.Release())
			require.NoError(t, c.Release())
			requireNothingHeld(t, m)
		}
		require.NoError(t, stream.Close())
	})
}

// The consumer's work on its stream runs before the owner's next work. The consumer
// fills the memory on the stream that it named and releases it; the owner reads on
// another stream.
func TestConsumersWorkPrecedesReuse(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 20
		consumer := newStream(t, m.Device())
		c := newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Uint8, Length: n}, nil, make([]byte, n))
		for round := range byte(20) {
			tensor, err := dlpack.Export(c, dlpack.ExportOptions{Stream: consumer})
			require.NoError(t, err)
			driver, at := m.Device().Driver(), device.Pointer(tensorOf(tensor).Data)
			require.NoError(t, driver.MemsetAsync(at, uint32(round), 1, n, consumer.Handle()))
			require.NoError(t, tensor.Release())
			values := valueBytes(t, c, 1)
			require.Equal(t, round, values[0])
			require.Equal(t, round, values[n-1])
		}
		require.NoError(t, c.Release())
		require.NoError(t, consumer.Close())
		requireNothingHeld(t, m)
	})
}

// The producer's work on its stream runs before work on the column.
func TestProducersWorkPrecedesUse(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 20
		producer := newStream(t, m.Device())
		pointer := devicetest.Foreign(t, m.Device(), make([]byte, n))
		driver := m.Device().Driver()
		for round := range byte(20) {
			p := newProducer(t, m.Device(), pointer, float32Type, n/4)
			require.NoError(t, driver.MemsetAsync(pointer, uint32(round), 1, n, producer.Handle()))
			c, err := importEither(m, p, false, dlpack.ImportOptions{Stream: producer})
			require.NoError(t, err)
			values := valueBytes(t, c, 4)
			require.Equal(t, round, values[0])
			require.Equal(t, round, values[n-1])
			require.NoError(t, c.Release())
		}
		require.NoError(t, producer.Close())
	})
}

// The stream that the memory belongs to may be closed before the consumer has
// finished.
func TestDeleterAfterTheStreamWasClosed(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		own, consumer := newStream(t, m.Device()), newStream(t, m.Device())
		values, err := memory.NewSlice[uint8](m, 400, memory.AllocateOptions{Stream: own})
		require.NoError(t, err)
		require.NoError(t, values.Upload(t.Context(), nil, pattern(400)))
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Float32, Length: 100, Buffers: []column.Bytes{{}, values}})
		require.NoError(t, err)
		require.NoError(t, values.Release())
		tensor, err := dlpack.Export(c, dlpack.ExportOptions{Stream: consumer})
		require.NoError(t, err)
		require.NoError(t, c.Release())
		require.NoError(t, own.Close())
		require.NoError(t, tensor.Release())
		requireNothingHeld(t, m)
		require.NoError(t, consumer.Close())
	})
}

func TestClosedStreams(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		closed := newStream(t, m.Device())
		require.NoError(t, closed.Close())

		c := newInts(t, m, 10)
		require.NoError(t, c.Buffer(1).Fill(nil, 1)) // work to wait for
		_, err := dlpack.Export(c, dlpack.ExportOptions{Stream: closed})
		require.ErrorIs(t, err, device.ErrClosed)
		require.NoError(t, c.Release())
		requireNothingHeld(t, m)

		// A producer may close its stream early.
		p := newProducer(t, m.Device(), devicetest.Foreign(t, m.Device(), pattern(40)), float32Type, 10)
		c, err = importEither(m, p, false, dlpack.ImportOptions{Stream: closed})
		require.NoError(t, err)
		require.NoError(t, c.Release())
		assert.Equal(t, 1, p.Deleted())
		requireNothingHeld(t, m)
	})
}

// Copies are made even if the stream of the column's memory is closed.
func TestCopiesAfterTheStreamWasClosed(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		own := newStream(t, m.Device())
		bytes, err := memory.NewSlice[uint8](m, 200, memory.AllocateOptions{Stream: own})
		require.NoError(t, err)
		require.NoError(t, bytes.Upload(t.Context(), nil, pattern(200)))
		bools, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Offset: 3, Length: 1000, Buffers: []column.Bytes{{}, bytes}})
		require.NoError(t, err)
		numbers := sharedColumns(t, bytes, arrow.PrimitiveTypes.Int32, 10, 4, 40, 0)
		require.NoError(t, own.Close())

		tensor, err := dlpack.Export(bools)
		require.NoError(t, err)
		require.NoError(t, m.Device().Synchronize(t.Context()))
		assert.Equal(t, expanded(pattern(200), 3, 1000), rawBytes(t, m.Device(), tensorOf(tensor).Data, 1000))
		require.NoError(t, tensor.Release())
		tensor, err = dlpack.ExportMatrix(numbers)
		require.NoError(t, err)
		require.NoError(t, m.Device().Synchronize(t.Context()))
		assert.Equal(t, [][]byte{pattern(200)[40:80], pattern(200)[:40]}, matrixBytes(t, m.Device(), tensorOf(tensor)))
		require.NoError(t, tensor.Release())
		releaseColumns(t, append(numbers, bools))
		require.NoError(t, bytes.Release())
		requireNothingHeld(t, m)
	})
}

func TestStreamOfAnotherDevice(t *testing.T) {
	gpu, host := newManager(t, devicetest.Open(t, "cuda:0")), hostManager(t)
	c := newInts(t, gpu, 4)
	_, err := dlpack.Export(c, dlpack.ExportOptions{Stream: host.Stream()})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	tensor, err := dlpack.Export(c)
	require.NoError(t, err)
	_, err = dlpack.Import(gpu, tensor.Detach(), dlpack.ImportOptions{Stream: host.Stream()})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.NoError(t, c.Release())
	requireNothingHeld(t, gpu)
}
