package spill_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
)

// manyTypes makes a record with a column of every layout, some of them nested, until
// the end of the test. Every seventh row has nulls.
func manyTypes(t testing.TB, rows int) arrow.Record {
	t.Helper()
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: text}
	members := []arrow.Field{{Name: "text", Type: text, Nullable: true}, {Name: "list", Type: arrow.ListOf(number), Nullable: true}}
	types := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 30, Scale: 2}, arrow.FixedWidthTypes.Timestamp_us,
		&arrow.FixedSizeBinaryType{ByteWidth: 5}, text, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary,
		arrow.BinaryTypes.StringView, dictionary,
		arrow.ListOf(number), arrow.LargeListOf(text), arrow.ListOf(dictionary), arrow.FixedSizeListOf(2, arrow.FixedWidthTypes.Boolean),
		arrow.MapOf(text, number), arrow.StructOf(members...), arrow.ListViewOf(text),
		arrow.SparseUnionOf(members, []arrow.UnionTypeCode{4, 2}), arrow.DenseUnionOf(members, []arrow.UnionTypeCode{4, 2}),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, text), arrow.ListOf(arrow.StructOf(members...)),
	}
	fields := make([]arrow.Field, len(types))
	for i, dataType := range types {
		fields[i] = arrow.Field{Name: fmt.Sprint(i, " ", dataType), Type: dataType, Nullable: true}
	}
	metadata := arrow.NewMetadata([]string{"source"}, []string{"tests"})
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, &metadata))
	defer b.Release()
	for row := range rows {
		for _, column := range b.Fields() {
			appendRow(t, column, row)
		}
	}
	record := b.NewRecord()
	t.Cleanup(record.Release)
	return record
}

// appendRow appends a value that is distinct for each row, or a null.
func appendRow(t testing.TB, builder array.Builder, row int) {
	t.Helper()
	if row%7 == 3 {
		builder.AppendNull()
		return
	}
	text := strings.Repeat(fmt.Sprint("row ", row, " "), row%4)
	items := func(b array.Builder) {
		for k := range row % 3 {
			appendRow(t, b, row+k)
		}
	}
	switch b := builder.(type) {
	case *array.NullBuilder:
		b.AppendNull()
	case *array.BooleanBuilder:
		b.Append(row%2 == 0)
	case *array.Int8Builder:
		b.Append(int8(row))
	case *array.Int32Builder:
		b.Append(int32(row) * 1000)
	case *array.Uint64Builder:
		b.Append(uint64(row) << 40)
	case *array.Float64Builder:
		b.Append(float64(row) / 3)
	case *array.Decimal128Builder:
		b.Append(decimal128.FromI64(int64(row)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(row))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(fmt.Sprintf("%05d", row)))
	case *array.StringBuilder:
		b.Append(text)
	case *array.LargeStringBuilder:
		b.Append(text)
	case *array.BinaryBuilder:
		b.Append([]byte(text))
	case *array.StringViewBuilder:
		b.Append(text)
	case *array.BinaryDictionaryBuilder:
		require.NoError(t, b.AppendString(fmt.Sprint("word ", row%5)))
	case *array.MapBuilder:
		b.Append(true)
		for k := range row % 3 {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint("key ", k))
			appendRow(t, b.ItemBuilder(), row+k)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for k := range 2 {
			appendRow(t, b.ValueBuilder(), row+k)
		}
	case *array.ListViewBuilder:
		b.AppendWithSize(true, row%3)
		items(b.ValueBuilder())
	case *array.ListBuilder:
		b.Append(true)
		items(b.ValueBuilder())
	case *array.LargeListBuilder:
		b.Append(true)
		items(b.ValueBuilder())
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendRow(t, b.FieldBuilder(i), row+i)
		}
	case *array.SparseUnionBuilder:
		code := b.Type().(arrow.UnionType).TypeCodes()[row%2]
		b.Append(code)
		for i := range b.NumChildren() {
			appendRow(t, b.Child(i), row+i)
		}
	case *array.DenseUnionBuilder:
		code := b.Type().(arrow.UnionType).TypeCodes()[row%2]
		b.Append(code)
		appendRow(t, b.Child(row%2), row)
	case *array.RunEndEncodedBuilder:
		b.Append(1)
		appendRow(t, b.ValueBuilder(), row/2)
	default:
		t.Fatalf("no way to append to %T", b)
	}
}
