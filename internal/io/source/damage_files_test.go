package source_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// variedTypes are types that Parquet files store in different ways.
func variedTypes() []arrow.DataType {
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 10},
		arrow.FixedWidthTypes.Date32, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, arrow.FixedWidthTypes.Time32ms,
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, &arrow.FixedSizeBinaryType{ByteWidth: 5},
		arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int16),
	}
}

// varied returns a record with a column of each type, with few distinct values.
func varied(types []arrow.DataType, rows int) arrow.Record {
	generator := arraytest.NewGenerator(5)
	fields, columns := make([]arrow.Field, len(types)), make([]arrow.Array, len(types))
	for i, t := range types {
		fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true}
		generator.Nulls = arraytest.SomeNull
		if arrow.IsNested(t.ID()) {
			generator.Nulls = arraytest.NoneNull // arrow-go writes no null list that has elements
		}
		columns[i] = generator.Array(t, rows)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
}

// variedParquet is a file of two row groups with the given properties.
func variedParquet(t testing.TB, types []arrow.DataType, properties ...parquet.WriterProperty) []byte {
	t.Helper()
	return variedGroups(t, types, 60, properties...)
}

// variedGroups is variedParquet with a number of rows.
func variedGroups(t testing.TB, types []arrow.DataType, rows int, properties ...parquet.WriterProperty) []byte {
	t.Helper()
	record := varied(types, rows)
	defer record.Release()
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(record.Schema(), &to, parquet.NewWriterProperties(append(properties, parquet.WithMaxRowGroupLength(40))...),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	require.NoError(t, err)
	table := array.NewTableFromRecords(record.Schema(), []arrow.Record{record})
	defer table.Release()
	require.NoError(t, writer.WriteTable(table, 40))
	require.NoError(t, writer.Close())
	return to.Bytes()
}

// writable returns an array whose offsets begin with zero: arrow-go v17 cannot read what it
// writes of others.
func writable(a arrow.Array) arrow.Array {
	switch id := a.DataType().ID(); {
	case id == arrow.DICTIONARY:
		d := a.(*array.Dictionary)
		return array.NewDictionaryArray(d.DataType(), d.Indices(), writable(d.Dictionary()))
	case id != arrow.LIST && !arrow.IsBaseBinary(id):
		return a
	}
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, a.DataType())
	for row := range a.Len() {
		if err := builder.AppendValueFromString(a.ValueStr(row)); err != nil {
			panic(err)
		}
	}
	return builder.NewArray()
}

// variedIPC is a stream or file of two records, compressed or not.
func variedIPC(t testing.TB, file bool, types []arrow.DataType, options ...ipc.Option) []byte {
	t.Helper()
	record := varied(types, 20)
	columns := slices.Clone(record.Columns())
	for i, c := range columns {
		columns[i] = writable(c)
	}
	record = array.NewRecord(record.Schema(), columns, record.NumRows())
	name := filepath.Join(t.TempDir(), "a.arrow")
	to, err := os.Create(name)
	require.NoError(t, err)
	defer to.Close()
	options = append(options, ipc.WithSchema(record.Schema()))
	var writer interface {
		Write(arrow.Record) error
		Close() error
	} = ipc.NewWriter(to, options...)
	if file {
		writer, err = ipc.NewFileWriter(to, options...)
		require.NoError(t, err)
	}
	for range 2 {
		require.NoError(t, writer.Write(record))
	}
	require.NoError(t, writer.Close())
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

const variedCSV = "a;b;c;d;e;f\r\n" +
	"1;\"x;\"\"y\"\"\";2024-02-29;12:34:56;1e300;\r\n" +
	"NULL;\"\";1999-12-31T23:59:59Z;;-inf;0x10\r\n" +
	"-9223372036854775808;'q';;00:00:00.000001;NaN;true\r\n"

const variedJSON = `{"a": [[1, null], [], null], "b": {"c": {"d": ["x", "\u0000\ud83d\ude00"]}}, "e": 1e308, "f": "2024-02-29T12:00:00Z"}
{"a": [[-9223372036854775808]], "b": {"c": null, "g": true}, "e": -0.0, "f": null, "h": 18446744073709551615}
`

// variedFormats are files with most types, encodings and compressions of their formats.
func variedFormats(t testing.TB) []fileFormat {
	parquetFile := func(data []byte) (source.Source, error) {
		return source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	}
	arrowFile := func(data []byte) (source.Source, error) { return source.IPCReader("data", bytes.NewReader(data)) }
	csv := func(data []byte) (source.Source, error) {
		return source.CSVReader("data", bytes.NewReader(data), source.CSVOptions{Delimiter: ';'})
	}
	json := func(data []byte) (source.Source, error) {
		return source.JSONReader("data", bytes.NewReader(data), source.JSONOptions{})
	}
	types := variedTypes()
	arrowTypes := append(variedTypes()[:15:15], &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int16), arrow.FixedWidthTypes.MonthDayNanoInterval, arrow.BinaryTypes.LargeBinary)
	return []fileFormat{
		{"parquet dictionaries", variedParquet(t, types), parquetFile},
		{"parquet plain", variedParquet(t, types, parquet.WithDictionaryDefault(false), parquet.WithStats(false)), parquetFile},
		{"parquet pages 2", variedParquet(t, types, parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithDataPageSize(64)), parquetFile},
		{"parquet snappy", variedParquet(t, types[:14], parquet.WithCompression(compress.Codecs.Snappy)), parquetFile},
		{"parquet zstd", variedParquet(t, types[:14], parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageVersion(parquet.DataPageV2)), parquetFile},
		{"parquet gzip", variedParquet(t, types[:3], parquet.WithCompression(compress.Codecs.Gzip)), parquetFile},
		{"parquet brotli", variedParquet(t, types[:3], parquet.WithCompression(compress.Codecs.Brotli)), parquetFile},
		{"parquet delta", variedParquet(t, []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}, parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked)), parquetFile},
		{"parquet delta length", variedParquet(t, []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary}, parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaLengthByteArray)), parquetFile},
		{"parquet delta bytes", variedParquet(t, []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary}, parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.DeltaByteArray)), parquetFile},
		{"csv", []byte(variedCSV), csv},
		{"json", []byte(variedJSON), json},
		{"arrow file", variedIPC(t, true, arrowTypes), arrowFile},
		{"arrow stream", variedIPC(t, false, arrowTypes), arrowFile},
		{"arrow file, zstd", variedIPC(t, true, arrowTypes, ipc.WithZstd()), arrowFile},
		{"arrow stream, lz4", variedIPC(t, false, arrowTypes, ipc.WithLZ4()), arrowFile},
	}
}

// damageFooter changes a number, a flag or a list somewhere in the footer of a Parquet
// file, and writes it again.
func damageFooter(random *rand.Rand, data []byte) (damaged []byte) {
	defer func() {
		if recover() != nil { // without a value that a footer must have, it cannot be written
			damaged = data
		}
	}()
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return data
	}
	metadata := reader.MetaData()
	for range 1 + random.IntN(2) {
		var places []func()
		damagePlaces(reflect.ValueOf(metadata.FileMetaData), random, &places)
		places[random.IntN(len(places))]()
	}
	damaged = bytes.Clone(data[:len(data)-8-int(footerLength(data))])
	var footer bytes.Buffer
	if _, err := metadata.WriteTo(&footer, nil); err != nil {
		return data
	}
	length := uint32(footer.Len())
	damaged = append(damaged, footer.Bytes()...)
	damaged = append(damaged, byte(length), byte(length>>8), byte(length>>16), byte(length>>24))
	return append(damaged, "PAR1"...)
}

func footerLength(data []byte) uint32 {
	tail := data[len(data)-8:]
	return uint32(tail[0]) | uint32(tail[1])<<8 | uint32(tail[2])<<16 | uint32(tail[3])<<24
}

// damagePlaces adds a function for each value that can be changed below v.
func damagePlaces(v reflect.Value, random *rand.Rand, places *[]func()) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.CanSet() {
			*places = append(*places, func() { v.SetZero() })
		}
		damagePlaces(v.Elem(), random, places)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				damagePlaces(v.Field(i), random, places)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if v.Len() > 0 {
				*places = append(*places, func() { v.SetBytes(v.Bytes()[:random.IntN(v.Len())]) })
			}
			return
		}
		if n := v.Len(); n > 0 && v.CanSet() {
			*places = append(*places, func() { v.SetLen(random.IntN(n)) }, func() { v.Set(reflect.AppendSlice(v.Slice(0, v.Len()), v.Slice(0, v.Len()))) },
				func() { i, j := random.IntN(v.Len()), random.IntN(v.Len()); v.Index(i).Set(v.Index(j)) })
		}
		for i := range v.Len() {
			damagePlaces(v.Index(i), random, places)
		}
	case reflect.Int32, reflect.Int64, reflect.Int8, reflect.Int16:
		*places = append(*places, func() {
			now := v.Int()
			v.SetInt([]int64{now + 1, now - 1, 0, -1, 1, 2, 3, now * 2, now ^ 1<<random.IntN(31), 1<<31 - 1, -1 << 31, 1<<62 - 1, int64(random.IntN(12)), now + int64(random.IntN(200)) - 100}[random.IntN(14)])
		})
	case reflect.Bool:
		*places = append(*places, func() { v.SetBool(!v.Bool()) })
	case reflect.String:
		*places = append(*places, func() { v.SetString(strings.Repeat(v.String(), random.IntN(3))) })
	}
}

// damagePages changes bytes of headers of pages, exchanges column chunks, or copies parts
// of one over another.
func damagePages(random *rand.Rand, data []byte) []byte {
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return data
	}
	damaged := bytes.Clone(data)
	var begins []int64
	for _, group := range reader.MetaData().GetRowGroups() {
		for _, chunk := range group.GetColumns() {
			begins = append(begins, chunk.MetaData.GetDataPageOffset())
			if chunk.MetaData.IsSetDictionaryPageOffset() {
				begins = append(begins, chunk.MetaData.GetDictionaryPageOffset())
			}
		}
	}
	for range 1 + random.IntN(3) {
		at, other := begins[random.IntN(len(begins))], begins[random.IntN(len(begins))]
		length := int64(random.IntN(64))
		switch random.IntN(3) {
		case 0:
			copy(damaged[at:min(at+length, int64(len(data)))], data[other:])
		default:
			place := min(at+length, int64(len(data))-1)
			damaged[place] = []byte{0, 1, 2, 0x7f, 0x80, 0xff, damaged[place] + 1, damaged[place] - 1, damaged[place] ^ 1<<random.IntN(8), damaged[place] + 2}[random.IntN(10)]
		}
	}
	return damaged
}
