package memory_test

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/memory"
)

// Memory that comes without an event is used after the work on the default stream, and given back
// after it, also if nothing has used it. Release does not wait for that; Close does.
func TestAdoptedMemoryArrivesAfterTheDefaultStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for _, use := range []bool{true, false} {
			m, err := memory.NewManager(dev, memory.Options{})
			require.NoError(t, err)
			at := devicetest.Foreign(t, dev, make([]byte, 4096))
			held := stall.New(t, dev).Hold(dev.DefaultStream())
			var released atomic.Int32
			block, err := m.Adopt(memory.ForeignMemory{Pointer: at, Bytes: 4096, Kind: dev.MemoryKind(), Release: func() error {
				released.Add(1)
				return nil
			}})
			require.NoError(t, err)
			idle, err := block.Idle()
			require.NoError(t, err)
			require.False(t, idle)
			if use {
				require.NoError(t, block.OrderBefore(m.Stream()))
				done, err := m.Stream().Done()
				require.NoError(t, err)
				require.False(t, done, "the stream waits for the copy")
			}
			require.NoError(t, block.Release())
			require.True(t, held.Holding(), "nothing has waited")
			require.Zero(t, released.Load(), "the owner may still copy")
			held.Release()
			require.NoError(t, m.Close())
			require.EqualValues(t, 1, released.Load())
		}
	})
}

// A use on one stream does not order another one, and memory that comes later is ordered again.
func TestArrivalsOfStreams(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		gates := stall.New(t, dev)
		at := devicetest.Foreign(t, dev, make([]byte, 64))
		adopt := func(arrival memory.Arrival) *memory.Block {
			block, err := m.Adopt(memory.ForeignMemory{Pointer: at, Bytes: 64, Kind: dev.MemoryKind(), Arrival: arrival})
			require.NoError(t, err)
			return block
		}
		other, err := dev.NewStream()
		require.NoError(t, err)
		for range 3 {
			held := gates.Hold(dev.DefaultStream())
			block, ready := adopt(memory.AfterDefaultStreams), adopt(memory.Arrived)
			for _, stream := range []*device.Stream{m.Stream(), other} {
				for _, each := range []*memory.Block{ready, block} {
					require.NoError(t, each.OrderBefore(stream))
					done, err := stream.Done()
					require.NoError(t, err)
					require.Equal(t, each == ready, done)
				}
			}
			require.NoError(t, held.Finish(t.Context()))
			require.NoError(t, block.Synchronize(t.Context()))
			for _, stream := range []*device.Stream{m.Stream(), other} {
				require.NoError(t, stream.Synchronize(t.Context()))
			}
			require.NoError(t, block.Release())
			require.NoError(t, ready.Release())
		}
		require.NoError(t, other.Close())
	})
}

// An owner copies from pageable memory on the default stream, as cuMemcpyHtoD does, and hands the
// memory over without an event. On a GPU that another process keeps busy the copy is pending then.
func TestPageableCopiesToAdoptedMemory(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		handOvers := 10_000
		if dev.Kind() == device.Host {
			handOvers = 500
		}
		m := devicetest.Manager(t, dev, memory.Options{})
		lengths := []int{4 << 10, 60 << 10, 300 << 10, 2 << 20}
		content := make([]byte, lengths[len(lengths)-1])
		got := make([]byte, len(content))
		at := devicetest.Foreign(t, dev, content)
		stale := 0
		for i := range handOvers {
			length := lengths[i%len(lengths)]
			for k := range content[:length] {
				content[k] = byte(i + k>>12)
			}
			require.NoError(t, dev.Driver().CopyToDeviceAsync(at, unsafe.Pointer(&content[0]), uint64(length), dev.DefaultStream().Handle()))
			block, err := m.Adopt(memory.ForeignMemory{Pointer: at, Bytes: uint64(length), Kind: dev.MemoryKind()})
			require.NoError(t, err)
			bytes, err := memory.View[uint8](block, 0, length)
			require.NoError(t, err)
			require.NoError(t, bytes.Download(t.Context(), m.Stream(), got[:length]))
			if string(got[:length]) != string(content[:length]) {
				stale++
			}
			require.NoError(t, block.Release())
		}
		require.Zero(t, stale, "of %d hand-overs", handOvers)
	})
}
