package share

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// plainTypes are those that their format string says all of.
var plainTypes = map[string]arrow.DataType{
	"n": arrow.Null, "b": arrow.FixedWidthTypes.Boolean,
	"c": arrow.PrimitiveTypes.Int8, "C": arrow.PrimitiveTypes.Uint8, "s": arrow.PrimitiveTypes.Int16, "S": arrow.PrimitiveTypes.Uint16,
	"i": arrow.PrimitiveTypes.Int32, "I": arrow.PrimitiveTypes.Uint32, "l": arrow.PrimitiveTypes.Int64, "L": arrow.PrimitiveTypes.Uint64,
	"e": arrow.FixedWidthTypes.Float16, "f": arrow.PrimitiveTypes.Float32, "g": arrow.PrimitiveTypes.Float64,
	"z": arrow.BinaryTypes.Binary, "Z": arrow.BinaryTypes.LargeBinary, "vz": arrow.BinaryTypes.BinaryView,
	"u": arrow.BinaryTypes.String, "U": arrow.BinaryTypes.LargeString, "vu": arrow.BinaryTypes.StringView,
	"tdD": arrow.FixedWidthTypes.Date32, "tdm": arrow.FixedWidthTypes.Date64,
	"tts": arrow.FixedWidthTypes.Time32s, "ttm": arrow.FixedWidthTypes.Time32ms, "ttu": arrow.FixedWidthTypes.Time64us, "ttn": arrow.FixedWidthTypes.Time64ns,
	"tDs": arrow.FixedWidthTypes.Duration_s, "tDm": arrow.FixedWidthTypes.Duration_ms, "tDu": arrow.FixedWidthTypes.Duration_us, "tDn": arrow.FixedWidthTypes.Duration_ns,
	"tiM": arrow.FixedWidthTypes.MonthInterval, "tiD": arrow.FixedWidthTypes.DayTimeInterval, "tin": arrow.FixedWidthTypes.MonthDayNanoInterval,
}

// timeUnits are the letters of the units of timestamps.
const timeUnits = "smun"

// formatType writes all of a type. The caller adds what is the field's.
func formatType(t arrow.DataType) (m fieldMessage, err error) {
	var fields []arrow.Field
	switch t := t.(type) {
	case arrow.ExtensionType:
		m, err = formatType(t.StorageType())
		m.Extension, m.Serialized = t.ExtensionName(), []byte(t.Serialize())
		return m, err
	case *arrow.DictionaryType:
		if m, err = formatType(t.IndexType); err != nil {
			return m, err
		}
		values, err := formatType(t.ValueType)
		m.Dictionary, m.Ordered = &values, t.Ordered
		return m, err
	case *arrow.TimestampType:
		m.Format = "ts" + timeUnits[t.Unit:t.Unit+1] + ":" + t.TimeZone
	case *arrow.FixedSizeBinaryType:
		m.Format = fmt.Sprint("w:", t.ByteWidth)
	case *arrow.Decimal128Type:
		m.Format = fmt.Sprintf("d:%d,%d", t.Precision, t.Scale)
	case *arrow.Decimal256Type:
		m.Format = fmt.Sprintf("d:%d,%d,256", t.Precision, t.Scale)
	case *arrow.ListType:
		m.Format, fields = "+l", t.Fields()
	case *arrow.LargeListType:
		m.Format, fields = "+L", t.Fields()
	case *arrow.ListViewType:
		m.Format, fields = "+vl", t.Fields()
	case *arrow.LargeListViewType:
		m.Format, fields = "+vL", t.Fields()
	case *arrow.FixedSizeListType:
		m.Format, fields = fmt.Sprint("+w:", t.Len()), t.Fields()
	case *arrow.StructType:
		m.Format, fields = "+s", t.Fields()
	case *arrow.MapType:
		m.Format, m.Sorted, fields = "+m", t.KeysSorted, []arrow.Field{t.KeyField(), t.ItemField()}
	case *arrow.SparseUnionType:
		m.Format, fields = "+us:"+formatCodes(t.TypeCodes()), t.Fields()
	case *arrow.DenseUnionType:
		m.Format, fields = "+ud:"+formatCodes(t.TypeCodes()), t.Fields()
	case *arrow.RunEndEncodedType:
		m.Format = "+r"
		fields = []arrow.Field{{Name: "run_ends", Type: t.RunEnds()}, {Name: "values", Type: t.Encoded(), Nullable: t.ValueNullable}}
	default:
		for format, plain := range plainTypes {
			if t != nil && arrow.TypeEqual(plain, t) {
				return fieldMessage{Format: format}, nil
			}
		}
		return m, fmt.Errorf("%v: %w", t, ErrType)
	}
	m.Children, err = formatFields(fields)
	return m, err
}

func formatCodes(codes []arrow.UnionTypeCode) string {
	var texts []string
	for _, code := range codes {
		texts = append(texts, strconv.Itoa(int(code)))
	}
	return strings.Join(texts, ",")
}

// parse makes the type of a field.
func (m *fieldMessage) parse() (arrow.DataType, error) {
	t, err := m.parseFormat()
	if err != nil {
		return nil, err
	}
	if m.Dictionary != nil {
		values, err := m.Dictionary.parse()
		if err != nil {
			return nil, fmt.Errorf("dictionary: %w", err)
		}
		t = &arrow.DictionaryType{IndexType: t, ValueType: values, Ordered: m.Ordered}
	}
	// One that this process does not know is its storage, as Arrow has it.
	if known := arrow.GetExtensionType(m.Extension); m.Extension != "" && known != nil {
		return known.Deserialize(t, string(m.Serialized))
	}
	return t, nil
}

func (m *fieldMessage) parseFormat() (arrow.DataType, error) {
	if plain, ok := plainTypes[m.Format]; ok && len(m.Children) == 0 {
		return plain, nil
	}
	fields, err := parseFields(m.Children)
	if err != nil {
		return nil, err
	}
	kind, parameters, _ := strings.Cut(m.Format, ":")
	if t, ok := parseLeaf(kind, parameters); ok && len(fields) == 0 {
		return t, nil
	}
	if t, ok := m.parseNested(kind, parameters, fields); ok {
		return t, nil
	}
	return nil, fmt.Errorf("format %q with %d children: %w", m.Format, len(fields), ErrType)
}

func parseLeaf(kind, parameters string) (arrow.DataType, bool) {
	switch kind {
	case "tss", "tsm", "tsu", "tsn":
		return &arrow.TimestampType{Unit: arrow.TimeUnit(strings.Index(timeUnits, kind[2:])), TimeZone: parameters}, true
	case "w":
		numbers, ok := parseNumbers(parameters, 1, 1)
		return &arrow.FixedSizeBinaryType{ByteWidth: int(at(numbers, 0))}, ok && numbers[0] >= 0
	case "d":
		numbers, ok := parseNumbers(parameters, 2, 3)
		if ok && len(numbers) == 3 && numbers[2] == 256 {
			return &arrow.Decimal256Type{Precision: numbers[0], Scale: numbers[1]}, true
		}
		return &arrow.Decimal128Type{Precision: at(numbers, 0), Scale: at(numbers, 1)}, ok && (len(numbers) == 2 || numbers[2] == 128)
	}
	return nil, false
}

func (m *fieldMessage) parseNested(kind, parameters string, fields []arrow.Field) (arrow.DataType, bool) {
	if kind == "+s" {
		return arrow.StructOf(fields...), true
	}
	if kind == "+us" || kind == "+ud" {
		return parseUnion(kind, parameters, fields)
	}
	if len(fields) == 2 {
		switch kind {
		case "+m":
			t := arrow.MapOfWithMetadata(fields[0].Type, fields[0].Metadata, fields[1].Type, fields[1].Metadata)
			t.KeysSorted = m.Sorted
			t.SetItemNullable(fields[1].Nullable)
			return t, true
		case "+r":
			t := arrow.RunEndEncodedOf(fields[0].Type, fields[1].Type)
			t.ValueNullable = fields[1].Nullable
			return t, true
		}
	}
	if len(fields) != 1 {
		return nil, false
	}
	switch kind {
	case "+l":
		return arrow.ListOfField(fields[0]), true
	case "+L":
		return arrow.LargeListOfField(fields[0]), true
	case "+vl":
		return arrow.ListViewOfField(fields[0]), true
	case "+vL":
		return arrow.LargeListViewOfField(fields[0]), true
	case "+w":
		if numbers, ok := parseNumbers(parameters, 1, 1); ok && numbers[0] > 0 {
			return arrow.FixedSizeListOfField(numbers[0], fields[0]), true
		}
	}
	return nil, false
}

func parseUnion(kind, parameters string, fields []arrow.Field) (arrow.DataType, bool) {
	var codes []arrow.UnionTypeCode
	if parameters != "" {
		numbers, ok := parseNumbers(parameters, len(fields), len(fields))
		if !ok {
			return nil, false
		}
		for _, number := range numbers {
			if number < 0 || number > 127 || slices.Contains(codes, arrow.UnionTypeCode(number)) {
				return nil, false
			}
			codes = append(codes, arrow.UnionTypeCode(number))
		}
	}
	if len(codes) != len(fields) {
		return nil, false
	}
	if kind == "+us" {
		return arrow.SparseUnionOf(fields, codes), true
	}
	return arrow.DenseUnionOf(fields, codes), true
}

// parseNumbers reads numbers between commas, as many as there may be.
func parseNumbers(text string, least, most int) ([]int32, bool) {
	var numbers []int32
	for _, part := range strings.Split(text, ",") {
		number, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, int32(number))
	}
	return numbers, len(numbers) >= least && len(numbers) <= most
}

// at returns number i, or zero where there are not so many.
func at(numbers []int32, i int) int32 {
	if i < len(numbers) {
		return numbers[i]
	}
	return 0
}
