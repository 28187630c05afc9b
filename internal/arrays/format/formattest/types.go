package formattest

import "github.com/apache/arrow/go/v17/arrow"

// Case is a type and the format string that the standard defines for it.
type Case struct {
	Format string
	Type   arrow.DataType
}

// Leaves returns a case for each type without children, except dictionaries.
func Leaves() []Case {
	return []Case{
		{"n", arrow.Null},
		{"b", arrow.FixedWidthTypes.Boolean},
		{"c", arrow.PrimitiveTypes.Int8},
		{"C", arrow.PrimitiveTypes.Uint8},
		{"s", arrow.PrimitiveTypes.Int16},
		{"S", arrow.PrimitiveTypes.Uint16},
		{"i", arrow.PrimitiveTypes.Int32},
		{"I", arrow.PrimitiveTypes.Uint32},
		{"l", arrow.PrimitiveTypes.Int64},
		{"L", arrow.PrimitiveTypes.Uint64},
		{"e", arrow.FixedWidthTypes.Float16},
		{"f", arrow.PrimitiveTypes.Float32},
		{"g", arrow.PrimitiveTypes.Float64},
		{"z", arrow.BinaryTypes.Binary},
		{"Z", arrow.BinaryTypes.LargeBinary},
		{"vz", &arrow.BinaryViewType{}},
		{"u", arrow.BinaryTypes.String},
		{"U", arrow.BinaryTypes.LargeString},
		{"vu", &arrow.StringViewType{}},
		{"d:19,10", &arrow.Decimal128Type{Precision: 19, Scale: 10}},
		{"d:38,-38", &arrow.Decimal128Type{Precision: 38, Scale: -38}},
		{"d:76,0,256", &arrow.Decimal256Type{Precision: 76}},
		{"w:0", &arrow.FixedSizeBinaryType{}},
		{"w:42", &arrow.FixedSizeBinaryType{ByteWidth: 42}},
		{"w:2147483647", &arrow.FixedSizeBinaryType{ByteWidth: 1<<31 - 1}},
		{"tdD", arrow.FixedWidthTypes.Date32},
		{"tdm", arrow.FixedWidthTypes.Date64},
		{"tts", arrow.FixedWidthTypes.Time32s},
		{"ttm", arrow.FixedWidthTypes.Time32ms},
		{"ttu", arrow.FixedWidthTypes.Time64us},
		{"ttn", arrow.FixedWidthTypes.Time64ns},
		{"tss:", &arrow.TimestampType{Unit: arrow.Second}},
		{"tsm:Europe/Zürich", &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Europe/Zürich"}},
		{"tsu:UTC", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		{"tsn:+05:30", &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+05:30"}},
		{"tDs", arrow.FixedWidthTypes.Duration_s},
		{"tDm", arrow.FixedWidthTypes.Duration_ms},
		{"tDu", arrow.FixedWidthTypes.Duration_us},
		{"tDn", arrow.FixedWidthTypes.Duration_ns},
		{"tiM", arrow.FixedWidthTypes.MonthInterval},
		{"tiD", arrow.FixedWidthTypes.DayTimeInterval},
		{"tin", arrow.FixedWidthTypes.MonthDayNanoInterval},
	}
}

// Nested returns cases with children and with dictionaries.
func Nested() []Case {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	metadata := arrow.NewMetadata([]string{"unit"}, []string{"m/s"})
	element := arrow.Field{Name: "element", Type: number, Metadata: metadata}
	pair := []arrow.Field{{Name: "a", Type: number, Nullable: true}, {Name: "", Type: text, Metadata: metadata}}
	sorted := arrow.MapOfWithMetadata(text, metadata, number, metadata)
	sorted.KeysSorted = true
	sorted.SetItemNullable(false)
	solid := arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int64, text)
	solid.ValueNullable = false
	return []Case{
		{"+l", arrow.ListOf(text)},
		{"+l", arrow.ListOfField(element)},
		{"+L", arrow.LargeListOf(number)},
		{"+L", arrow.LargeListOfField(element)},
		{"+vl", arrow.ListViewOf(number)},
		{"+vl", arrow.ListViewOfField(element)},
		{"+vL", arrow.LargeListViewOf(text)},
		{"+vL", arrow.LargeListViewOfField(element)},
		{"+w:3", arrow.FixedSizeListOf(3, number)},
		{"+w:2147483647", arrow.FixedSizeListOfField(1<<31-1, element)},
		{"+s", arrow.StructOf()},
		{"+s", arrow.StructOf(pair...)},
		{"+s", arrow.StructOf(pair[0], pair[0])},
		{"+m", arrow.MapOf(text, number)},
		{"+m", sorted},
		{"+r", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int16, arrow.ListOf(number))},
		{"+r", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, text)},
		{"+r", solid},
		{"+ud:", arrow.DenseUnionOf(nil, nil)},
		{"+us:", arrow.SparseUnionOf(nil, nil)},
		{"+ud:4,127", arrow.DenseUnionOf(pair, []arrow.UnionTypeCode{4, 127})},
		{"+us:1,0", arrow.SparseUnionOf(pair, []arrow.UnionTypeCode{1, 0})},
		{"c", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}},
		{"L", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint64, ValueType: arrow.ListOf(number), Ordered: true}},
		{"+l", arrow.ListOf(&arrow.DictionaryType{IndexType: number, ValueType: text})},
		{"+l", arrow.ListOf(arrow.ListOf(arrow.StructOf(arrow.Field{Name: "m", Type: sorted})))},
	}
}

// All returns all cases.
func All() []Case { return append(Leaves(), Nested()...) }
