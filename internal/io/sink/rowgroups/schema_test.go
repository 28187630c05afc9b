package rowgroups

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// leafTypes are the types of values that a file has, with the parameters that matter.
func leafTypes() []arrow.DataType {
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, &arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 16},
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
	}
	for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		types = append(types, &arrow.TimestampType{Unit: unit}, &arrow.TimestampType{Unit: unit, TimeZone: "Europe/Oslo"})
	}
	for _, digits := range []int32{1, 9, 10, 18, 19, 38} {
		types = append(types, &arrow.Decimal128Type{Precision: digits, Scale: digits / 2}, &arrow.Decimal256Type{Precision: 2 * digits, Scale: 2 * digits})
	}
	return types
}

// drawType draws a type of a few levels.
func drawType(r *rapid.T, depth int) arrow.DataType {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 4).Draw(r, "kind")
	}
	switch kind {
	case 2:
		return arrow.ListOfField(drawField(r, "item", depth-1))
	case 3:
		m := arrow.MapOf(drawType(r, 0), drawType(r, depth-1))
		m.SetItemNullable(rapid.Bool().Draw(r, "nullable values"))
		return m
	case 4:
		fields := make([]arrow.Field, rapid.IntRange(1, 3).Draw(r, "fields"))
		for i := range fields {
			fields[i] = drawField(r, fmt.Sprintf("f%d", i), depth-1)
		}
		return arrow.StructOf(fields...)
	}
	return rapid.SampledFrom(leafTypes()).Draw(r, "type")
}

func drawField(r *rapid.T, name string, depth int) arrow.Field {
	field := arrow.Field{Name: name, Type: drawType(r, depth), Nullable: rapid.Bool().Draw(r, "nullable")}
	if text := rapid.SampledFrom([]string{"", "", "7", "-1", "x"}).Draw(r, "ID"); text != "" {
		field.Metadata = arrow.NewMetadata([]string{fieldIDKey}, []string{text})
	}
	return field
}

// A file without rows has the footer that arrow-go's writer gives it.
func TestFootersAreThoseOfArrow(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		var fields []arrow.Field
		for i := range rapid.IntRange(1, 4).Draw(r, "columns") {
			fields = append(fields, drawField(r, fmt.Sprintf("c%d", i), 3))
		}
		entries := arrow.NewMetadata([]string{"a", "broken", "b"}, []string{"1", "\xff", "2"})
		s := arrow.NewSchema(fields, &entries)
		properties := parquet.NewWriterProperties(parquet.WithCreatedBy(createdBy), parquet.WithStoreDecimalAsInteger(true))
		want, err := pqarrow.ToParquet(s, properties, pqarrow.NewArrowWriterProperties())
		require.NoError(r, err)
		got, err := fileSchema(s, nil)
		require.NoError(r, err)

		var file bytes.Buffer
		writer, err := pqarrow.NewFileWriter(s, &file, properties, pqarrow.NewArrowWriterProperties())
		require.NoError(r, err)
		require.NoError(r, writer.Close())
		wantFooter, err := parquetformat.ReadTail(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(r, err)
		gotFooter := parquetformat.Encode(got, 0, func(t *thrift.Encoder) { t.Elements(thrift.Struct, 0, nil) }, entriesOf(s.Metadata()), createdBy)
		require.Equal(r, wantFooter, gotFooter)
		requireColumns(r, want, got)

		read, err := parquetformat.Read(gotFooter)
		require.NoError(r, err)
		requireColumns(r, want, read.Schema)
		require.Equal(r, []parquetformat.Entry{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}, read.Entries)
		require.Equal(r, createdBy, read.CreatedBy)
	})
}

// requireColumns compares the columns of a schema with those of arrow-go.
func requireColumns(t require.TestingT, want *schema.Schema, got *parquetformat.Schema) {
	require.Len(t, got.Columns, want.NumColumns())
	for i, c := range got.Columns {
		column := want.Column(i)
		require.Equal(t, []string(column.ColumnPath()), c.Path())
		require.Equal(t, [2]int16{column.MaxDefinitionLevel(), column.MaxRepetitionLevel()}, [2]int16{c.MaxDefinition, c.MaxRepetition})
		require.EqualValues(t, column.PhysicalType(), c.Physical)
		require.EqualValues(t, column.SortOrder(), c.Order())
		require.Equal(t, want.Root().FieldIndexByField(want.ColumnRoot(i)), c.Field)
		require.NoError(t, c.Check())
	}
}

// Times of Arrow have no zone: other readers would take times in UTC for times with one. arrow-go writes those.
func TestTypesUnlikeArrow(t *testing.T) {
	uuid, json := arrow.MetadataFrom(map[string]string{format.ExtensionName: "arrow.uuid"}), arrow.MetadataFrom(map[string]string{format.ExtensionName: "arrow.json"})
	s := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.FixedWidthTypes.Time32s}, {Name: "ms", Type: arrow.FixedWidthTypes.Time32ms}, {Name: "us", Type: arrow.FixedWidthTypes.Time64us},
		{Name: "ns", Type: arrow.FixedWidthTypes.Time64ns}, {Name: "uuid", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Metadata: uuid},
		{Name: "json", Type: arrow.BinaryTypes.String, Metadata: json}, {Name: "other", Type: arrow.PrimitiveTypes.Int64, Metadata: json},
	}, nil)
	got, err := fileSchema(s, nil)
	require.NoError(t, err)
	encoded := parquetformat.Encode(got, 0, func(t *thrift.Encoder) { t.Elements(thrift.Struct, 0, nil) }, nil, createdBy)
	footer, err := metadata.NewFileMetaData(encoded, nil)
	require.NoError(t, err)
	var types []string
	for i := range got.Columns {
		column := footer.Schema.Column(i)
		types = append(types, column.LogicalType().String())
		if i < 4 {
			require.Equal(t, schema.ConvertedTypes.None, column.ConvertedType(), "for readers that know no logical types")
		}
	}
	require.Equal(t, []string{
		"Time(isAdjustedToUTC=false, timeUnit=milliseconds)", "Time(isAdjustedToUTC=false, timeUnit=milliseconds)", "Time(isAdjustedToUTC=false, timeUnit=microseconds)",
		"Time(isAdjustedToUTC=false, timeUnit=nanoseconds)", "UUID", "JSON", "Int(bitWidth=64, isSigned=true)",
	}, types)
}

// IDs of the options replace those of metadata, and mark UUIDs.
func TestFieldIDsOfTheOptions(t *testing.T) {
	uuids := arrow.Field{Name: "u", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Metadata: arrow.NewMetadata([]string{fieldIDKey}, []string{"9"})}
	s := arrow.NewSchema([]arrow.Field{uuids, {Name: "l", Type: arrow.ListOf(arrow.StructOf(uuids, uuids))}}, nil)
	got, err := fileSchema(s, []FieldID{{ID: 1, UUID: true}, {ID: 2, Members: []FieldID{{ID: 3, Members: []FieldID{{UUID: true}, {ID: 4}}}}}})
	require.NoError(t, err)
	var ids []int32
	var types []string
	for _, c := range got.Columns {
		ids, types = append(ids, c.ID), append(types, c.Logical.String())
	}
	require.Equal(t, []int32{1, 9, 4}, ids)
	require.Equal(t, []string{"UUID", "UUID", "None"}, types)
	list := got.Root.Children[1]
	require.EqualValues(t, 2, list.ID)
	require.EqualValues(t, 3, list.Children[0].Children[0].ID)
}

// Types that a file does not have are refused.
func TestTypesThatAreRefused(t *testing.T) {
	refused := 0
	types := append(arraytest.AllTypes(), &arrow.Decimal128Type{Precision: 5, Scale: -1}, &arrow.Decimal128Type{Precision: 5, Scale: 6}, &arrow.Decimal256Type{})
	for _, dataType := range types {
		s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dataType, Nullable: true}}, nil)
		if _, err := fileSchema(s, nil); err != nil {
			require.ErrorIs(t, err, arrow.ErrNotImplemented, "%v", dataType)
			refused++
		}
	}
	require.Greater(t, refused, 20)
	require.Less(t, refused, len(types)-15)
}

func TestBytesOfDigits(t *testing.T) {
	for digits := 1; digits <= 76; digits++ {
		require.Equal(t, int(pqarrow.DecimalSize(int32(digits))), bytesOfDigits(digits), strconv.Itoa(digits))
	}
}
