package memory_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// eachTransferBenchmark runs a benchmark on every available device, and on a host
// device that stages its transfers, which measures the cost of the Go part of staging.
func eachTransferBenchmark(b *testing.B, f func(b *testing.B, dev *device.Device)) {
	eachDevice(b, f)
	b.Run("staged", func(b *testing.B) {
		dev, _ := openFaulty(b)
		f(b, dev)
	})
}

// BenchmarkSmallTransfers transfers a thousand pieces of 64 bytes, adjacent in one
// block or in separate blocks, individually and as a Batch.
func BenchmarkSmallTransfers(b *testing.B) {
	const pieces, each = 1000, 64
	ctx := context.Background()
	eachTransferBenchmark(b, func(b *testing.B, dev *device.Device) {
		mgr := benchmarkManager(b, dev, memory.Options{})
		whole, err := memory.NewSlice[uint8](mgr, pieces*each, memory.AllocateOptions{})
		require.NoError(b, err)
		defer func() { require.NoError(b, whole.Release()) }()
		var side, apart [pieces]memory.Slice[uint8]
		for i := range pieces {
			side[i], err = whole.Slice(i*each, (i+1)*each)
			require.NoError(b, err)
			apart[i], err = memory.NewSlice[uint8](mgr, each, memory.AllocateOptions{})
			require.NoError(b, err)
			defer func() { require.NoError(b, apart[i].Release()) }()
		}
		host := make([]byte, pieces*each)
		for _, where := range []struct {
			name  string
			parts []memory.Slice[uint8]
		}{{"one block", side[:]}, {"many blocks", apart[:]}} {
			var up, down memory.Batch
			for i, part := range where.parts {
				require.NoError(b, memory.AddUpload(&up, part, host[i*each:(i+1)*each]))
				require.NoError(b, memory.AddDownload(&down, part, host[i*each:(i+1)*each]))
			}
			run := func(name string, transfer func() error) {
				b.Run(where.name+"/"+name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						require.NoError(b, transfer())
						require.NoError(b, mgr.Stream().Synchronize(ctx))
					}
				})
			}
			run("up one by one", func() error {
				for i, part := range where.parts {
					if err := part.Upload(ctx, nil, host[i*each:(i+1)*each]); err != nil {
						return err
					}
				}
				return nil
			})
			run("up batch", func() error { return up.Run(ctx, nil) })
			run("down one by one", func() error {
				for i, part := range where.parts {
					if err := part.Download(ctx, nil, host[i*each:(i+1)*each]); err != nil {
						return err
					}
				}
				return nil
			})
			run("down batch", func() error { return down.Run(ctx, nil) })
		}
	})
}

// BenchmarkStagedTransfer measures only the staged path, on a device that copies with
// the processor.
func BenchmarkStagedTransfer(b *testing.B) {
	dev, _ := openFaulty(b)
	mgr := benchmarkManager(b, dev, memory.Options{})
	ctx := context.Background()
	for _, size := range []struct {
		name  string
		bytes int
	}{{"64 B", 64}, {"64 KiB", 64 << 10}, {"1.6 MB", 1_600_000}, {"16 MiB", 16 << 20}} {
		slice, err := memory.NewSlice[uint8](mgr, size.bytes, memory.AllocateOptions{})
		require.NoError(b, err)
		host := make([]byte, size.bytes)
		b.Run(size.name+"/up", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size.bytes))
			for b.Loop() {
				require.NoError(b, slice.Upload(ctx, nil, host))
				require.NoError(b, slice.Block().Synchronize(ctx))
			}
		})
		b.Run(size.name+"/down", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size.bytes))
			for b.Loop() {
				require.NoError(b, slice.Download(ctx, nil, host))
			}
		})
		require.NoError(b, slice.Release())
	}
}
