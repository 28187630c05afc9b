package share

import (
	"encoding/json"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
)

// everyType has a field of each type that there is.
func everyType() *arrow.Schema {
	number, text := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	metadata := arrow.NewMetadata([]string{"k", "l"}, []string{"v", ""})
	item := arrow.Field{Name: "it", Type: text, Metadata: metadata}
	pair := []arrow.Field{{Name: "a", Type: number, Nullable: true}, {Name: "b", Type: text}}
	codes := []arrow.UnionTypeCode{5, 127}
	sorted := arrow.MapOf(text, number)
	sorted.KeysSorted = true
	strict := arrow.MapOf(text, number)
	strict.SetItemNullable(false)
	types := []arrow.DataType{
		&arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Zurich"},
		&arrow.FixedSizeBinaryType{ByteWidth: 7}, &arrow.Decimal128Type{Precision: 19, Scale: -2}, &arrow.Decimal256Type{Precision: 70, Scale: 10},
		arrow.ListOf(number), arrow.ListOfField(item), arrow.LargeListOf(text), arrow.ListViewOf(text), arrow.LargeListViewOf(number),
		arrow.FixedSizeListOf(3, number), arrow.FixedSizeListOfField(1, item), arrow.StructOf(pair...), arrow.StructOf(),
		arrow.MapOf(text, number), sorted, strict, arrow.SparseUnionOf(pair, codes), arrow.DenseUnionOf(pair, codes), arrow.DenseUnionOf(nil, nil),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, text),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.ListOf(text), Ordered: true},
		arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}),
	}
	for _, each := range formattest.All() {
		types = append(types, each.Type)
	}
	var fields []arrow.Field
	for i, t := range types {
		field := arrow.Field{Name: "twice", Type: t, Nullable: i%2 == 0}
		if i%3 == 0 {
			field.Metadata = metadata
		}
		fields = append(fields, field)
	}
	return arrow.NewSchema(fields, &metadata)
}

func TestSchemas(t *testing.T) {
	for _, want := range []*arrow.Schema{everyType(), arrow.NewSchema(nil, nil)} {
		message, err := formatSchema(want)
		require.NoError(t, err)
		text, err := json.Marshal(message)
		require.NoError(t, err)
		var read schemaMessage
		require.NoError(t, decode(text, &read))
		got, err := parseSchema(read)
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%v\n%v", want, got)
		require.Equal(t, want.String(), got.String())
		require.Equal(t, want.Metadata(), got.Metadata())
	}
}

func TestSchemasThatAreNone(t *testing.T) {
	child := fieldMessage{Name: "c", Format: "l"}
	for _, m := range []fieldMessage{
		{}, {Format: "x"}, {Format: "l", Children: []fieldMessage{child}}, {Format: "w:-1"}, {Format: "w:x"}, {Format: "w:99999999999"},
		{Format: "d:1"}, {Format: "d:1,2,64"}, {Format: "d:1,2,3,4"}, {Format: "+l"}, {Format: "+w:0", Children: []fieldMessage{child}},
		{Format: "+m", Children: []fieldMessage{child}}, {Format: "+us:1", Children: []fieldMessage{child, child}},
		{Format: "+ud:200", Children: []fieldMessage{child}}, {Format: "+us:1,1", Children: []fieldMessage{child, child}},
		{Format: "l", Dictionary: &fieldMessage{Format: "x"}},
		{Format: "tsx:"}, {Format: "+l", Children: []fieldMessage{{Format: "?"}}},
	} {
		_, err := parseSchema(schemaMessage{Fields: []fieldMessage{m}})
		require.ErrorIs(t, err, ErrType, "%+v", m)
	}
	_, err := formatField(arrow.Field{})
	require.ErrorIs(t, err, ErrType)
	deep := child
	for range 100 {
		deep = fieldMessage{Format: "+l", Children: []fieldMessage{deep}}
	}
	_, err = parseSchema(schemaMessage{Fields: []fieldMessage{deep}})
	require.ErrorIs(t, err, ErrType)
}
