//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// The numbers are those of the array API standard.
func TestConsumerStream(t *testing.T) {
	gpu := launchtest.Open(t, &launchtest.GPU{})
	host := hostManager(t).Device()
	const none = math.MinInt64
	for _, each := range []struct {
		dev    *device.Device
		number int64
		handle uint64
		noSync bool
		says   string
	}{
		{gpu, none, 0, false, ""},
		{gpu, 1, 0, false, ""},
		{gpu, 2, 2, false, ""},
		{gpu, 3, 3, false, ""},
		{gpu, 0x7f0012345678, 0x7f0012345678, false, ""},
		{gpu, -1, 0, true, ""},
		{gpu, 0, 0, false, "0 is not allowed"},
		{gpu, -2, 0, false, "-2: the only negative number"},
		{gpu, math.MinInt64 + 1, 0, false, "the only negative number"},
		{host, none, 0, false, ""},
		{host, -1, 0, true, ""},
		{host, 0, 0, false, "has no streams: pass None"},
		{host, 1, 0, false, "has no streams: pass None"},
		{host, 4096, 0, false, "has no streams: pass None"},
		{nil, 1, 0, false, "device: nil"},
	} {
		t.Run(fmt.Sprint(each.dev, each.number), func(t *testing.T) {
			stream, noSync, err := dlpack.ConsumerStream(each.dev, each.number, each.number != none)
			if each.says != "" {
				require.ErrorIs(t, err, device.ErrInvalidValue)
				require.ErrorContains(t, err, "dlpack: consumer stream: ")
				require.ErrorContains(t, err, each.says)
				assert.Nil(t, stream)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, each.noSync, noSync)
			if each.noSync || each.number == none {
				assert.Nil(t, stream)
				return
			}
			assert.EqualValues(t, each.handle, stream.Handle())
			assert.True(t, each.dev.Same(stream.Device()))
		})
	}
}

// An export accepts the results of ConsumerStream.
func TestExportForTheProtocolsStreams(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		numbers := []int64{-1}
		if m.Device().Kind() == device.CUDA {
			own := newStream(t, m.Device())
			defer own.Close()
			numbers = append(numbers, 1, 2, int64(own.Handle()))
		}
		for _, given := range []bool{false, true} {
			for _, number := range numbers {
				stream, noSync, err := dlpack.ConsumerStream(m.Device(), number, given)
				require.NoError(t, err)
				c := newInts(t, m, 1000)
				tensor, err := dlpack.Export(c, dlpack.ExportOptions{Stream: stream, NoSync: noSync})
				require.NoError(t, err)
				back, err := dlpack.Import(m, tensor.Detach(), dlpack.ImportOptions{Stream: stream, NoSync: noSync})
				require.NoError(t, err)
				require.Equal(t, pattern(4000), valueBytes(t, back, 4))
				require.NoError(t, back.Release())
				require.NoError(t, c.Release())
				requireNothingHeld(t, m)
			}
		}
	})
}

// A consumer that names no stream may read pinned memory immediately.
func TestExportOfPinnedMemoryForNoStream(t *testing.T) {
	eachDeviceAndOne(t, func(t *testing.T, dev *device.Device) {
		const n = 1 << 20
		m := devicetest.Manager(t, dev, memory.Options{Resource: memory.NewPinnedResource(dev)})
		bytes := upload(t, m, make([]byte, n))
		columns := sharedColumns(t, bytes, arrow.PrimitiveTypes.Uint8, n, 1, 0)
		shown, err := bytes.Host()
		require.NoError(t, err)
		for round := range byte(20) {
			require.NoError(t, bytes.Fill(nil, round))
			stream, noSync, err := dlpack.ConsumerStream(dev, 0, false)
			require.NoError(t, err)
			tensor, err := dlpack.Export(columns[0], dlpack.ExportOptions{Stream: stream, NoSync: noSync})
			require.NoError(t, err)
			require.Equal(t, round, shown[n-1])
			require.NoError(t, tensor.Release())
		}
		releaseColumns(t, columns)
		require.NoError(t, bytes.Release())
		requireNothingHeld(t, m)
	})
}

// The per-thread default stream differs from thread to thread: the driver receives
// the legacy default stream instead. At the end no stream is used.
func TestPerThreadStreamIsOrderedByTheLegacyOne(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	for name, options := range map[string]memory.Options{
		"a stream of the manager's": {},
		"the legacy default stream": {Stream: dev.DefaultStream()},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := memory.NewManager(dev, options)
			require.NoError(t, err)
			c := newInts(t, m, 1000)
			stream, _, err := dlpack.ConsumerStream(dev, 2, true)
			require.NoError(t, err)
			tensor, err := dlpack.Export(c, dlpack.ExportOptions{Stream: stream})
			require.NoError(t, err)
			before := len(gpu.Calls())
			require.NoError(t, tensor.Release())
			assert.Len(t, gpu.Calls(), before, "a deleter makes no call of the driver")
			for _, call := range gpu.Calls() {
				assert.NotContains(t, call, "(2)")
				assert.NotContains(t, call, "(2,")
			}
			require.NoError(t, c.Release())
			requireNothingHeld(t, m)
			require.NoError(t, m.Close())
		})
	}
}

// The consumer's work on a matrix, a view or a copy, runs before the memory's next
// use, even if the deleter runs while the work is pending.
func TestConsumersWorkOnAMatrixPrecedesReuse(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 18
		consumer := newStream(t, m.Device())
		bytes := upload(t, m, make([]byte, 2*n))
		columns := sharedColumns(t, bytes, arrow.PrimitiveTypes.Float32, n/4, 4, 0, n)
		require.NoError(t, bytes.Release())
		for round := range byte(20) {
			tensor, err := dlpack.ExportMatrix(columns, dlpack.ExportOptions{Stream: consumer})
			require.NoError(t, err)
			driver, at := m.Device().Driver(), device.Pointer(tensorOf(tensor).Data)
			require.NoError(t, driver.MemsetAsync(at, uint32(round), 1, 2*n, consumer.Handle()))
			require.NoError(t, cabitest.DeleteOnThread(tensor.Detach(), false))
			for _, c := range columns {
				values := valueBytes(t, c, 4)
				require.Equal(t, round, values[0])
				require.Equal(t, round, values[n-1])
			}
		}
		backwards := []*column.Column{columns[1], columns[0]}
		for round := range byte(20) {
			require.NoError(t, columns[0].Buffer(1).Fill(nil, round))
			require.NoError(t, columns[1].Buffer(1).Fill(nil, round+1))
			tensor, err := dlpack.ExportMatrix(backwards, dlpack.ExportOptions{Stream: consumer})
			require.NoError(t, err)
			require.True(t, tensor.Copied())
			// The owner's next write does not change the copy.
			require.NoError(t, columns[0].Buffer(1).Fill(nil, 99))
			driver, at := m.Device().Driver(), device.Pointer(tensorOf(tensor).Data)
			back := make([]byte, 2)
			seen := upload(t, m, make([]byte, 2))
			require.NoError(t, seen.Block().Synchronize(t.Context()))
			require.NoError(t, driver.CopyOnDeviceAsync(seen.Pointer(), at, 1, consumer.Handle()))
			require.NoError(t, driver.CopyOnDeviceAsync(seen.Pointer().Add(1), at.Add(2*n-1), 1, consumer.Handle()))
			require.NoError(t, cabitest.DeleteOnThread(tensor.Detach(), false))
			require.NoError(t, seen.Download(t.Context(), consumer, back))
			require.Equal(t, []byte{round + 1, round}, back)
			require.NoError(t, seen.Release())
		}
		releaseColumns(t, columns)
		requireNothingHeld(t, m)
		require.NoError(t, consumer.Close())
	})
}

// The stream of a CUDA array interface: 1 and 2 are different streams, None is the default
// stream of Import.
func TestProducerStream(t *testing.T) {
	dev := launchtest.Open(t, &launchtest.GPU{})
	for _, each := range []struct {
		number int64
		given  bool
		handle backend.Stream
		noSync bool
		fails  bool
	}{
		{0, false, 0, false, false}, {1, true, dev.DefaultStream().Handle(), false, false}, {2, true, 2, false, false},
		{77, true, 77, false, false}, {0, true, 0, false, true}, {-1, true, 0, true, false}, {-2, true, 0, false, true},
	} {
		stream, noSync, err := dlpack.ProducerStream(dev, each.number, each.given)
		assert.Equal(t, each.fails, err != nil, "%v: %v", each, err)
		assert.Equal(t, each.noSync, noSync, "%v", each)
		if err != nil {
			assert.ErrorIs(t, err, device.ErrInvalidValue)
			assert.ErrorContains(t, err, "dlpack: producer stream: stream")
		} else if !each.given {
			assert.Nil(t, stream)
		} else if !noSync {
			assert.Equal(t, each.handle, stream.Handle(), "%v", each)
		}
	}
}

// Work on an import that names the per-thread default stream waits for all of them through
// the legacy stream. It never passes the driver the number of a per-thread stream.
func TestImportAfterThePerThreadStream(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	m := newManager(t, dev)
	p := newProducer(t, dev, devicetest.Foreign(t, dev, pattern(40)), float32Type, 10)
	stream, noSync, err := dlpack.ProducerStream(dev, 2, true)
	require.NoError(t, err)
	before := len(gpu.Calls())
	c, err := importEither(m, p, false, dlpack.ImportOptions{Stream: stream, NoSync: noSync})
	require.NoError(t, err)
	require.NoError(t, c.Buffer(1).Order(m.Stream()))
	calls := gpu.Calls()[before:]
	assert.NotEmpty(t, calls, "the work waits for something")
	for _, call := range calls {
		assert.NotContains(t, call, "(2)")
		assert.NotContains(t, call, "(2,")
	}
	require.NoError(t, c.Release())
	requireNothingHeld(t, m)
}
