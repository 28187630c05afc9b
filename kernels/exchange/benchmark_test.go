package exchange_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// benchmarkDevices returns the GPUs of the machine, or two devices of the host.
func benchmarkDevices(b *testing.B) (devices []*device.Device, rows int) {
	names := devicetest.GPUs(b)
	if len(names) < 2 {
		return devicetest.Hosts(b, 2), 1 << 20
	}
	for _, name := range names {
		devices = append(devices, devicetest.Open(b, name))
	}
	return devices, 1 << 27
}

// numbers makes a table of two columns of the numbers of its rows.
func numbers(b *testing.B, mgr *memory.Manager, rows int) *buffer.Buffer {
	values := make([]int64, rows)
	for i := range values {
		values[i] = int64(i)
	}
	columns := make([]*column.Column, 2)
	for i := range columns {
		var err error
		columns[i], err = column.FromSlice(b.Context(), mgr, values, column.SliceOptions{})
		require.NoError(b, err)
	}
	table := columntest.TableOf(b, mgr, -1, columns...)
	for _, c := range columns {
		require.NoError(b, c.Release())
	}
	return table
}

// BenchmarkCopy moves a table of 16 bytes a row from the first device to the second one, and
// prints GB/s (10^9 bytes). memory's BenchmarkPeerCopy has the rate of the link.
func BenchmarkCopy(b *testing.B) {
	devices, rows := benchmarkDevices(b)
	managers := managersOf(b, devices, memory.Options{})
	table := numbers(b, managers[0], rows)
	once := func() {
		made, err := exchange.Copy(b.Context(), table, managers[1])
		require.NoError(b, err)
		require.NoError(b, managers[1].Stream().Synchronize(b.Context()))
		require.NoError(b, made.Release())
	}
	once() // opens the memory
	for b.Loop() {
		once()
	}
	b.ReportMetric(16*float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

// BenchmarkPartitionByHash divides a table of 16 bytes a row into four parts on one device. GB/s are those of its
// bytes, each of which is read and written once at least.
func BenchmarkPartitionByHash(b *testing.B) {
	dev, rows := devicetest.OpenKernels(b), 1<<27
	if devicetest.Emulated(dev) {
		rows = 1 << 12
	}
	managers := managersOf(b, []*device.Device{dev}, memory.Options{})
	table := numbers(b, managers[0], rows)
	once := func() {
		parts, err := exchange.PartitionByHash(b.Context(), table, []expr.Expr{expr.Col("a")}, 4)
		require.NoError(b, err)
		require.NoError(b, managers[0].Stream().Synchronize(b.Context()))
		for _, part := range parts {
			require.NoError(b, part.Release())
		}
	}
	once()
	for b.Loop() {
		once()
	}
	b.ReportMetric(16*float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

// BenchmarkShuffle divides a table on each device by the hash of a column, or into equal slices,
// and moves the parts to all devices. The rate counts the bytes of all tables.
func BenchmarkShuffle(b *testing.B) {
	devices, rows := benchmarkDevices(b)
	managers := managersOf(b, devices, memory.Options{})
	tables := make([]*buffer.Buffer, len(managers))
	for i, m := range managers {
		tables[i] = numbers(b, m, rows)
	}
	for name, divide := range map[string]func(*buffer.Buffer) ([]*buffer.Buffer, error){
		"by hash": func(table *buffer.Buffer) ([]*buffer.Buffer, error) {
			return exchange.PartitionByHash(b.Context(), table, []expr.Expr{expr.Col("a")}, len(managers))
		},
		"slices": func(table *buffer.Buffer) (parts []*buffer.Buffer, err error) {
			for j := range managers {
				part, err := table.Slice(int64(j*rows/len(managers)), int64(rows/len(managers)))
				if err != nil {
					return parts, err
				}
				parts = append(parts, part)
			}
			return parts, nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				parts := make([][]*buffer.Buffer, len(tables))
				for i, table := range tables {
					var err error
					parts[i], err = divide(table)
					require.NoError(b, err)
				}
				made, err := exchange.AllToAll(b.Context(), parts, managers)
				require.NoError(b, err)
				for j, table := range made {
					require.NoError(b, managers[j].Stream().Synchronize(b.Context()))
					require.NoError(b, table.Release())
				}
				for i := range parts {
					for _, part := range parts[i] {
						require.NoError(b, part.Release())
					}
				}
			}
			b.ReportMetric(16*float64(rows*len(tables))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	}
}

// BenchmarkAllGather copies the tables of all devices to every device: directly, or by way of the
// first device. The rate counts the bytes that each device receives from others, of one device.
func BenchmarkAllGather(b *testing.B) {
	devices, rows := benchmarkDevices(b)
	managers := managersOf(b, devices, memory.Options{})
	tables := make([]*buffer.Buffer, len(managers))
	for i, m := range managers {
		tables[i] = numbers(b, m, rows/len(managers))
	}
	for _, way := range []struct {
		name string
		copy func() ([]*buffer.Buffer, error)
	}{
		{"direct", func() ([]*buffer.Buffer, error) { return exchange.AllGather(b.Context(), tables, managers) }},
		{"by the first device", func() ([]*buffer.Buffer, error) {
			all, err := exchange.Gather(b.Context(), tables, managers[0])
			require.NoError(b, err)
			made, err := exchange.Broadcast(b.Context(), all, managers)
			return made, errors.Join(err, all.Release())
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			once := func() {
				made, err := way.copy()
				require.NoError(b, err)
				for j, table := range made {
					require.NoError(b, managers[j].Stream().Synchronize(b.Context()))
					require.NoError(b, table.Release())
				}
			}
			once() // opens the memory
			for b.Loop() {
				once()
			}
			received := 16 * float64(rows/len(managers)*(len(managers)-1))
			b.ReportMetric(received*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	}
}
