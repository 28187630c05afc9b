package memory_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachDevice runs a benchmark on every available device.
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

// The first use of memory that came without an event, each time of new memory.
func BenchmarkArrival(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		mgr := benchmarkManager(b, dev, memory.Options{})
		for b.Loop() {
			if err := streamwork.AwaitArrival(mgr.Stream(), dev, streamwork.Arrive(dev)); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, mgr.Stream().Synchronize(context.Background()))
	})
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

// BenchmarkAllocateReleaseParallel allocates and releases on one stream for each
// processor, under one tag or under a separate tag for each.
func BenchmarkAllocateReleaseParallel(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		for _, tags := range []string{"one tag", "a tag each"} {
			for name, options := range map[string]memory.Options{"backstop": {}, "bare": {NoBackstop: true}} {
				b.Run(tags+"/"+name, func(b *testing.B) {
					mgr := benchmarkManager(b, dev, options)
					var workers atomic.Int64
					b.ReportAllocs()
					b.RunParallel(func(pb *testing.PB) {
						tag := "bench"
						if worker := workers.Add(1); tags == "a tag each" {
							tag = fmt.Sprintf("bench %d", worker)
						}
						stream, err := dev.NewStream()
						if err != nil {
							b.Error(err)
							return
						}
						defer stream.Close()
						benchmarkPairs(b, pb.Next, mgr, memory.AllocateOptions{Tag: tag, Stream: stream})
					})
				})
			}
		}
	})
}

// BenchmarkAllocateReleaseBelow allocates from a manager three levels below the root.
func BenchmarkAllocateReleaseBelow(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		for name, options := range map[string]memory.Options{"backstop": {}, "bare": {NoBackstop: true}} {
			b.Run(name, func(b *testing.B) {
				mgr := benchmarkManager(b, dev, options)
				chain := depth(b, mgr, 4)
				b.ReportAllocs()
				benchmarkPairs(b, b.Loop, chain[3], memory.AllocateOptions{Tag: "bench"})
			})
		}
	})
}

// BenchmarkAllocateReleaseHeld holds a thousand blocks and replaces them one at a time
// with blocks of changing sizes, so that no tag cache helps.
func BenchmarkAllocateReleaseHeld(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		mgr := benchmarkManager(b, dev, memory.Options{})
		held := make([]*memory.Block, 1000)
		tags := make([]string, 16)
		for i := range tags {
			tags[i] = fmt.Sprintf("bench %d", i)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			at := i * 7 % len(held)
			held[at].Release()
			block, err := mgr.Allocate(uint64(512+512*(i%100)), memory.AllocateOptions{Tag: tags[i%len(tags)]})
			if err != nil {
				b.Fatal(err)
			}
			held[at] = block
		}
		for _, block := range held {
			block.Release()
		}
	})
}

// BenchmarkAllocateReleaseTracked measures the cost of recording every call stack.
func BenchmarkAllocateReleaseTracked(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		mgr := benchmarkManager(b, dev, memory.Options{TrackAllocations: true})
		b.ReportAllocs()
		benchmarkPairs(b, b.Loop, mgr, memory.AllocateOptions{Tag: "bench"})
	})
}

func benchmarkPairs(b *testing.B, more func() bool, m *memory.Manager, options memory.AllocateOptions) {
	for more() {
		block, err := m.Allocate(4096, options)
		if err != nil {
			b.Error(err)
			return
		}
		if err := block.Release(); err != nil {
			b.Error(err)
			return
		}
	}
}

// BenchmarkTransfer transfers ordinary memory with several staging options. The entry
// "pinned" is one copy of pinned memory, the maximum rate of the link.
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
