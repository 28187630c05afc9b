package buckets_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/buckets"
)

func eachResource(b *testing.B, f func(b *testing.B, dev *device.Device, resource memory.Resource)) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			dev := devicetest.Open(b, name)
			driver, err := buckets.New(memory.NewDriverResource(dev), buckets.Options{})
			require.NoError(b, err)
			pinned, err := buckets.NewPinned(dev, buckets.Options{})
			require.NoError(b, err)
			native, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
			require.NoError(b, err)
			for _, entry := range []struct {
				name     string
				resource memory.Resource
			}{{"buckets", driver}, {"pinned", pinned}, {"driver's pool", native}} {
				b.Run(entry.name, func(b *testing.B) { f(b, dev, entry.resource) })
				require.NoError(b, entry.resource.Close())
			}
		})
	}
}

func pair(b *testing.B, resource memory.Resource, bytes uint64, stream *device.Stream) {
	allocation, err := resource.Allocate(bytes, stream)
	if err == nil {
		err = resource.Free(allocation, nil)
	}
	if err != nil {
		b.Error(err)
	}
}

// BenchmarkPair allocates and frees on one stream.
func BenchmarkPair(b *testing.B) {
	eachResource(b, func(b *testing.B, dev *device.Device, resource memory.Resource) {
		stream := newStreams(b, dev, 1)[0]
		for _, bytes := range []uint64{256, 4 << 10, 1 << 20, 16 << 20, 256 << 20} {
			b.Run(humanize.IBytes(bytes), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					pair(b, resource, bytes, stream)
				}
			})
		}
	})
}

// BenchmarkStreams allocates and frees 4 KiB from goroutines with one stream each. The
// time is that of one pair of calls of any goroutine.
func BenchmarkStreams(b *testing.B) {
	eachResource(b, func(b *testing.B, dev *device.Device, resource memory.Resource) {
		for _, goroutines := range []int{1, 4, 16} {
			b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
				streams := newStreams(b, dev, goroutines)
				b.ResetTimer()
				var group sync.WaitGroup
				for _, stream := range streams {
					group.Go(func() {
						for range b.N/goroutines + 1 {
							pair(b, resource, 4096, stream)
						}
					})
				}
				group.Wait()
			})
		}
	})
}

// BenchmarkFurtherStream frees memory that another stream has used.
func BenchmarkFurtherStream(b *testing.B) {
	eachResource(b, func(b *testing.B, dev *device.Device, resource memory.Resource) {
		streams := newStreams(b, dev, 2)
		b.ReportAllocs()
		for b.Loop() {
			allocation, err := resource.Allocate(4096, streams[0])
			if err == nil {
				err = resource.Free(allocation, streams[1:])
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSlices takes 1,000 elements and puts them back.
func BenchmarkSlices(b *testing.B) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			mgr := devicetest.Manager(b, devicetest.Open(b, name), memory.Options{})
			pool := newPool[float64](b, mgr, buckets.SlicesOptions{})
			b.ReportAllocs()
			for b.Loop() {
				slice, err := pool.Take(1000, memory.AllocateOptions{})
				if err == nil {
					err = pool.Put(slice)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
