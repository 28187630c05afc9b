package share_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// mostVariable is the bytes of the largest table that the benchmark opens.
const mostVariable = "GPUFRAME_SHARE_BENCH_BYTES"

// BenchmarkOpen opens tables of eight columns in the same process, through the
// socket, as another process would: the table alone, with one column mapped, and
// with all of it mapped.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"host", "cuda:0"} {
		b.Run(name, func(b *testing.B) {
			dev := devicetest.Open(b, name)
			most := uint64(1) << 30
			if dev.Kind() != device.Host {
				most = 16 << 30
			}
			if text := os.Getenv(mostVariable); text != "" {
				var err error
				most, err = strconv.ParseUint(text, 10, 64)
				require.NoError(b, err)
			}
			for _, bytes := range []uint64{1 << 20, 64 << 20, most} {
				b.Run(fmt.Sprintf("%dMiB", bytes>>20), func(b *testing.B) { benchmarkOpen(b, dev, bytes) })
			}
		})
	}
}

func benchmarkOpen(b *testing.B, dev *device.Device, bytes uint64) {
	maker := devicetest.Manager(b, dev, memory.Options{Resource: memory.NewSharedResource(dev)})
	user, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, user.Close()) }()
	server := listen(b, share.ServerOptions{})
	table := wide(b, maker, bytes)
	err = server.Publish(b.Context(), "t", table)
	require.NoError(b, table.Release())
	if errors.Is(err, device.ErrNotSupported) {
		b.Skip(err)
	}
	require.NoError(b, err)
	client := dial(b, server)
	open := func(b *testing.B, use func(*share.Table) error) {
		for b.Loop() {
			opened, err := client.OpenTable(b.Context(), user, "t")
			if err == nil {
				err = errors.Join(use(opened), opened.Close())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("table", func(b *testing.B) { open(b, func(*share.Table) error { return nil }) })
	b.Run("column", func(b *testing.B) {
		open(b, func(t *share.Table) error {
			c, err := t.Column(b.Context(), 3)
			return errors.Join(err, c.Release())
		})
	})
	b.Run("all", func(b *testing.B) {
		open(b, func(t *share.Table) error {
			whole, err := t.Buffer(b.Context())
			return errors.Join(err, whole.Release())
		})
	})
}

// wide makes a table of eight columns of zeros, each in a separate block.
func wide(b *testing.B, m *memory.Manager, bytes uint64) *buffer.Buffer {
	b.Helper()
	const width = 8
	rows := int(bytes / width / 8)
	var fields []arrow.Field
	var columns []*column.Column
	for i := range width {
		values, err := memory.NewSlice[int64](m, rows, memory.AllocateOptions{})
		if errors.Is(err, device.ErrNotSupported) || errors.Is(err, device.ErrOutOfMemory) {
			b.Skip(err)
		}
		require.NoError(b, err)
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: rows, Buffers: []column.Bytes{{}, values.AsBytes()}})
		require.NoError(b, err)
		require.NoError(b, values.Release())
		fields, columns = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.PrimitiveTypes.Int64}), append(columns, c)
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(rows)})
	for _, c := range columns {
		require.NoError(b, c.Release())
	}
	require.NoError(b, err)
	return table
}
