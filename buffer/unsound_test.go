package buffer_test

import (
	"context"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/csv"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// unsoundText is a record as a file reader may return it: its offsets are 0, -7, 3.
func unsoundText() arrow.Record {
	offsets := make([]byte, 12)
	less := int32(-7)
	binary.NativeEndian.PutUint32(offsets[4:], uint32(less))
	binary.NativeEndian.PutUint32(offsets[8:], 3)
	data := array.NewData(arrow.BinaryTypes.String, 2, []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(offsets), arrowmemory.NewBufferBytes([]byte("abc"))}, nil, 0, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "city", Type: arrow.BinaryTypes.String}}, nil)
	return array.NewRecord(schema, []arrow.Array{array.MakeFromData(data)}, 2)
}

func TestUnsoundRecordsAreRefused(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		_, err := buffer.FromRecord(mgr, unsoundText())
		require.ErrorIs(t, err, column.ErrInvalid)
		require.ErrorContains(t, err, `column 0 "city": buffer 1 (offsets): number 1 is -7`)
		requireEmpty(t, mgr)
		table, err := buffer.FromRecordWith(t.Context(), mgr, unsoundText(), buffer.LoadOptions{Unchecked: true})
		require.NoError(t, err)
		_, err = table.Record(t.Context())
		require.ErrorIs(t, err, column.ErrInvalid)
		require.NoError(t, table.Release())
	})
}

func TestFromRecordWithContext(t *testing.T) {
	mgr := hostManager(t)
	record := flights(t, 10)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInjected)
	_, err := buffer.FromRecordWith(ctx, mgr, record, buffer.LoadOptions{})
	require.ErrorIs(t, err, errInjected)
	requireEmpty(t, mgr)
	table, err := buffer.FromRecordWith(t.Context(), mgr, record, buffer.LoadOptions{Tag: "flights"})
	require.NoError(t, err)
	assert.Equal(t, "flights", table.Column(0).Buffer(1).Block().Tag())
	require.NoError(t, table.Release())
}

// An empty CSV file has no schema and no batch.
func TestReadersOfNothing(t *testing.T) {
	mgr := hostManager(t)
	empty := func() array.RecordReader {
		reader := csv.NewInferringReader(strings.NewReader(""), csv.WithHeader(true))
		t.Cleanup(reader.Release)
		return reader
	}
	_, err := buffer.FromReader(t.Context(), mgr, empty(), buffer.LoadOptions{})
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorContains(t, err, "empty")
	for _, err := range buffer.Each(t.Context(), mgr, empty(), buffer.LoadOptions{}) {
		require.ErrorIs(t, err, buffer.ErrSchema)
	}
	count := 0
	for range buffer.Each(t.Context(), mgr, empty(), buffer.LoadOptions{}) {
		count++
	}
	assert.Equal(t, 1, count, "to yield nothing would look like success")
	reader := buffer.NewReader(mgr, empty(), buffer.LoadOptions{})
	assert.Nil(t, reader.Schema())
	_, err = reader.Next(t.Context())
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.NoError(t, reader.Close())

	_, err = buffer.FromReader(t.Context(), mgr, nil, buffer.LoadOptions{})
	require.ErrorIs(t, err, buffer.ErrSchema)
	_, err = buffer.FromReader(t.Context(), nil, empty(), buffer.LoadOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	for _, err := range buffer.Each(t.Context(), mgr, nil, buffer.LoadOptions{}) {
		require.ErrorIs(t, err, buffer.ErrSchema)
	}

	// A reader with a schema and no batches gives an empty table.
	table, err := buffer.FromReader(t.Context(), mgr, readerOf(t, flightSchema()), buffer.LoadOptions{})
	require.NoError(t, err)
	assert.Zero(t, table.Capacity())
	assert.Same(t, mgr, table.Manager())
	require.NoError(t, table.Release())
}

// A reader that infers its schema from the data has a schema after the first read.
func TestReaderThatInfersItsSchema(t *testing.T) {
	mgr := hostManager(t)
	records := csv.NewInferringReader(strings.NewReader("city,delay\nBerlin,4\nKyiv,5\n"), csv.WithHeader(true), csv.WithChunk(1))
	defer records.Release()
	reader := buffer.NewReader(mgr, records, buffer.LoadOptions{})
	for range 2 {
		table, err := reader.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, reader.Schema().NumFields())
		require.NoError(t, table.Release())
	}
	_, err := reader.Next(t.Context())
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, reader.Close())
}

// Tables and columns without memory know their manager, in every way to make them.
func TestTablesWithoutMemoryKnowTheirManager(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		schema := arrow.NewSchema([]arrow.Field{
			{Name: "nothing", Type: arrow.Null},
			{Name: "nested", Type: arrow.StructOf(arrow.Field{Name: "null", Type: arrow.Null})},
		}, nil)
		b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
		defer b.Release()
		b.Field(0).AppendNull()
		b.Field(1).(*array.StructBuilder).Append(true)
		b.Field(1).(*array.StructBuilder).FieldBuilder(0).AppendNull()
		record := b.NewRecord()
		defer record.Release()
		table := upload(t, mgr, record)
		require.Zero(t, table.Bytes())

		skeleton, blocks, err := table.Skeleton()
		require.NoError(t, err)
		made := map[string]func() (*buffer.Buffer, error){
			"sliced":     func() (*buffer.Buffer, error) { return table.Slice(0, 1) },
			"selected":   func() (*buffer.Buffer, error) { return table.Select("nested") },
			"no columns": func() (*buffer.Buffer, error) { return table.Select() },
			"rebuilt":    func() (*buffer.Buffer, error) { return skeleton.Buffer(blocks) },
			"of nothing": func() (*buffer.Buffer, error) {
				return buffer.FromReader(t.Context(), mgr, readerOf(t, schema), buffer.LoadOptions{})
			},
			"by hand": func() (*buffer.Buffer, error) {
				c, err := column.New(column.Data{Type: arrow.Null, Length: 1, NullCount: 1})
				require.NoError(t, err)
				require.Nil(t, c.Manager())
				defer c.Release()
				return buffer.New(arrow.NewSchema(schema.Fields()[:1], nil), []*column.Column{c}, buffer.Rows{Count: 1, Manager: mgr})
			},
		}
		for name, make := range made {
			t.Run(name, func(t *testing.T) {
				other, err := make()
				require.NoError(t, err)
				assert.Same(t, mgr, other.Manager())
				assert.Same(t, dev, other.Device())
				for i := range other.NumColumns() {
					c := other.Column(i)
					assert.Same(t, mgr, c.Manager())
					for k := range c.NumChildren() {
						assert.Same(t, mgr, c.Child(k).Manager())
					}
				}
				require.NoError(t, other.Release())
			})
		}
	})
}

// Columns of two devices are refused, even without memory.
func TestTablesOfTwoDevicesAreRefused(t *testing.T) {
	here := hostManager(t)
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		there := devicetest.Manager(t, dev, memory.Options{})
		one, other := upload(t, here, flights(t, 5)), upload(t, there, flights(t, 5))
		field := arrow.Field{Name: "more", Type: arrow.PrimitiveTypes.Int64}
		_, err := one.AppendColumn(field, other.Column(0))
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, `"more"`)
		require.ErrorContains(t, err, dev.String())
		schema := arrow.NewSchema([]arrow.Field{one.Schema().Field(0)}, nil)
		_, err = buffer.New(schema, []*column.Column{one.Column(0)}, buffer.Rows{Device: onDevice(t, there, 3)})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "row count")
	})
}
