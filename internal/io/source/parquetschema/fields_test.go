package parquetschema_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/parquetschema"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// requireSame compares fields with those of arrow-go, the second opinion.
func requireSame(t require.TestingT, want pqarrow.SchemaField, got parquetschema.Field, place string) {
	require.True(t, want.Field.Equal(got.Field), "%s: arrow-go has %v, not %v", place, want.Field, got.Field)
	if len(want.Children) == 0 {
		require.Equal(t, want.ColIndex, got.Leaf, place)
	} else {
		require.Equal(t, -1, got.Leaf, place)
	}
	levels := want.LevelInfo
	require.Equal(t, parquetschema.Levels{Definition: int(levels.DefLevel), Repetition: int(levels.RepLevel), Ancestor: int(levels.RepeatedAncestorDefLevel)}, got.Levels, place)
	require.Len(t, got.Children, len(want.Children), place)
	for i := range want.Children {
		requireSame(t, want.Children[i], got.Children[i], fmt.Sprintf("%s.%d", place, i))
	}
}

// requireLikeArrow compares the fields of a schema with those of arrow-go. A schema that one refuses, the other one refuses too.
func requireLikeArrow(t require.TestingT, s *schema.Schema, pairs metadata.KeyValueMetadata) {
	texts := schema.NewSchema(withTexts(t, s.Root()).(*schema.GroupNode))
	want, failure := pqarrow.NewSchemaManifest(texts, pairs, nil)
	var original *arrow.Schema
	if failure == nil {
		original = want.OriginSchema
	}
	ours := readSchema(t, s)
	got, err := parquetschema.Fields(ours, original)
	if failure != nil {
		require.ErrorIs(t, err, parquetschema.ErrType, "arrow-go: %v", failure)
		return
	}
	require.NoError(t, err)
	require.Len(t, got, len(want.Fields))
	for i := range got {
		requireSame(t, want.Fields[i], got[i], got[i].Name)
	}
	wanted, err := pqarrow.FromParquet(texts, nil, pairs)
	require.NoError(t, err)
	require.True(t, wanted.Equal(parquetschema.Schema(ours, got, original)))
	require.True(t, wanted.Metadata().Equal(parquetschema.Schema(ours, got, original).Metadata()))
}

// readSchema returns a schema as arrow-go writes it.
func readSchema(t require.TestingT, s *schema.Schema) *parquetformat.Schema {
	var to bytes.Buffer
	require.NoError(t, file.NewParquetWriter(&to, s.Root()).Close())
	data, err := parquetformat.ReadTail(bytes.NewReader(to.Bytes()), int64(to.Len()))
	require.NoError(t, err)
	f, err := parquetformat.Read(data)
	require.NoError(t, err)
	return f.Schema
}

// withTexts returns a node with strings in place of JSON and enumerations, which arrow-go reads as bytes.
func withTexts(t require.TestingT, n schema.Node) schema.Node {
	group, ok := n.(*schema.GroupNode)
	if !ok {
		leaf := n.(*schema.PrimitiveNode)
		if logical := n.LogicalType(); !logical.Equals(schema.JSONLogicalType{}) && !logical.Equals(schema.EnumLogicalType{}) {
			return n
		}
		text, err := schema.NewPrimitiveNodeLogical(n.Name(), n.RepetitionType(), schema.StringLogicalType{}, leaf.PhysicalType(), leaf.TypeLength(), n.FieldID())
		require.NoError(t, err)
		return text
	}
	var fields schema.FieldList
	for i := range group.NumFields() {
		fields = append(fields, withTexts(t, group.Field(i)))
	}
	replaced, err := schema.NewGroupNode(n.Name(), n.RepetitionType(), fields, n.FieldID())
	if logical := n.LogicalType(); !logical.IsNone() && logical.IsValid() {
		replaced, err = schema.NewGroupNodeLogical(n.Name(), n.RepetitionType(), fields, logical, n.FieldID())
	}
	require.NoError(t, err)
	return replaced
}

// Stored schemas restore zones of timestamps in another unit, and durations, which arrow-go reads as integers; JSON and enumerations are text.
func TestFieldsUnlikeArrow(t *testing.T) {
	leaf := func(name string, logical schema.LogicalType, physical parquet.Type) schema.Node {
		n, err := schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, logical, physical, -1, -1)
		require.NoError(t, err)
		return n
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		leaf("json", schema.JSONLogicalType{}, parquet.Types.ByteArray), leaf("enum", schema.EnumLogicalType{}, parquet.Types.ByteArray),
		leaf("bson", schema.BSONLogicalType{}, parquet.Types.ByteArray), leaf("at", schema.NewTimestampLogicalType(true, schema.TimeUnitMillis), parquet.Types.Int64),
		leaf("span", schema.NewIntLogicalType(64, true), parquet.Types.Int64), leaf("short", schema.NewIntLogicalType(32, true), parquet.Types.Int32),
	}, -1)
	require.NoError(t, err)
	span := arrow.FixedWidthTypes.Duration_us
	stored := arrow.NewSchema([]arrow.Field{
		{Name: "json", Type: arrow.BinaryTypes.String}, {Name: "enum", Type: arrow.BinaryTypes.String}, {Name: "bson", Type: arrow.BinaryTypes.Binary},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Oslo"}}, {Name: "span", Type: span}, {Name: "short", Type: span},
	}, nil)
	for _, test := range []struct {
		stored *arrow.Schema
		want   []arrow.DataType
	}{
		{nil, []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.FixedWidthTypes.Timestamp_ms, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32}},
		{stored, []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Europe/Oslo"}, span, arrow.PrimitiveTypes.Int32}},
	} {
		fields, err := parquetschema.Fields(readSchema(t, schema.NewSchema(root)), test.stored)
		require.NoError(t, err)
		for i, want := range test.want {
			require.True(t, arrow.TypeEqual(want, fields[i].Type), "%v, not %v", want, fields[i].Type)
		}
	}
}

// drawNode draws a node of any kind, also of lists and maps as no writer has them.
func drawNode(t *rapid.T, name string, depth int) schema.Node {
	repetition := rapid.SampledFrom([]parquet.Repetition{parquet.Repetitions.Required, parquet.Repetitions.Optional, parquet.Repetitions.Optional, parquet.Repetitions.Repeated}).Draw(t, "repetition")
	number := int32(rapid.IntRange(-1, 5).Draw(t, "number"))
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "values") == 0 {
		return drawValues(t, name, repetition, number)
	}
	var members schema.FieldList
	for i := range rapid.IntRange(1, 3).Draw(t, "members") {
		members = append(members, drawNode(t, rapid.SampledFrom([]string{"array", "list", name + "_tuple", fmt.Sprint("m", i)}).Draw(t, "name"), depth-1))
	}
	logical := rapid.SampledFrom([]schema.LogicalType{schema.NoLogicalType{}, schema.NewListLogicalType(), schema.NewListLogicalType(), schema.MapLogicalType{}}).Draw(t, "group")
	if logical.Equals(schema.MapLogicalType{}) && rapid.IntRange(0, 3).Draw(t, "as maps are") > 0 {
		key, err := schema.NewPrimitiveNodeLogical("key", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, 7)
		require.NoError(t, err)
		entries, err := schema.NewGroupNode("key_value", parquet.Repetitions.Repeated, append(schema.FieldList{key}, members[:min(len(members), rapid.IntRange(0, 2).Draw(t, "values of a map"))]...), 3)
		require.NoError(t, err)
		members = schema.FieldList{entries}
	}
	group, err := schema.NewGroupNode(name, repetition, members, number)
	if !logical.IsNone() {
		group, err = schema.NewGroupNodeLogical(name, repetition, members, logical, number)
	}
	require.NoError(t, err)
	return group
}

// drawValues draws a node of values of any type.
func drawValues(t *rapid.T, name string, repetition parquet.Repetition, number int32) schema.Node {
	physical := rapid.SampledFrom([]parquet.Type{
		parquet.Types.Boolean, parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Int96, parquet.Types.Float, parquet.Types.Double,
		parquet.Types.ByteArray, parquet.Types.FixedLenByteArray,
	}).Draw(t, "type")
	logical := rapid.SampledFrom(logicalTypes()).Draw(t, "logical type")
	node, err := schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, rapid.SampledFrom([]int{2, 12, 16, 20}).Draw(t, "width"), number)
	if err != nil { // the format has no such values
		node, err = schema.NewPrimitiveNodeLogical(name, repetition, schema.NoLogicalType{}, physical, 5, number)
	}
	require.NoError(t, err)
	return node
}

func logicalTypes() []schema.LogicalType {
	list := []schema.LogicalType{
		schema.NoLogicalType{}, schema.StringLogicalType{}, schema.EnumLogicalType{}, schema.JSONLogicalType{}, schema.BSONLogicalType{}, schema.UUIDLogicalType{},
		schema.DateLogicalType{}, schema.Float16LogicalType{}, schema.IntervalLogicalType{}, schema.NullLogicalType{}, schema.UnknownLogicalType{},
		schema.NewDecimalLogicalType(5, 2), schema.NewDecimalLogicalType(9, 0), schema.NewDecimalLogicalType(18, 4), schema.NewDecimalLogicalType(38, 10), schema.NewDecimalLogicalType(40, 1),
	}
	for _, bits := range []int8{8, 16, 32, 64} {
		list = append(list, schema.NewIntLogicalType(bits, true), schema.NewIntLogicalType(bits, false))
	}
	for _, unit := range []schema.TimeUnitType{schema.TimeUnitMillis, schema.TimeUnitMicros, schema.TimeUnitNanos} {
		list = append(list, schema.NewTimeLogicalType(true, unit), schema.NewTimestampLogicalType(true, unit), schema.NewTimestampLogicalType(false, unit),
			schema.NewTimestampLogicalTypeForce(false, unit), schema.ConvertedTypes.TimestampMicros.ToLogicalType(schema.DecimalMetadata{}))
	}
	return list
}

// The fields of random schemas are those of arrow-go.
func TestRandomSchemas(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		var columns schema.FieldList
		for i := range rapid.IntRange(1, 4).Draw(r, "columns") {
			columns = append(columns, drawNode(r, fmt.Sprint("c", i), 4))
		}
		root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, columns, -1)
		require.NoError(r, err)
		requireLikeArrow(r, schema.NewSchema(root), nil)
	})
}

// storedTypes are types that a stored schema restores, in lists, structs and maps too.
func storedTypes() []arrow.DataType {
	text := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String, Ordered: true}
	leaves := []arrow.DataType{
		text, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary,
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Asia/Tokyo"},
		&arrow.TimestampType{Unit: arrow.Second}, arrow.FixedWidthTypes.Date64, &arrow.Decimal256Type{Precision: 20, Scale: 3}, arrow.FixedWidthTypes.Float16, arrow.Null,
	}
	all := append(leaves, arraytest.AllTypes()...)
	for _, t := range leaves {
		pair := arrow.StructOf(arrow.Field{Name: "a", Type: t, Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"unit": "m"})}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int8})
		all = append(all, arrow.ListOf(t), arrow.FixedSizeListOf(3, t), pair, arrow.ListOf(pair), arrow.MapOf(arrow.BinaryTypes.LargeString, t), arrow.ListOf(arrow.FixedSizeListOf(2, pair)))
	}
	return all
}

// A stored schema restores what arrow-go restores of it.
func TestStoredSchemas(t *testing.T) {
	require.NoError(t, arraytest.RegisterExtension())
	written := 0
	for _, dataType := range storedTypes() {
		if strings.Contains(dataType.String(), "timestamp[s, tz=") {
			continue // see TestFieldsUnlikeArrow
		}
		if data, err := storedFile(dataType); err == nil {
			requireFile(t, data, dataType.String())
			written++
		}
	}
	require.Greater(t, written, 70)
}

// storedFile is a file without rows with a stored schema. An error means that arrow-go does not write the type.
func storedFile(dataType arrow.DataType) (data []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil { // about an extension type of dictionaries
			err = fmt.Errorf("%v", reason)
		}
	}()
	column := arrow.Field{Name: "a", Type: dataType, Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"x": "y", "PARQUET:field_id": "4"})}
	s := arrow.NewSchema([]arrow.Field{column, {Name: "n", Type: arrow.PrimitiveTypes.Int8}}, nil)
	var to bytes.Buffer
	writer, err := pqarrow.NewFileWriter(s, &to, parquet.NewWriterProperties(parquet.WithVersion(parquet.V2_LATEST)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	err = writer.Close()
	return to.Bytes(), err
}

func requireFile(t *testing.T, data []byte, name string) {
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err, name)
	requireLikeArrow(t, reader.MetaData().Schema, reader.MetaData().KeyValueMetadata())
}

// The fields of files of other writers are those of arrow-go.
func TestSchemasOfOthers(t *testing.T) {
	for _, name := range []string{"duckdb-byte-stream-split", "lz4-raw"} {
		data, err := os.ReadFile(filepath.Join("../testdata/others", name+".parquet"))
		require.NoError(t, err)
		requireFile(t, data, name)
	}
}

// The format names the second level of lists of two levels: its group is the element.
func TestListsOfTwoLevels(t *testing.T) {
	leaf, err := schema.NewPrimitiveNode("x", parquet.Repetitions.Required, parquet.Types.Int32, -1, -1)
	require.NoError(t, err)
	for name, want := range map[string]string{"list": "list<list: int32, nullable>", "array": "list<array: struct<x: int32>, nullable>", "a_tuple": "list<a_tuple: struct<x: int32>, nullable>", "b_tuple": "list<b_tuple: int32, nullable>"} {
		child, err := schema.NewGroupNode(name, parquet.Repetitions.Repeated, schema.FieldList{leaf}, -1)
		require.NoError(t, err)
		list, err := schema.NewGroupNodeLogical("a", parquet.Repetitions.Optional, schema.FieldList{child}, schema.NewListLogicalType(), -1)
		require.NoError(t, err)
		root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{list}, -1)
		require.NoError(t, err)
		fields, err := parquetschema.Fields(readSchema(t, schema.NewSchema(root)), nil)
		require.NoError(t, err)
		require.Equal(t, want, fields[0].Type.String())
		requireLikeArrow(t, schema.NewSchema(root), nil)
	}
}

// A row without a list has memory for all elements of a fixed size, which a stored schema may claim to be any number.
func TestLongFixedLists(t *testing.T) {
	number := arrow.PrimitiveTypes.Int64
	inner := arrow.FixedSizeListOf(1<<10, number)
	for _, test := range []struct {
		written arrow.DataType
		want    arrow.Type
	}{
		{arrow.FixedSizeListOf(parquetschema.MostElements, number), arrow.FIXED_SIZE_LIST},
		{arrow.FixedSizeListOf(parquetschema.MostElements+1, number), arrow.LIST},
		{arrow.FixedSizeListOf(1<<11, inner), arrow.LIST},
		{arrow.FixedSizeListOf(1<<11, arrow.StructOf(arrow.Field{Name: "a", Type: inner, Nullable: true})), arrow.LIST},
	} {
		data, err := storedFile(test.written)
		require.NoError(t, err)
		fields, err := parquetschema.Fields(readSchema(t, schemaOf(t, data)), arrow.NewSchema([]arrow.Field{{Name: "a", Type: test.written, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int8}}, nil))
		require.NoError(t, err)
		require.Equal(t, test.want, fields[0].Type.ID(), "%v", fields[0].Type)
	}
}

func schemaOf(t *testing.T, data []byte) *schema.Schema {
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	return reader.MetaData().Schema
}
