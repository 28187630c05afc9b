package memory_test

import (
	"context"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachDevice runs a benchmark on every device that is present.
func eachDevice(b *testing.B, f func(b *testing.B, dev *device.Device)) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) { f(b, devicetest.Open(b, name)) })
	}
}

func benchmarkManager(b *testing.B, dev *device.Device, options memory.Options) *memory.Manager {
	mgr, err := memory.NewManager(dev, options)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, mgr.Close()) })
	return mgr
}

func BenchmarkAllocateRelease(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		for name, options := range map[string]memory.Options{"backstop": {}, "bare": {NoBackstop: true}} {
			b.Run(name, func(b *testing.B) {
				mgr := benchmarkManager(b, dev, options)
				b.ReportAllocs()
				for b.Loop() {
					block, err := mgr.Allocate(4096, memory.AllocateOptions{Tag: "bench"})
					if err != nil {
						b.Fatal(err)
					}
					block.Release()
				}
			})
		}
	})
}

// BenchmarkTransfer moves ordinary memory under several staging options; the
// entry "pinned" is one copy of pinned memory, which is the link's own rate.
func BenchmarkTransfer(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		for _, total := range []int{200_000, 1_600_000, 16 << 20, 1 << 30} {
			source := make([]byte, total)
			for i := range source {
				source[i] = byte(i)
			}
			b.Run(fmt.Sprintf("%d/pinned", total), func(b *testing.B) { benchmarkPinned(b, dev, total) })
			for _, staging := range []memory.StagingOptions{
				{}, {Workers: 4}, {Workers: 6}, {Workers: 12}, {Workers: 16}, {Workers: 6, ChunkBytes: 2 << 20}, {Workers: 8, ChunkBytes: 2 << 20}, {Workers: 8, ChunkBytes: 8 << 20},
			} {
				mgr := benchmarkManager(b, dev, memory.Options{Staging: staging})
				slice, err := memory.NewSlice[uint8](mgr, total, memory.AllocateOptions{})
				require.NoError(b, err)
				name := fmt.Sprintf("%d/workers=%d,chunk=%d", total, staging.Workers, staging.ChunkBytes>>20)
				b.Run(name+"/up", func(b *testing.B) {
					b.SetBytes(int64(total))
					for b.Loop() {
						require.NoError(b, slice.Upload(context.Background(), nil, source))
						require.NoError(b, slice.Block().Synchronize(context.Background()))
					}
				})
				b.Run(name+"/down", func(b *testing.B) {
					b.SetBytes(int64(total))
					for b.Loop() {
						require.NoError(b, slice.Download(context.Background(), nil, source))
					}
				})
				require.NoError(b, slice.Release())
			}
		}
	})
}

func benchmarkPinned(b *testing.B, dev *device.Device, total int) {
	mgr := benchmarkManager(b, dev, memory.Options{})
	slice, err := memory.NewSlice[uint8](mgr, total, memory.AllocateOptions{})
	require.NoError(b, err)
	pinned, err := dev.Driver().HostAlloc(uint64(total))
	require.NoError(b, err)
	clear(unsafe.Slice((*byte)(pinned), total))
	b.SetBytes(int64(total))
	stream := mgr.Stream().Handle()
	for b.Loop() {
		require.NoError(b, dev.Driver().CopyToDeviceAsync(slice.Pointer(), pinned, uint64(total), stream))
		require.NoError(b, dev.Driver().StreamSynchronize(stream))
	}
	require.NoError(b, slice.Release())
	require.NoError(b, dev.Driver().HostFree(pinned))
}
