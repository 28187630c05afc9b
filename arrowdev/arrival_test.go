//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/memory"
)

// The producer copies on the default stream and hands the array over without an event. Work on any
// stream runs after the copy.
func TestFirstUseWaitsForTheDefaultStream(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 20
		dev := m.Device()
		gates := stall.New(t, dev)
		other := newStream(t, dev)
		for round, options := range []ImportOptions{{}, {Stream: other}, {Unchecked: true}} {
			p, a := foreignTable(t, m, recordOf(zeros(n)))
			out := devicetest.Foreign(t, dev, make([]byte, 2*n))
			at := device.Pointer(buffersOf(childOf(&p.Device.Array, 0))[1])
			held := gates.Hold(dev.DefaultStream())
			value := byte(round + 1)
			enqueueFill(t, at, value, n, dev.DefaultStream())
			table, err := Import(m, pointerTo(p.Device), a.Schema(), options)
			require.NoError(t, err)
			block := table.Column(0).Buffer(1).Block()
			for i, stream := range []*device.Stream{block.Stream(), other} {
				require.NoError(t, block.OrderBefore(stream))
				done, err := stream.Done()
				require.NoError(t, err)
				require.False(t, done, "the stream waits for the copy")
				enqueueCopy(t, out.Add(uint64(i)*n), at, n, stream)
				require.NoError(t, block.RecordUse(stream))
			}
			require.True(t, held.Holding(), "nothing has waited")
			require.NoError(t, held.Finish(t.Context()))
			require.NoError(t, block.Synchronize(t.Context()))
			requireBytes(t, m, out, value, 2*n)
			require.NoError(t, table.Release())
			require.NoError(t, a.Release())
			requireReleasedOnce(t, p)
		}
		require.NoError(t, other.Close())
	})
}

// An array of which nothing is read is given back after its producer's work, and no call waits for
// that: neither the import nor the release.
func TestUnreadArraysAreReleasedAfterTheProducersWork(t *testing.T) {
	nulls := array.NewNull(7)
	for name, record := range map[string]arrow.Record{
		"no rows": recordOf(int32s()), "nulls only": recordOf(nulls), "values": recordOf(int32s(1, 2, 3), int32s(4, 5, 6)),
	} {
		for _, event := range []bool{true, false} {
			for _, fails := range []bool{false, true} {
				t.Run(name+map[bool]string{true: " event", false: " default stream"}[event]+map[bool]string{true: " refused"}[fails], func(t *testing.T) {
					eachGPU(t, func(t *testing.T, m *memory.Manager) { releaseUnread(t, m, record, event, fails) })
				})
			}
		}
	}
}

func releaseUnread(t *testing.T, m *memory.Manager, record arrow.Record, event, fails bool) {
	p, a := foreignTable(t, m, record)
	p.Device.DeviceType, p.Device.DeviceID = cabi.DeviceCUDA, int64(m.Device().Info().Ordinal)
	producer := newStream(t, m.Device())
	working := producer
	if !event {
		working = m.Device().DefaultStream()
	}
	held := stall.New(t, m.Device()).Hold(working)
	if event {
		ready(t, p, producer)
	}
	var options ImportOptions
	if fails {
		options.Stream = foreignStream(t)
	}
	table, err := Import(m, pointerTo(p.Device), a.Schema(), options)
	require.Equal(t, fails, err != nil, "%v", err)
	require.NoError(t, table.Release())
	require.True(t, held.Holding(), "nothing has waited")
	require.Zero(t, p.EndedSoFar(), "the producer may still copy")
	require.NoError(t, held.Finish(t.Context()))
	require.Equal(t, 1, p.Ended())
	require.NoError(t, producer.Close())
	require.NoError(t, a.Release())
	requireNothingHeld(t, m)
}

// foreignStream returns a stream of another device.
func foreignStream(t *testing.T) *device.Stream {
	t.Helper()
	return devicetest.Hosts(t, 2)[1].DefaultStream()
}

// rawCopies are lengths of copies: the driver stages small ones and pipelines large ones.
var rawCopies = []int{4 << 10, 60 << 10, 300 << 10, 2 << 20}

// handOvers is the number of arrays that a raw producer hands over.
func handOvers(dev *device.Device) int {
	if dev.Info().Kind == device.CUDA && !devicetest.Emulated(dev) {
		return 10_000
	}
	return 200
}

// A producer copies from pageable memory on the default stream, as cuMemcpyHtoD does, which may return
// before the copy is done, and hands the array over without an event. All arrays are read on the
// manager's stream and compared. On a GPU that another process keeps busy most copies are pending then.
func TestHandOversOfPageableCopies(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		content := make([]byte, rawCopies[len(rawCopies)-1])
		got := make([]byte, len(content))
		record := recordOf(zeros(len(content)))
		p, a := foreignTable(t, m, record)
		p.Keep()
		at := device.Pointer(buffersOf(childOf(&p.Device.Array, 0))[1])
		stale := 0
		for i := range handOvers(dev) {
			length := rawCopies[i%len(rawCopies)]
			for k := range content[:length] {
				content[k] = byte(i + k>>12)
			}
			require.NoError(t, dev.Driver().CopyToDeviceAsync(at, unsafe.Pointer(&content[0]), uint64(length), dev.DefaultStream().Handle()))
			handed := *p.Device
			table, err := importTable(m, &handed, record.Schema(), ImportOptions{})
			require.NoError(t, err)
			part, err := memory.View[uint8](table.Column(0).Buffer(1).Block(), 0, length)
			require.NoError(t, err)
			require.NoError(t, part.Download(t.Context(), m.Stream(), got[:length]))
			if string(got[:length]) != string(content[:length]) {
				stale++
			}
			require.NoError(t, table.Release())
		}
		require.Zero(t, stale, "of %d hand-overs", handOvers(dev))
		require.NoError(t, a.Release())
	})
}

// A producer copies to memory of the driver's pool, hands arrays over with an event, and frees the
// memory with cuMemFree as soon as they are released. That does not wait for a copy: if it is
// pending, the copy faults. Nothing of the arrays is read, or they have no rows.
func TestHandOversOfPoolMemory(t *testing.T) {
	const n = 8 << 20
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		dev, driver := m.Device(), m.Device().Driver()
		pinned, err := driver.HostAlloc(n)
		require.NoError(t, err)
		pool, err := driver.PoolCreate(0)
		if errors.Is(err, device.ErrNotSupported) {
			pool, err = 0, nil
		}
		require.NoError(t, err)
		producer := newStream(t, dev)
		for i := range handOvers(dev) / 20 {
			record := recordOf(int32s(make([]int32, i%2)...), int32s(make([]int32, i%2)...))
			p, a := foreignTable(t, m, record)
			p.Device.DeviceType, p.Device.DeviceID = cabi.DeviceCUDA, int64(dev.Info().Ordinal)
			at, err := driver.AllocAsync(n, pool, producer.Handle())
			require.NoError(t, err)
			require.NoError(t, driver.CopyToDeviceAsync(at, pinned, n, producer.Handle()))
			ready(t, p, producer)
			table, err := Import(m, pointerTo(p.Device), a.Schema())
			require.NoError(t, err)
			require.NoError(t, table.Release())
			await.Until(t, func() bool { return p.EndedSoFar() == 1 }, "the array is released")
			require.NoError(t, driver.Free(at))
			require.NoError(t, a.Release())
		}
		require.NoError(t, producer.Synchronize(t.Context()), "a copy to freed memory")
		require.NoError(t, producer.Close())
		if pool != 0 {
			require.NoError(t, driver.PoolDestroy(pool))
		}
		require.NoError(t, driver.HostFree(pinned))
	})
}
