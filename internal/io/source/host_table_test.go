package source_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// orders returns a record of keys, of texts that repeat with nulls, of decimals and of lists, which are not packed.
func orders(from, rows int64) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: false},
		{Name: "mode", Type: arrow.BinaryTypes.String, Nullable: false},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 15, Scale: 2}},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	list := b.Field(3).(*array.ListBuilder)
	for n := from; n < from+rows; n++ {
		b.Field(0).(*array.Int64Builder).Append(n)
		if n%97 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append([]string{"rail", "ship", "", "truck by night"}[n%4])
		}
		b.Field(2).(*array.Decimal128Builder).Append(decimal128.FromI64(n * 7919 % 1_000_000))
		list.Append(true)
		for range n % 3 {
			list.ValueBuilder().(*array.Int8Builder).Append(int8(n))
		}
	}
	return b.NewRecord()
}

// hostTable packs records.
func hostTable(t testing.TB, dev *device.Device, options source.HostOptions, records ...arrow.Record) *source.HostTable {
	reader, err := array.NewRecordReader(records[0].Schema(), records)
	require.NoError(t, err)
	table, err := source.NewHostTable(t.Context(), dev, reader.Schema(), source.RecordsOf(reader), options)
	require.NoError(t, err)
	return table
}

// requireRows fails unless records have the rows of another one, from some row on, by the columns with its names.
func requireRows(t *testing.T, want arrow.Record, first int64, got []arrow.Record) (end int64) {
	t.Helper()
	row := int(first)
	for _, record := range got {
		for i, field := range record.Schema().Fields() {
			column := want.Column(want.Schema().FieldIndices(field.Name)[0])
			for k := range int(record.NumRows()) {
				if !arraytest.Same(column, row+k, record.Column(i), k) {
					require.Fail(t, "other values", "row %d of %s: want %s, got %s", row+k, field.Name, column.ValueStr(row+k), record.Column(i).ValueStr(k))
				}
			}
		}
		row += int(record.NumRows())
	}
	return int64(row)
}

// Rows of host tables are those of the records, with whole columns or some of them, limits and conditions.
func TestHostTables(t *testing.T) {
	defer source.SetHostRows(2*packed.BlockRows, 2*packed.BlockRows)()
	const rows = 5*packed.BlockRows + 1234
	all := orders(0, rows)
	parts := []arrow.Record{all.NewSlice(0, 100_000), all.NewSlice(100_000, 100_001), all.NewSlice(100_001, rows)}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("plain %v", plain), func(t *testing.T) {
				m := devicetest.Manager(t, dev, memory.Options{})
				table := hostTable(t, dev, source.HostOptions{Plain: plain}, parts...)
				defer func() { require.NoError(t, table.Release()) }()
				require.EqualValues(t, rows, table.Rows())
				s, err := source.HostRows(table)
				require.NoError(t, err)
				checkHostTable(t, m, s, all, plain)
			})
		}
	})
}

func checkHostTable(t *testing.T, m *memory.Manager, s source.Source, all arrow.Record, plain bool) {
	schema, err := s.Schema(t.Context())
	require.NoError(t, err)
	assert.True(t, schema.Field(1).Nullable, "nulls were found")
	assert.False(t, schema.Field(0).Nullable)

	got := read(t, s, m, source.Request{})
	require.Len(t, got, 3)
	require.Equal(t, all.NumRows(), requireRows(t, all, 0, got))

	got = read(t, s, m, source.Request{Columns: []string{"price", "n"}, Limit: packed.BlockRows + 7, BatchRows: 1000})
	require.Len(t, got, 2, "batches are whole blocks")
	require.EqualValues(t, packed.BlockRows+7, requireRows(t, all, 0, got))

	got = read(t, s, m, source.Request{Columns: []string{}})
	rows := int64(0)
	for _, record := range got {
		rows += record.NumRows()
	}
	require.Equal(t, all.NumRows(), rows)

	var counters source.Counters
	where := []expr.Expr{expr.Col("n").Ge(expr.Lit(4*packed.BlockRows + 5))}
	got = read(t, s, m, source.Request{Columns: []string{"mode", "n"}, Where: where, Counters: &counters})
	excluded, err := s.(source.Excluder).Excluded(t.Context(), where)
	require.NoError(t, err)
	assert.EqualValues(t, counters.SkippedRowGroups.Load(), excluded.SkippedRowGroups)
	low, high, ok := s.Bounds(t.Context(), "n")
	if plain {
		require.False(t, ok)
		return
	}
	require.Equal(t, all.NumRows(), requireRows(t, all, 4*packed.BlockRows, got))
	assert.EqualValues(t, 4, counters.SkippedRowGroups.Load())
	assert.EqualValues(t, 2, counters.RowGroups.Load())
	require.True(t, ok)
	assert.EqualValues(t, 0, low)
	assert.EqualValues(t, all.NumRows()-1, high)
}

// A GPU copies the next rows while the query uses a table. A reader that is closed before ends the copy.
func TestHostTablesAreCopiedAhead(t *testing.T) {
	defer source.SetHostRows(packed.BlockRows, packed.BlockRows)()
	all := orders(0, 3*packed.BlockRows)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		table := hostTable(t, dev, source.HostOptions{}, all)
		s, err := source.HostRows(table)
		require.NoError(t, err)
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(t, err)
		require.NoError(t, table.Release(), "the reader keeps the table")
		_, err = s.Open(t.Context(), m, source.Request{})
		require.ErrorIs(t, err, memory.ErrReleased)
		next, err := reader.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, next.Release())
		if dev.Kind() != device.Host {
			assert.Equal(t, 2, source.Staged(reader))
		}
		require.NoError(t, reader.Close())
	})
}

// With less memory tables have fewer rows; the host unpacks them if the rows of a block do not fit.
func TestHostTablesWithLittleMemory(t *testing.T) {
	all := orders(0, 2*packed.BlockRows)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for _, budget := range []uint64{64 << 20, 4 << 20, 1 << 20} {
			m := devicetest.Manager(t, dev, memory.Options{Budget: budget})
			table := hostTable(t, dev, source.HostOptions{}, all)
			s, err := source.HostRows(table)
			require.NoError(t, err)
			got := read(t, s, m, source.Request{})
			require.Equal(t, all.NumRows(), requireRows(t, all, 0, got))
			assert.LessOrEqual(t, m.Stats().Peak, budget)
			require.NoError(t, table.Release())
		}
	})
}

// Several devices share the rows of a host table.
func TestHostTablesAreSplit(t *testing.T) {
	defer source.SetHostRows(packed.BlockRows, packed.BlockRows)()
	all := orders(0, 3*packed.BlockRows)
	var managers []*memory.Manager
	for _, dev := range devicetest.Hosts(t, 2) {
		managers = append(managers, devicetest.Manager(t, dev, memory.Options{}))
	}
	table := hostTable(t, managers[0].Device(), source.HostOptions{}, all)
	defer func() { require.NoError(t, table.Release()) }()
	s, err := source.HostRows(table)
	require.NoError(t, err)
	parts, err := source.Split(t.Context(), s, managers, source.Request{}, nil)
	require.NoError(t, err)
	rows := int64(0)
	for _, part := range parts {
		for {
			next, err := part.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			record, err := next.Record(t.Context())
			require.NoError(t, err)
			require.NoError(t, next.Release())
			_, first := part.Batch()
			requireRows(t, all, first, []arrow.Record{record})
			rows += record.NumRows()
		}
		require.NoError(t, part.Close())
	}
	require.Equal(t, all.NumRows(), rows)
}

// Readers that fail, and arguments that are no tables.
func TestHostTablesRefuse(t *testing.T) {
	dev := devicetest.Open(t, "host")
	_, err := source.HostRows(nil)
	require.ErrorIs(t, err, source.ErrArgument)
	_, err = source.NewHostTable(t.Context(), dev, nil, nil, source.HostOptions{})
	require.ErrorIs(t, err, source.ErrArgument)
}

// Records with different dictionaries have their values.
func TestHostTablesOfDictionaries(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "city", Type: dictionary, Nullable: true}}, nil)
	var records []arrow.Record
	var want []string
	for _, cities := range [][]string{{"Oslo", "Bern", "Oslo"}, {"Rome"}, {"Bern", "Kiel", "Rome", "Kiel"}} {
		b := array.NewDictionaryBuilder(arrowmemory.DefaultAllocator, dictionary).(*array.BinaryDictionaryBuilder)
		for _, city := range cities {
			require.NoError(t, b.AppendString(city))
		}
		records = append(records, array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(len(cities))))
		want = append(want, cities...)
	}
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		table := hostTable(t, dev, source.HostOptions{}, records...)
		s, err := source.HostRows(table)
		require.NoError(t, err)
		var got []string
		for _, record := range read(t, s, m, source.Request{}) {
			for i := range int(record.NumRows()) {
				got = append(got, record.Column(0).ValueStr(i))
			}
		}
		require.Equal(t, want, got)
		require.NoError(t, table.Release())
	})
}

// After any driver call that fails, during a copy in advance too, nothing is held.
func TestHostTablesWithFailingDriver(t *testing.T) {
	defer source.SetHostRows(packed.BlockRows, packed.BlockRows)()
	dev, driver := faulttest.OpenEmulator(t)
	m := devicetest.Manager(t, dev, memory.Options{})
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	for n := range int64(2*packed.BlockRows + 5) {
		b.Field(0).(*array.Int64Builder).Append(n)
	}
	all := b.NewRecord()
	table := hostTable(t, dev, source.HostOptions{}, all)
	s, err := source.HostRows(table)
	require.NoError(t, err)
	scan := func() (rows int64, err error) {
		reader, err := s.Open(t.Context(), m, source.Request{})
		if err != nil {
			return 0, err
		}
		for err == nil {
			var next *buffer.Buffer
			if next, err = reader.Next(t.Context()); err == nil {
				rows += next.Capacity()
				err = next.Release()
			}
		}
		return rows, errors.Join(err, reader.Close())
	}
	rows, err := scan()
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, all.NumRows(), rows)
	before, failures := m.Stats().InUse, 0
	for nth := 1; ; nth += 1 + nth/16 {
		reached := false
		driver.Arm(func(c faulttest.Call) error {
			if c.Number != nth || strings.Contains(c.Operation, "Free") {
				return nil
			}
			reached = true
			return faulttest.ErrDriver
		})
		rows, err := scan()
		driver.Arm(nil)
		if errors.Is(err, faulttest.ErrDriver) {
			failures++
		} else {
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, all.NumRows(), rows)
		}
		require.Equal(t, before, m.Stats().InUse, "call %d", nth)
		if !reached && nth > 200 {
			break
		}
	}
	require.Greater(t, failures, 5)
	require.NoError(t, table.Release())
}

// A GPU copies the next records while the query uses a table of large ones.
func TestLargeRecordsAreCopiedAhead(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for rows, ahead := range map[int64]int{100: 0, 150_000: 2} {
			all := orders(0, 3*rows)
			s, err := source.Records(nil, all.NewSlice(0, rows), all.NewSlice(rows, 2*rows), all.NewSlice(2*rows, 3*rows))
			require.NoError(t, err)
			require.Equal(t, all.NumRows(), requireRows(t, all, 0, read(t, s, m, source.Request{})))
			reader, err := s.Open(t.Context(), m, source.Request{Columns: []string{"n", "price"}})
			require.NoError(t, err)
			next, err := reader.Next(t.Context())
			require.NoError(t, err)
			require.NoError(t, next.Release())
			if dev.Kind() != device.Host && ahead > 0 {
				assert.Equal(t, ahead, source.Staged(reader))
			}
			require.NoError(t, reader.Close())
		}
	})
}
