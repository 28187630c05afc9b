package memory_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// BenchmarkRandom is RMM's random benchmark with allocations of at most 1 MiB, with a
// manager and with its resource alone.
func BenchmarkRandom(b *testing.B) {
	eachDevice(b, func(b *testing.B, dev *device.Device) {
		tested, err := memory.NewCachingResource(dev, memory.CachingOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = tested.Close() })
		mgr := benchmarkManager(b, dev, memory.Options{Resource: tested, NoBackstop: true, Budget: 1 << 40})
		stream := dev.DefaultStream()
		b.Run("manager", func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			var held []*memory.Block
			for i := 0; b.Loop(); i++ {
				if i%20000 == 19999 {
					for _, block := range held {
						_ = block.Release()
					}
					held = held[:0]
				}
				if len(held) > 0 && random.IntN(100) >= 73 {
					at := random.IntN(len(held))
					_ = held[at].Release()
					held[at] = held[len(held)-1]
					held = held[:len(held)-1]
					continue
				}
				block, err := mgr.Allocate(1+random.Uint64N(1<<20), memory.AllocateOptions{Stream: stream, Tag: "bench"})
				if err != nil {
					b.Fatal(err)
				}
				held = append(held, block)
			}
			for _, block := range held {
				_ = block.Release()
			}
		})
		b.Run("resource", func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			var held []resource.Allocation
			for i := 0; b.Loop(); i++ {
				if i%20000 == 19999 {
					for _, block := range held {
						_ = tested.Free(block, nil)
					}
					held = held[:0]
				}
				if len(held) > 0 && random.IntN(100) >= 73 {
					at := random.IntN(len(held))
					_ = tested.Free(held[at], nil)
					held[at] = held[len(held)-1]
					held = held[:len(held)-1]
					continue
				}
				block, err := tested.Allocate(1+random.Uint64N(1<<20), stream)
				if err != nil {
					b.Fatal(err)
				}
				held = append(held, block)
			}
			for _, block := range held {
				_ = tested.Free(block, nil)
			}
		})
	})
}
