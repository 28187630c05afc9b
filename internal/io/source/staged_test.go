package source_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// stagedFile is a file of many row groups, of which each becomes a table.
func stagedFile(t *testing.T) []byte {
	t.Cleanup(source.SetDeviceBytes(1))
	return variedGroups(t, chunkTypes(), 400)
}

func openedData(t *testing.T, data []byte) source.Source {
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	return s
}

// Tables are staged, and a request for all memory takes their copies away: they are made again.
func TestStagedTables(t *testing.T) {
	data := stagedFile(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	want := readWhole(t, t, host, data, 0)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{Budget: 64 << 20})
		s := openedData(t, data)
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(t, err)
		rows, tables, copied := int64(0), 0, 0
		for ; ; tables++ {
			table, err := reader.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			record, err := table.Record(t.Context())
			require.NoError(t, err)
			require.NoError(t, table.Release())
			requireSame(t, want.NewSlice(rows, rows+record.NumRows()), record, "staged table")
			rows += record.NumRows()
			copied += source.Staged(reader)
			if tables%2 == 0 {
				block, err := m.Allocate(m.Budget(), memory.AllocateOptions{})
				require.NoError(t, err)
				require.Zero(t, source.Staged(reader))
				require.NoError(t, block.Release())
			}
		}
		require.Equal(t, want.NumRows(), rows)
		assert.Greater(t, tables, 4)
		assert.Positive(t, copied)
		require.NoError(t, reader.Close())
	})
}

// A reader that is closed early, or at the end of its context, gives everything back.
func TestStagedTablesEndEarly(t *testing.T) {
	data := stagedFile(t)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for after := range 4 {
			for _, staged := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				reader, err := openedData(t, data).Open(ctx, m, source.Request{})
				require.NoError(t, err)
				for range after {
					table, err := reader.Next(ctx)
					require.NoError(t, err)
					require.NoError(t, table.Release())
				}
				if staged && after > 0 {
					source.Staged(reader)
				}
				cancel()
				_, err = reader.Next(ctx)
				require.ErrorIs(t, err, context.Canceled)
				if after%2 == 0 {
					table, err := reader.Next(t.Context())
					require.NoError(t, err, "a reader goes on with another context")
					require.NoError(t, table.Release())
				}
				require.NoError(t, reader.Close())
				require.Zero(t, m.Stats().InUse)
			}
		}
	})
}

// With any budget the values are those of the file, or the error is that of the budget.
func TestStagedTablesUnderBudgets(t *testing.T) {
	data := stagedFile(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	want := readWhole(t, t, host, data, 0)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		read := 0
		for budget := uint64(1 << 10); budget <= 4<<20; budget = budget * 3 / 2 {
			m := devicetest.Manager(t, dev, memory.Options{Budget: budget})
			err := drainBy(t.Context(), openedData(t, data), m, 0)
			if errors.Is(err, memory.ErrBudget) {
				require.Zero(t, read, "a larger budget of %d bytes fails", budget)
				continue
			}
			require.NoError(t, err)
			read++
			requireSame(t, want, readWhole(t, t, m, data, 0), "budget")
		}
		assert.Positive(t, read)
	})
}
