package checks_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachDeviceBenchmark runs f with memory of 64 MiB on the host and of 512 MiB on a GPU.
func eachDeviceBenchmark(b *testing.B, f func(b *testing.B, m *memory.Manager, buffer checks.Buffer)) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			m := devicetest.Manager(b, devicetest.Open(b, name), memory.Options{})
			bytes := 64 << 20
			if m.Device().Kind() == device.CUDA {
				bytes = 512 << 20
			}
			buffer, err := memory.NewSlice[uint8](m, bytes, memory.AllocateOptions{})
			require.NoError(b, err)
			f(b, m, buffer)
			require.NoError(b, buffer.Release())
		})
	}
}

// checksEach is the number of checks in a batch, large enough that the cost of the
// batch is negligible; BenchmarkSmall measures that cost.
const checksEach = 8

func benchmark(b *testing.B, m *memory.Manager, bytes int, add func(b *checks.Batch)) {
	ctx := context.Background()
	batch := checks.NewBatch(m, nil)
	for range checksEach {
		add(batch)
	}
	_, err := batch.Run(ctx)
	require.NoError(b, err)
	b.SetBytes(int64(checksEach * bytes))
	for b.Loop() {
		if _, err := batch.Run(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOffsets(b *testing.B) {
	for _, width := range []int{4, 8} {
		for _, shift := range []int{0, width} {
			b.Run(fmt.Sprintf("%d bits/%d bytes beyond a boundary", 8*width, shift), func(b *testing.B) {
				eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, buffer checks.Buffer) {
					bytes := make([]byte, buffer.Len())
					n := len(bytes) / width
					for i := range n {
						if width == 4 {
							binary.NativeEndian.PutUint32(bytes[4*i:], uint32(i))
						} else {
							binary.NativeEndian.PutUint64(bytes[8*i:], uint64(i))
						}
					}
					require.NoError(b, buffer.Upload(context.Background(), nil, bytes))
					benchmark(b, m, buffer.Len()-shift, func(batch *checks.Batch) {
						batch.Offsets("offsets", width, checks.Elements{Buffer: buffer, First: shift / width, Count: n - 1 - shift/width}, int64(n))
					})
				})
			})
		}
	}
}

// BenchmarkKinds checks contents of ones, which are valid for every check.
func BenchmarkKinds(b *testing.B) {
	const big = 1 << 40
	lengths := []int64{0, big}
	for _, kind := range []struct {
		name string
		add  func(b *checks.Batch, buffer checks.Buffer)
	}{
		{"list views of 32 bits", func(b *checks.Batch, buffer checks.Buffer) {
			half, _ := buffer.Slice(buffer.Len()/2, buffer.Len())
			b.ListViews("it", 4, checks.Elements{Buffer: buffer, Count: buffer.Len() / 8}, half, big)
		}},
		{"indices of 8 bits", func(b *checks.Batch, buffer checks.Buffer) {
			b.Indices("it", checks.Integer{Width: 1}, checks.Elements{Buffer: buffer, Count: buffer.Len()}, checks.Validity{}, 2)
		}},
		{"indices of 32 bits", func(b *checks.Batch, buffer checks.Buffer) {
			b.Indices("it", checks.Integer{Width: 4, Signed: true}, checks.Elements{Buffer: buffer, Count: buffer.Len() / 4}, checks.Validity{}, big)
		}},
		{"type ids of a few", func(b *checks.Batch, buffer checks.Buffer) {
			b.TypeIDs("it", checks.Elements{Buffer: buffer, Count: buffer.Len()}, checks.NewTypeIDs[int8](1))
		}},
		{"type ids from zero on", func(b *checks.Batch, buffer checks.Buffer) {
			b.TypeIDs("it", checks.Elements{Buffer: buffer, Count: buffer.Len()}, checks.NewTypeIDs[int8](0, 1, 2))
		}},
		{"indices of 32 bits, not aligned", func(b *checks.Batch, buffer checks.Buffer) {
			part, _ := buffer.Slice(1, buffer.Len()-3)
			b.Indices("it", checks.Integer{Width: 4, Signed: true}, checks.Elements{Buffer: part, Count: part.Len() / 4}, checks.Validity{}, big)
		}},
		{"dense offsets", func(b *checks.Batch, buffer checks.Buffer) {
			n := buffer.Len() / 5
			offsets, _ := buffer.Slice((n+15)/16*16, buffer.Len())
			b.DenseOffsets("it", buffer, checks.Elements{Buffer: offsets, Count: n - 4}, lengths)
		}},
		{"valid", func(b *checks.Batch, buffer checks.Buffer) {
			b.Valid("it", checks.Validity{Bits: buffer}, 8*buffer.Len(), -1)
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, buffer checks.Buffer) {
				require.NoError(b, buffer.Fill(nil, 1))
				benchmark(b, m, buffer.Len(), func(batch *checks.Batch) { kind.add(batch, buffer) })
			})
		})
	}
}

func BenchmarkLongBinaryViews(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, buffer checks.Buffer) {
		views, err := memory.Reinterpret[[16]byte](buffer)
		require.NoError(b, err)
		require.NoError(b, views.Fill(nil, [16]byte(encoded([]int64{20, 0, 1, 100}, 4))))
		benchmark(b, m, buffer.Len(), func(batch *checks.Batch) {
			batch.BinaryViews("views", checks.Elements{Buffer: buffer, Count: views.Len()}, checks.Validity{}, []int64{0, 120})
		})
	})
}

// BenchmarkCopy is the reference: a copy within the device. It counts the bytes read,
// and writes the same number.
func BenchmarkCopy(b *testing.B) {
	eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, buffer checks.Buffer) {
		to, err := memory.NewSlice[uint8](m, buffer.Len(), memory.AllocateOptions{})
		require.NoError(b, err)
		b.SetBytes(int64(checksEach * buffer.Len()))
		for b.Loop() {
			for range checksEach {
				if err := to.CopyFrom(nil, buffer); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, m.Stream().Synchronize(b.Context()))
		}
		require.NoError(b, to.Release())
	})
}

// BenchmarkSmall measures the cost of a batch without reading: one of 1 and one of 100
// checks of a few elements.
func BenchmarkSmall(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n, " checks"), func(b *testing.B) {
			eachDeviceBenchmark(b, func(b *testing.B, m *memory.Manager, buffer checks.Buffer) {
				require.NoError(b, buffer.Fill(nil, 1))
				require.NoError(b, m.Stream().Synchronize(b.Context()))
				batch := checks.NewBatch(m, nil)
				b.ReportAllocs()
				for b.Loop() {
					batch.Reset()
					for range n {
						batch.Offsets("offsets", 4, checks.Elements{Buffer: buffer, Count: 1000}, -1)
					}
					if _, err := batch.Run(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
