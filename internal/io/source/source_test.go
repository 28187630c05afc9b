package source_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/rows"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// numbered returns a record of rows: their number, and a text of it.
func numbered(from, rows int64) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	builder := array.NewRecordBuilder(arrowmemory.NewGoAllocator(), schema)
	defer builder.Release()
	for n := from; n < from+rows; n++ {
		builder.Field(0).(*array.Int64Builder).Append(n)
		if n%7 == 0 {
			builder.Field(1).AppendNull()
		} else {
			builder.Field(1).(*array.StringBuilder).Append(string(rune('a' + n%26)))
		}
	}
	return builder.NewRecord()
}

// read returns the rows of a source as one record per table.
func read(t testing.TB, s source.Source, m *memory.Manager, request source.Request) []arrow.Record {
	t.Helper()
	reader, err := s.Open(t.Context(), m, request)
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	var read []arrow.Record
	for {
		table, err := reader.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return read
		}
		require.NoError(t, err)
		require.True(t, table.Schema().Equal(reader.Schema()))
		_, known := table.HostRows()
		require.True(t, known, "tables of readers have known row counts")
		record, err := table.Record(t.Context())
		require.NoError(t, err)
		require.NoError(t, table.Release())
		read = append(read, record)
	}
}

// numbers returns the values of the column n.
func numbers(t testing.TB, records []arrow.Record) (values []int64) {
	t.Helper()
	for _, record := range records {
		values = append(values, record.Column(record.Schema().FieldIndices("n")[0]).(*array.Int64).Int64Values()...)
	}
	return values
}

func count(from, rows int64) (values []int64) {
	for n := from; n < from+rows; n++ {
		values = append(values, n)
	}
	return values
}

// memorySources are the same 100 rows in every source that needs no file.
func memorySources(t testing.TB, m *memory.Manager) map[string]func() source.Source {
	parts := []arrow.Record{numbered(0, 30), numbered(30, 0), numbered(30, 50), numbered(80, 20)}
	var loaded []*buffer.Buffer
	for _, part := range parts {
		table, err := buffer.FromRecord(m, part)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, table.Release()) })
		loaded = append(loaded, table)
	}
	made := func(s source.Source, err error) source.Source {
		require.NoError(t, err)
		return s
	}
	type row struct {
		N    int64   `gpuframe:"n"`
		Text *string `gpuframe:"text"`
	}
	var structs []row
	for _, part := range parts {
		for value, err := range rows.Each[row](part) {
			require.NoError(t, err)
			structs = append(structs, value)
		}
	}
	return map[string]func() source.Source{
		"values":  func() source.Source { return made(source.Values(structs)) },
		"tables":  func() source.Source { return made(source.Tables(loaded...)) },
		"records": func() source.Source { return made(source.Records(nil, parts...)) },
		"reader": func() source.Source {
			reader, err := array.NewRecordReader(parts[0].Schema(), parts)
			require.NoError(t, err)
			return made(source.RecordReader(reader))
		},
	}
}

func TestSourcesInMemory(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for name, open := range memorySources(t, m) {
			t.Run(name, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 2))
				for range 40 {
					request := source.Request{Counters: &source.Counters{}}
					if random.IntN(2) == 0 {
						request.BatchRows = 1 + random.Int64N(120)
					}
					rows := int64(100)
					if random.IntN(2) == 0 {
						request.Limit = 1 + random.Int64N(120)
						rows = min(rows, request.Limit)
					}
					if random.IntN(2) == 0 {
						request.Columns = [][]string{{"n"}, {"text", "n"}, {"n", "n"}}[random.IntN(3)]
					}
					var reported int64
					request.Progress = func(rows, _ int64) { reported = rows }
					records := read(t, open(), m, request)
					require.Equal(t, count(0, rows), numbers(t, records), "%+v", request)
					for _, record := range records {
						if request.Columns != nil {
							require.EqualValues(t, len(request.Columns), record.NumCols())
						}
					}
					assert.Equal(t, rows, reported)
					assert.Equal(t, rows, request.Counters.Rows.Load())
				}
				schema, err := open().Schema(t.Context())
				require.NoError(t, err)
				assert.Equal(t, 2, schema.NumFields())
				if rows, exact := open().Rows(t.Context()); rows >= 0 {
					assert.True(t, exact)
					assert.EqualValues(t, 100, rows)
				}
			})
		}
	})
}

func TestTablesWithoutColumns(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for name, open := range memorySources(t, m) {
		reader, err := open().Open(t.Context(), m, source.Request{Columns: []string{}})
		require.NoError(t, err)
		var rows int64
		for {
			table, err := reader.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			part, _ := table.HostRows()
			rows += part
			require.Zero(t, table.NumColumns())
			require.NoError(t, table.Release())
		}
		require.NoError(t, reader.Close())
		assert.EqualValues(t, 100, rows, name)
	}
}

func TestUnknownColumns(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for name, open := range memorySources(t, m) {
		_, err := open().Open(t.Context(), m, source.Request{Columns: []string{"n", "txet"}})
		var typed *source.Error
		require.ErrorAs(t, err, &typed, name)
		require.ErrorIs(t, err, buffer.ErrSchema)
		assert.ErrorContains(t, err, `no column is called "txet": there are "text", "n"`)
	}
}

func TestSourcesAreReadAtTheSameTime(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for name, open := range memorySources(t, m) {
		if name == "reader" {
			continue
		}
		s := open()
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() { assert.Equal(t, count(0, 100), numbers(t, read(t, s, m, source.Request{BatchRows: 9}))) })
		}
		readers.Wait()
	}
}

func TestRecordReaderIsReadOnce(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	s := memorySources(t, m)["reader"]()
	_, err := s.Open(t.Context(), m, source.Request{Columns: []string{"none"}})
	require.ErrorIs(t, err, buffer.ErrSchema, "a failed call does not use the source up")
	read(t, s, m, source.Request{})
	_, err = s.Open(t.Context(), m, source.Request{})
	require.ErrorIs(t, err, source.ErrUsed)
}

// mixed is a record reader with records that need not have its schema.
type mixed struct {
	schema  *arrow.Schema
	records []arrow.Record
	at      int
}

func (m *mixed) Retain()               {}
func (m *mixed) Release()              {}
func (m *mixed) Err() error            { return nil }
func (m *mixed) Schema() *arrow.Schema { return m.schema }
func (m *mixed) Record() arrow.Record  { return m.records[m.at-1] }
func (m *mixed) Next() bool            { m.at++; return m.at <= len(m.records) }

// TestReadersOfOtherColumns reads records with other columns than those of the reader. Two columns
// of one type in another order would be mistaken for each other.
func TestReadersOfOtherColumns(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := func(t arrow.DataType, names ...string) arrow.Record {
		var fields []arrow.Field
		for _, name := range names {
			fields = append(fields, arrow.Field{Name: name, Type: t, Nullable: true})
		}
		builder := array.NewRecordBuilder(arrowmemory.NewGoAllocator(), arrow.NewSchema(fields, nil))
		defer builder.Release()
		for i := range names {
			builder.Field(i).AppendNull()
		}
		return builder.NewRecord()
	}
	first := record(arrow.PrimitiveTypes.Int64, "a", "b")
	for message, second := range map[string]arrow.Record{
		`record 1 has another schema than its reader: column 0 is "b" of int64, expected "a" of int64`: record(arrow.PrimitiveTypes.Int64, "b", "a"),
		`column 0 is "a" of int32, expected "a" of int64`:                                              record(arrow.PrimitiveTypes.Int32, "a", "b"),
		"it has 1 columns, expected 2":                                                                 record(arrow.PrimitiveTypes.Int64, "a"),
	} {
		for _, columns := range [][]string{nil, {"b"}} {
			s, err := source.RecordReader(&mixed{schema: first.Schema(), records: []arrow.Record{first, second}})
			require.NoError(t, err)
			reader, err := s.Open(t.Context(), m, source.Request{Columns: columns})
			require.NoError(t, err)
			for err == nil {
				var table *buffer.Buffer
				if table, err = reader.Next(t.Context()); err == nil {
					require.NoError(t, table.Release())
				}
			}
			require.ErrorIs(t, err, buffer.ErrSchema)
			require.ErrorContains(t, err, message)
			require.NoError(t, reader.Close())
		}
	}
}

func TestReadersEnd(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for name, open := range memorySources(t, m) {
		reader, err := open().Open(t.Context(), m, source.Request{BatchRows: 10})
		require.NoError(t, err)
		table, err := reader.Next(t.Context())
		require.NoError(t, err)
		done, end := context.WithCancel(t.Context())
		end()
		_, err = reader.Next(done)
		require.ErrorIs(t, err, context.Canceled, name)
		require.NoError(t, reader.Close())
		require.NoError(t, reader.Close())
		_, err = reader.Next(t.Context())
		require.ErrorIs(t, err, memory.ErrReleased)
		require.NoError(t, table.Release(), "a table outlives its reader")
	}
}

func TestFailedCopiesAreTriedAgain(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 8 << 10})
	s, err := source.Records(nil, numbered(0, 100))
	require.NoError(t, err)
	reader, err := s.Open(t.Context(), m, source.Request{})
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	taken, err := m.Allocate(8<<10, memory.AllocateOptions{})
	require.NoError(t, err)
	_, err = reader.Next(t.Context())
	require.ErrorIs(t, err, memory.ErrBudget)
	require.NoError(t, taken.Release())
	table, err := reader.Next(t.Context())
	require.NoError(t, err)
	rows, _ := table.HostRows()
	assert.EqualValues(t, 100, rows)
	require.NoError(t, table.Release())
}

func TestConstructorsCheckTheirArguments(t *testing.T) {
	other := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
	for name, make := range map[string]func() (source.Source, error){
		"no tables":      func() (source.Source, error) { return source.Tables() },
		"nil table":      func() (source.Source, error) { return source.Tables(nil) },
		"no records":     func() (source.Source, error) { return source.Records(nil) },
		"nil record":     func() (source.Source, error) { return source.Records(nil, nil) },
		"another schema": func() (source.Source, error) { return source.Records(other, numbered(0, 1)) },
		"not nullable": func() (source.Source, error) {
			fields := slices.Clone(numbered(0, 1).Schema().Fields())
			fields[1].Nullable = false
			return source.Records(arrow.NewSchema(fields, nil), numbered(0, 1))
		},
		"no columns": func() (source.Source, error) { return source.Values([]int{1}) },
		"nil reader": func() (source.Source, error) { return source.RecordReader(nil) },
	} {
		s, err := make()
		assert.Nil(t, s, name)
		var typed *source.Error
		assert.ErrorAs(t, err, &typed, name)
	}
}
