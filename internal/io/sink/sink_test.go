package sink_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// pair is a format and the source that reads it with a schema.
type pair struct {
	format sink.Format
	read   func(name string, data []byte, schema *arrow.Schema) (source.Source, error)
	// milliseconds reports whether seconds become milliseconds.
	milliseconds bool
}

func pairs() map[string]pair {
	parquet := func(name string, data []byte, _ *arrow.Schema) (source.Source, error) {
		return source.ParquetReaderAt(name, bytes.NewReader(data), int64(len(data)))
	}
	ipc := func(name string, data []byte, _ *arrow.Schema) (source.Source, error) {
		return source.IPCReader(name, bytes.NewReader(data))
	}
	return map[string]pair{
		"parquet": {sink.Parquet(sink.ParquetOptions{GroupRows: 7}), parquet, true},
		"zstd":    {sink.Parquet(sink.ParquetOptions{Compression: "zstd"}), parquet, true},
		"file":    {sink.IPC(sink.IPCOptions{}), ipc, false},
		"stream":  {sink.IPC(sink.IPCOptions{Stream: true, Zstd: true}), ipc, false},
		"csv": {sink.CSV(sink.CSVOptions{Null: "∅", Delimiter: ';'}), func(name string, data []byte, schema *arrow.Schema) (source.Source, error) {
			types := map[string]arrow.DataType{}
			for _, field := range schema.Fields() {
				types[field.Name] = field.Type
			}
			return source.CSVReader(name, bytes.NewReader(data), source.CSVOptions{Types: types, Nulls: []string{"∅"}, Delimiter: ';'})
		}, false},
		"json": {sink.JSON(), func(name string, data []byte, schema *arrow.Schema) (source.Source, error) {
			return source.JSONReader(name, bytes.NewReader(data), source.JSONOptions{Schema: schema})
		}, false},
	}
}

// readerOf is a reader of records as tables.
func readerOf(t require.TestingT, m *memory.Manager, schema *arrow.Schema, records []arrow.Record, batch int64) buffer.Reader {
	s, err := source.Records(schema, records...)
	require.NoError(t, err)
	reader, err := s.Open(context.Background(), m, source.Request{BatchRows: batch})
	require.NoError(t, err)
	return reader
}

// whole reads a source as one record.
func whole(t require.TestingT, m *memory.Manager, s source.Source) arrow.Record {
	reader, err := s.Open(context.Background(), m, source.Request{BatchRows: 1 << 30})
	require.NoError(t, err)
	table, err := reader.Next(context.Background())
	if errors.Is(err, io.EOF) {
		require.NoError(t, reader.Close())
		return nil
	}
	require.NoError(t, err)
	_, err = reader.Next(context.Background())
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, reader.Close())
	record, err := table.Record(context.Background())
	require.NoError(t, err)
	require.NoError(t, table.Release())
	return record
}

// valid returns the array, with decimals of no more digits than the type has, and times
// of the years that have four digits.
func valid(values arrow.Array) arrow.Array {
	if _, fixed := values.DataType().(arrow.FixedWidthDataType); !fixed || values.DataType().ID() == arrow.DICTIONARY {
		return values
	}
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, values.DataType())
	defer builder.Release()
	for i := range values.Len() {
		n := i*7919 + 11
		switch b := builder.(type) {
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(int64(n - 20000)))
		case *array.Decimal256Builder:
			b.Append(decimal256.FromI64(int64(n - 20000)))
		case *array.Date32Builder:
			b.Append(arrow.Date32(n - 9000))
		case *array.Date64Builder:
			b.Append(arrow.Date64(int64(n-9000) * 86_400_000))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(n*n - 20_000_000))
		case *array.Time32Builder:
			b.Append(arrow.Time32(n % 86_400))
		case *array.Time64Builder:
			b.Append(arrow.Time64(int64(n) * 1_000_003 % 86_400_000_000))
		default:
			return values
		}
	}
	return builder.NewArray()
}

// sameValues compares columns, with NaN equal to NaN.
func sameValues(t require.TestingT, want, got arrow.Array, about string) {
	require.Equal(t, want.Len(), got.Len(), about)
	if d, ok := want.(*array.Dictionary); ok { // Parquet keeps no type of indices
		require.Equal(t, arrow.DICTIONARY, got.DataType().ID(), about)
		for i := range d.Len() {
			wantNull := arraytest.IsNull(d, i)
			require.Equal(t, wantNull, arraytest.IsNull(got, i), about)
			require.True(t, wantNull || d.ValueStr(i) == got.ValueStr(i), about)
		}
		return
	}
	require.True(t, arrow.TypeEqual(want.DataType(), got.DataType()), "%s: %v, %v", about, want.DataType(), got.DataType())
	if array.Equal(want, got) {
		return
	}
	wantText, err := want.MarshalJSON() // in which NaN equals NaN
	require.NoError(t, err)
	gotText, err := got.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, string(wantText), string(gotText), about)
}

// sameTexts compares the values of views with those of the type that they are read as.
func sameTexts(t require.TestingT, want, got arrow.Array) {
	require.False(t, strings.Contains(got.DataType().String(), "view"), "%v", got.DataType())
	for i := range want.Len() {
		require.Equal(t, want.IsNull(i), got.IsNull(i))
		require.True(t, want.IsNull(i) || want.ValueStr(i) == got.ValueStr(i))
	}
}

// Any table that a format accepts is equal when it is read again; the others give a
// typed error.
func TestTablesThereAndBack(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	require.NoError(t, arraytest.RegisterExtension())
	accepted := map[string]map[string]bool{}
	for name := range pairs() {
		accepted[name] = map[string]bool{}
	}
	types := arraytest.AllTypes()
	check := func(seed uint64, rows int, chosen ...arrow.DataType) {
		generator := arraytest.NewGenerator(seed)
		fields := make([]arrow.Field, len(chosen))
		columns := make([]arrow.Array, len(fields))
		for i, dataType := range chosen {
			columns[i] = valid(generator.Array(dataType, rows))
			fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dataType, Nullable: true}
		}
		record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
		for name, p := range pairs() {
			var written bytes.Buffer
			reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, 13)
			w, err := sink.ToWriter(context.Background(), &written, p.format, reader)
			require.NoError(t, reader.Close())
			if err != nil {
				var typed *sink.Error
				require.ErrorAs(t, err, &typed, name)
				require.ErrorIs(t, err, sink.ErrUnsupported, name)
				continue
			}
			require.EqualValues(t, rows, w.Rows)
			require.EqualValues(t, written.Len(), w.Bytes)
			s, err := p.read(name, written.Bytes(), record.Schema())
			require.NoError(t, err, name)
			back := whole(t, m, s)
			if rows == 0 {
				require.Nil(t, back)
				schema, err := s.Schema(context.Background())
				require.NoError(t, err)
				require.Equal(t, len(fields), schema.NumFields())
				continue
			}
			for i, column := range columns {
				if timed, ok := fields[i].Type.(arrow.TemporalWithUnit); ok && p.milliseconds && timed.TimeUnit() == arrow.Second {
					continue // Parquet has no seconds: they become milliseconds
				}
				if !arrow.TypeEqual(fields[i].Type, reader.Schema().Field(i).Type) || p.milliseconds && fields[i].Type.ID() == arrow.DATE64 { // it has dates of 32 bits
					sameTexts(t, column, back.Column(i))
					continue // sources read views as text
				}
				sameValues(t, column, back.Column(i), fmt.Sprintf("%s, %v, %d rows", name, fields[i].Type, rows))
				accepted[name][fields[i].Type.String()] = true
			}
		}
	}
	for i, dataType := range types {
		for _, rows := range []int{0, 1, 30} {
			check(uint64(i), rows, dataType)
		}
	}
	var flat []arrow.DataType // that all formats hold
	for _, dataType := range types {
		if name := dataType.String(); accepted["csv"][name] && accepted["parquet"][name] {
			flat = append(flat, dataType)
		}
	}
	tables := 100
	if testing.Short() {
		tables = 15
	}
	for seed := range uint64(tables) {
		random := rand.New(rand.NewPCG(seed, 1))
		chosen := make([]arrow.DataType, 2+random.IntN(3))
		from := [][]arrow.DataType{flat, types}[seed%2]
		for i := range chosen {
			chosen[i] = from[random.IntN(len(from))]
		}
		check(seed, 1+random.IntN(40), chosen...)
	}
	assert.True(t, accepted["parquet"]["duration[us]"], "%v", accepted["parquet"])
	for name := range pairs() {
		assert.GreaterOrEqual(t, len(accepted[name]), 8, "%s holds %v", name, accepted[name])
	}
}

func TestPaths(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		folder := t.TempDir()
		record := sales(t)
		for name, format := range map[string]sink.Format{"a.parquet": sink.Parquet(sink.ParquetOptions{}), "a.csv": sink.CSV(sink.CSVOptions{}), "a.json": sink.JSON(), "a.arrow": sink.IPC(sink.IPCOptions{})} {
			path := filepath.Join(folder, name)
			for range 2 { // an existing file is replaced
				reader := readerOf(t, m, nil, []arrow.Record{record, record}, 2)
				w, err := sink.ToPath(t.Context(), path, format, reader)
				require.NoError(t, err)
				require.NoError(t, reader.Close())
				assert.EqualValues(t, 2*record.NumRows(), w.Rows)
				info, err := os.Stat(path)
				require.NoError(t, err)
				assert.Equal(t, info.Size(), w.Bytes)
			}
		}
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Len(t, left, 4, "temporary files are gone")
		text, err := os.ReadFile(filepath.Join(folder, "a.csv"))
		require.NoError(t, err)
		assert.Equal(t, "city,price,n\nOslo,3.5,1\n\"a,\"\"b\"\"\",,\nOslo,3.5,1\n\"a,\"\"b\"\"\",,\n", string(text))
		text, err = os.ReadFile(filepath.Join(folder, "a.json"))
		require.NoError(t, err)
		assert.Equal(t, `{"city":"Oslo","price":3.5,"n":1}`+"\n"+`{"city":"a,\"b\"","price":null,"n":null}`, strings.Join(strings.Split(string(text), "\n")[:2], "\n"))
	})
}

func sales(t testing.TB) arrow.Record {
	t.Helper()
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil),
		strings.NewReader(`[{"city": "Oslo", "price": 3.5, "n": 1}, {"city": "a,\"b\""}]`))
	require.NoError(t, err)
	return record
}

// failing fails after a number of bytes.
type failing struct{ left int }

var errFull = errors.New("the disk is full")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n := f.left
		f.left = 0
		return n, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

// brokenReader fails after its tables.
type brokenReader struct {
	buffer.Reader
	err error
}

func (b brokenReader) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := b.Reader.Next(ctx)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return table, err
}

func TestFailedWritesLeaveNothing(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := sales(t)
	broken := errors.New("broken")
	for name, p := range pairs() {
		var whole bytes.Buffer
		reader := readerOf(t, m, nil, []arrow.Record{record, record}, 1)
		_, err := sink.ToWriter(t.Context(), &whole, p.format, reader)
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		for _, left := range []int{0, 1, whole.Len() / 2, whole.Len() - 1} {
			reader := readerOf(t, m, nil, []arrow.Record{record, record}, 1)
			_, err := sink.ToWriter(t.Context(), &failing{left}, p.format, reader)
			require.ErrorIs(t, err, errFull, "%s after %d bytes", name, left)
			require.NoError(t, reader.Close())
		}
		folder := t.TempDir()
		reader = readerOf(t, m, nil, []arrow.Record{record, record}, 1)
		_, err = sink.ToPath(t.Context(), filepath.Join(folder, "x"), p.format, brokenReader{reader, broken})
		require.ErrorIs(t, err, broken)
		done, end := context.WithCancel(t.Context())
		end()
		_, err = sink.ToPath(done, filepath.Join(folder, "x"), p.format, reader)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, reader.Close())
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Empty(t, left, name)
		reader = readerOf(t, m, nil, []arrow.Record{record}, 1)
		_, err = sink.ToPath(t.Context(), filepath.Join(folder, "none", "x"), p.format, reader)
		require.ErrorIs(t, err, os.ErrNotExist)
		assert.ErrorContains(t, err, filepath.Join("none", "x"))
		require.NoError(t, reader.Close())
	}
}

func TestOptions(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, options := range []sink.ParquetOptions{
		{Compression: "lzma"}, {GroupRows: -1}, {GroupRows: math.MaxInt64}, {PageRows: -1}, {Level: 1}, {Compression: "zstd", Level: 23}, {Compression: "gzip", Level: -1}, {Bloom: []string{"city", "none"}},
	} {
		format := sink.Parquet(options)
		reader := readerOf(t, m, nil, []arrow.Record{sales(t)}, 0)
		_, err := sink.ToWriter(t.Context(), io.Discard, format, reader)
		require.ErrorIs(t, err, sink.ErrArgument)
		require.NoError(t, reader.Close())
	}
	var text bytes.Buffer
	reader := readerOf(t, m, nil, []arrow.Record{sales(t)}, 0)
	_, err := sink.ToWriter(t.Context(), &text, sink.CSV(sink.CSVOptions{NoHeader: true, Delimiter: '\t', Null: "NA"}), reader)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	assert.Equal(t, "Oslo\t3.5\t1\n\"a,\"\"b\"\"\"\tNA\tNA\n", text.String())
}

// Parts that goroutines encode are written in order.
func TestLongTextsAreInOrder(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	builder := array.NewInt64Builder(arrowmemory.DefaultAllocator)
	rows := 100_000
	if testing.Short() {
		rows = 20_000
	}
	for i := range rows {
		builder.Append(int64(i))
	}
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{builder.NewArray()}, int64(rows))
	var text bytes.Buffer
	reader := readerOf(t, m, nil, []arrow.Record{record}, 0)
	_, err := sink.ToWriter(t.Context(), &text, sink.CSV(sink.CSVOptions{}), reader)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	s, err := source.CSVReader("text", &text, source.CSVOptions{})
	require.NoError(t, err)
	back := whole(t, m, s)
	assert.True(t, array.Equal(record.Column(0), back.Column(0)))
}

// renamed is a reader whose schema differs from that of its tables.
type renamed struct {
	buffer.Reader
	schema *arrow.Schema
}

func (r renamed) Schema() *arrow.Schema { return r.schema }

// Tables may state nulls more precisely than their reader, as those of queries do. Other
// names are an error.
func TestSchemasOfReaders(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := sales(t).NewSlice(0, 1) // without nulls
	for name, p := range pairs() {
		for _, same := range []bool{true, false} {
			fields := record.Schema().Fields()
			for i := range fields {
				fields[i].Nullable = !fields[i].Nullable
			}
			if !same {
				fields[0].Name += "?"
			}
			reader := readerOf(t, m, nil, []arrow.Record{record, record}, 1)
			written, err := sink.ToWriter(t.Context(), io.Discard, p.format, renamed{reader, arrow.NewSchema(fields, nil)})
			require.NoError(t, reader.Close())
			if same {
				require.NoError(t, err, name)
				require.Equal(t, 2*record.NumRows(), written.Rows)
			} else {
				require.ErrorIs(t, err, buffer.ErrSchema, name)
			}
		}
	}
}

// TestDecimalsInCSV writes decimals with all their digits.
func TestDecimalsInCSV(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: 3}, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	values := b.Field(0).(*array.Decimal128Builder)
	for _, text := range []string{"12345678901234567890123456789012345.678", "-0.001", "7"} {
		value, err := decimal128.FromString(text, 38, 3)
		require.NoError(t, err)
		values.Append(value)
	}
	values.AppendNull()
	record := b.NewRecord()
	defer record.Release()
	reader := readerOf(t, m, schema, []arrow.Record{record}, 3)
	var written bytes.Buffer
	_, err := sink.ToWriter(context.Background(), &written, sink.CSV(sink.CSVOptions{Null: "NA"}), reader)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	require.Equal(t, "d\n12345678901234567890123456789012345.678\n-0.001\n7.000\nNA\n", written.String())
}

// TestTextsOfCSV writes texts that readers may take for nulls, line ends or other values, and nulls,
// alone and among other columns. They are the same when they are read again.
func TestTextsOfCSV(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	parts := []string{"", "NULL", "null", "NA", "a", "1", " ", "\t", "\n", "\r\n", "\r", "\"", ",", "\uFEFF", "é", "\x00"}
	property.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(1, 3).Draw(r, "columns")
		rows := rapid.IntRange(1, 8).Draw(r, "rows")
		fields, columns, types := make([]arrow.Field, width), make([]arrow.Array, width), map[string]arrow.DataType{}
		for i := range fields {
			builder := array.NewStringBuilder(arrowmemory.DefaultAllocator)
			for range rows {
				if rapid.IntRange(0, 3).Draw(r, "null") == 0 {
					builder.AppendNull()
				} else {
					builder.Append(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 3).Draw(r, "text"), ""))
				}
			}
			fields[i] = arrow.Field{Name: rapid.SampledFrom(parts).Draw(r, "name") + fmt.Sprint(i), Type: arrow.BinaryTypes.String, Nullable: true}
			columns[i], types[fields[i].Name] = builder.NewArray(), arrow.BinaryTypes.String
		}
		record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
		var text bytes.Buffer
		reader := readerOf(r, m, record.Schema(), []arrow.Record{record}, 100)
		_, err := sink.ToWriter(context.Background(), &text, sink.CSV(sink.CSVOptions{}), reader)
		require.NoError(r, err)
		require.NoError(r, reader.Close())
		s, err := source.CSVReader("text", bytes.NewReader(text.Bytes()), source.CSVOptions{Types: types})
		require.NoError(r, err)
		back := whole(r, m, s)
		for i := range columns {
			require.Equal(r, fields[i].Name, back.ColumnName(i))
			require.True(r, array.Equal(columns[i], back.Column(i)), "%q: %v, %v", text.String(), columns[i], back.Column(i))
		}
	})
}

// TestNumbersOfJSON writes numbers that JSON does not have, or that other programs round.
func TestNumbersOfJSON(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	floats := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	floats.AppendValues([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, math.Copysign(0, -1)}, nil)
	decimals := array.NewDecimal128Builder(arrowmemory.DefaultAllocator, &arrow.Decimal128Type{Precision: 38})
	unsigned := array.NewUint64Builder(arrowmemory.DefaultAllocator)
	for i := range 5 {
		decimals.Append(decimal128.New(int64(i)<<40, 7))
		unsigned.Append(math.MaxUint64 - uint64(i))
	}
	columns := []arrow.Array{floats.NewArray(), decimals.NewArray(), unsigned.NewArray()}
	var fields []arrow.Field
	for i, column := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: column.DataType(), Nullable: true})
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, 5)
	var text bytes.Buffer
	reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, 100)
	_, err := sink.ToWriter(t.Context(), &text, sink.JSON(), reader)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	for line := range bytes.Lines(text.Bytes()) {
		require.True(t, json.Valid(line), "%s", line)
	}
	s, err := source.JSONReader("text", &text, source.JSONOptions{})
	require.NoError(t, err)
	back := whole(t, m, s)
	for i, column := range columns {
		sameValues(t, column, back.Column(i), fields[i].Name)
	}
}
