package world_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/exchange/nccl"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkAllToAll moves the parts of a table of each rank to all ranks, with a rank on each GPU of
// the machine, or on two devices of the host. It prints GB/s (10^9 bytes) of all bytes of all tables,
// and of those that move to another rank.
func BenchmarkAllToAll(b *testing.B) {
	const mostRanks, rowBytes = 16, 9
	rows, transports := 1<<27, []world.Transport{world.NCCL, world.Sockets}
	names := gpus(b, mostRanks)
	if len(names) < 2 {
		rows, transports = 1<<20, transports[1:]
	}
	for _, transport := range transports {
		name := "NCCL"
		if transport == world.Sockets {
			name = "sockets"
		}
		b.Run(fmt.Sprint(name, "/ranks=", max(len(names), 2)), func(b *testing.B) {
			if _, err := nccl.Version(); transport == world.NCCL && errors.Is(err, nccl.ErrNotAvailable) {
				b.Skipf("there is no NCCL here: %v", err)
			}
			var devices []*device.Device
			for _, name := range names {
				devices = append(devices, devicetest.Open(b, name))
			}
			if len(names) < 2 {
				devices = devicetest.Hosts(b, 2)
			}
			r := open(b, devices, memory.Options{}, func(c *world.Config) {
				c.Transport, c.RoundBytes = transport, 0
			})
			size := len(devices)
			parts := make([][]*buffer.Buffer, size)
			for i, m := range r.managers {
				table := numbers(b, m, rows, i*rows)
				parts[i] = divided(b, table, size)
				require.NoError(b, table.Release())
			}
			once := func() {
				for _, err := range each(size, func(rank int) error {
					made, err := r.worlds[rank].AllToAll(b.Context(), parts[rank])
					if err != nil {
						return err
					}
					return errors.Join(r.managers[rank].Stream().Synchronize(b.Context()), made.Release())
				}) {
					require.NoError(b, err)
				}
			}
			once() // connects the ranks
			for b.Loop() {
				once()
			}
			all := float64(rows*rowBytes*size) * float64(b.N) / b.Elapsed().Seconds() / 1e9
			b.ReportMetric(all, "GB/s")
			b.ReportMetric(all*float64(size-1)/float64(size), "moved-GB/s")
			for _, of := range parts {
				require.NoError(b, release.All(of))
			}
		})
	}
}
