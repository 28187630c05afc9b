package exchange_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// TestScatter moves parts of a table with columns of several types, of which one stays, one is missing
// and one has no rows.
func TestScatter(t *testing.T) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int8)}
	eachMachine(t, 4, func(t *testing.T, managers []*memory.Manager) {
		g := arraytest.NewGenerator(7)
		var arrays []arrow.Array
		var columns []arrow.Field
		for i, of := range types {
			arrays = append(arrays, g.Array(of, 100))
			defer arrays[i].Release()
			columns = append(columns, arrow.Field{Name: fmt.Sprint("c", i), Type: of, Nullable: true})
		}
		record := array.NewRecord(arrow.NewSchema(columns, nil), arrays, 100)
		defer record.Release()
		table, err := buffer.FromRecord(managers[1], record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		ends := []int64{30, 55, 55, 100}
		parts := make([]*buffer.Buffer, 4)
		for i, end := range ends {
			from := int64(0)
			if i > 0 {
				from = ends[i-1]
			}
			parts[i], err = table.Slice(from, end-from)
			require.NoError(t, err)
		}
		missing := parts[0]
		parts[0] = nil
		made, err := exchange.Scatter(t.Context(), parts, managers)
		require.NoError(t, err)
		require.Nil(t, made[0])
		require.Same(t, parts[1], made[1])
		for i, want := range parts {
			if i == 0 {
				continue
			}
			require.True(t, made[i].Device().Same(managers[i].Device()))
			a, err := want.Record(t.Context())
			require.NoError(t, err)
			b, err := made[i].Record(t.Context())
			require.NoError(t, err)
			require.True(t, array.RecordEqual(a, b), "part %d", i)
			a.Release()
			b.Release()
			require.NoError(t, made[i].Release())
			require.NoError(t, want.Release())
		}
		require.NoError(t, missing.Release())

		_, err = exchange.Scatter(t.Context(), parts[:1], managers)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = exchange.Scatter(t.Context(), nil, nil)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = exchange.Scatter(t.Context(), make([]*buffer.Buffer, 4), managers, exchange.Options{}, exchange.Options{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = exchange.Scatter(t.Context(), parts, managers)
		var of *exchange.DestinationError
		require.ErrorAs(t, err, &of)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}

// The copies of a Scatter to different devices have no order, though all read one table.
func TestCopiesOfAScatterHaveNoOrder(t *testing.T) {
	const devices, rows, columns = 4, 100, 2
	all := &orders{streams: map[backend.Stream]map[int]bool{}, events: map[backend.Event]map[int]bool{}}
	require.NoError(t, device.Register("recorded-scatter", recordingDriver{host.Driver{Count: devices}, all, false}))
	var managers []*memory.Manager
	for i := range devices {
		managers = append(managers, devicetest.Manager(t, devicetest.Open(t, fmt.Sprint("recorded-scatter:", i)), memory.Options{}))
	}
	table := numbered(t, managers[0], 0, devices*rows, columns)
	parts := make([]*buffer.Buffer, devices)
	for j := range parts {
		part, err := table.Slice(int64(j*rows), rows)
		require.NoError(t, err)
		defer func() { require.NoError(t, part.Release()) }()
		parts[j] = part
	}
	all.copies = nil
	made, err := exchange.Scatter(t.Context(), parts, managers)
	require.NoError(t, err)
	require.Len(t, all.copies, (devices-1)*columns)
	for i, c := range all.copies {
		for b := range c.before {
			require.Equal(t, c.to, all.copies[b].to, "copy %d to device %d waits for copy %d", i, c.to, b)
		}
	}
	require.NoError(t, table.Column(0).Block().OrderBefore(managers[0].Stream()))
	from := 0
	for number := range all.streams[managers[0].Stream().Handle()] {
		if all.copies[number].to != 0 {
			from++
		}
	}
	require.Positive(t, from, "work on the table comes after the copies from it")
	for j, part := range made {
		values := columntest.Download(t, part.Column(1)).(*array.Int64)
		require.EqualValues(t, j*rows, values.Value(0))
		require.EqualValues(t, (j+1)*rows-1, values.Value(rows-1))
		require.NoError(t, part.Release())
	}
}
