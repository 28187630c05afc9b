package querytest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// Kind is the type of a column.
type Kind int

// The kinds. Values of the model are bool, int64 for both integers, float64, string for texts
// and dictionaries of texts, or nil for null.
const (
	Bool Kind = iota
	Int32
	Int64
	Float64
	String
	Dictionary
	kinds
)

var arrowTypes = [kinds]arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
}

// String returns the name of the Arrow type.
func (k Kind) String() string { return arrowTypes[k].String() }

func (k Kind) isNumber() bool { return k == Int32 || k == Int64 || k == Float64 }

func (k Kind) isInteger() bool { return k == Int32 || k == Int64 }

func (k Kind) isText() bool { return k == String || k == Dictionary }

// Column is a column of a table of the model.
type Column struct {
	Name string
	Kind Kind
	// Required is set if the column has no nulls and a field that is not nullable.
	Required bool
	// Undeclared is set if the field of the source is not nullable although the column may have
	// nulls.
	Undeclared bool
	// Large is set if the texts of the source have 64-bit offsets.
	Large bool
}

// arrowType returns the type of the column in a source.
func (c Column) arrowType() arrow.DataType {
	if c.Large {
		return arrow.BinaryTypes.LargeString
	}
	return arrowTypes[c.Kind]
}

// Row is a row of a table.
type Row []any

// Table is a table of the model.
type Table struct {
	Columns []Column
	Rows    []Row
	// Ordered is set if the order of the rows is specified.
	Ordered bool
}

func (t *Table) place(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

func (t *Table) names() []string {
	list := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = c.Name
	}
	return list
}

// with returns a table of the same columns with other rows.
func (t *Table) with(rows []Row) *Table { return &Table{t.Columns, rows, t.Ordered} }

// schema returns the Arrow schema.
func (t *Table) schema() *arrow.Schema {
	fields := make([]arrow.Field, len(t.Columns))
	for i, c := range t.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: c.arrowType(), Nullable: !c.Required && !c.Undeclared}
	}
	return arrow.NewSchema(fields, nil)
}

// record returns some rows as a record.
func (t *Table) record(rows []Row) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, t.schema())
	defer b.Release()
	for _, row := range rows {
		for i, value := range row {
			appendValue(b.Field(i), value)
		}
	}
	return b.NewRecord()
}

func appendValue(b array.Builder, value any) {
	if value == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(value.(bool))
	case *array.Int32Builder:
		b.Append(int32(value.(int64)))
	case *array.Int64Builder:
		b.Append(value.(int64))
	case *array.Float64Builder:
		b.Append(value.(float64))
	case *array.StringBuilder:
		b.Append(value.(string))
	case *array.LargeStringBuilder:
		b.Append(value.(string))
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(value.(string)); err != nil {
			panic(err) // more than 2³¹ values
		}
	}
}

// Check compares a result in parts with the table: as a sequence of rows if the order is
// specified, else as a multiset.
func (t *Table) Check(parts ...arrow.Record) error {
	want, got := make([]string, len(t.Rows)), []string(nil)
	for i, row := range t.Rows {
		want[i] = show(row)
	}
	for _, part := range parts {
		if err := t.checkColumns(part); err != nil {
			return err
		}
		for i := range int(part.NumRows()) {
			row := make(Row, len(t.Columns))
			for j := range row {
				row[j] = valueAt(part.Column(j), i)
			}
			got = append(got, show(row))
		}
	}
	if !t.Ordered {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("%v\ngot\n  %s\nexpected\n  %s", t.names(), strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	return nil
}

func (t *Table) checkColumns(result arrow.Record) error {
	if int(result.NumCols()) != len(t.Columns) {
		return fmt.Errorf("columns %v, expected %v", result.Schema(), t.names())
	}
	for i, c := range t.Columns {
		f := result.Schema().Field(i)
		// Text that 32-bit offsets do not suffice for is large_utf8.
		wide, _ := layout.Wider(arrowTypes[c.Kind], f.Type)
		if f.Name != c.Name || !arrow.TypeEqual(f.Type, wide) {
			return fmt.Errorf("column %d is %q of %v, expected %q of %v", i, f.Name, f.Type, c.Name, c.Kind)
		}
	}
	return nil
}

func valueAt(values arrow.Array, i int) any {
	if values.IsNull(i) {
		return nil
	}
	switch values := values.(type) {
	case *array.Boolean:
		return values.Value(i)
	case *array.Int32:
		return int64(values.Value(i))
	case *array.Int64:
		return values.Value(i)
	case *array.Float64:
		return values.Value(i)
	case *array.String:
		return values.Value(i)
	case *array.LargeString:
		return values.Value(i)
	case *array.Dictionary:
		return valueAt(values.Dictionary(), values.GetValueIndex(i))
	}
	return values.ValueStr(i)
}

// show formats a row so that equal rows have equal text. Both zeros are equal, and floats
// have ten digits: a mean may be rounded in another way.
func show(row Row) string {
	texts := make([]string, len(row))
	for i, value := range row {
		texts[i] = showValue(value)
	}
	return strings.Join(texts, " | ")
}

func showValue(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case float64:
		if value == 0 {
			return "0.0"
		}
		return fmt.Sprintf("%.10gf", value)
	case string:
		return fmt.Sprintf("%q", value)
	}
	return fmt.Sprint(value)
}

// showName formats a value as the name of its column of a pivot.
func showName(value any) string {
	if value == nil {
		return "null"
	}
	return fmt.Sprint(value)
}

// keyOf formats values so that values that are one key have equal text.
func keyOf(values []any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		if f, ok := value.(float64); ok {
			texts[i] = fmt.Sprintf("%x", math.Float64bits(f+0))
			if math.IsNaN(f) {
				texts[i] = "NaN"
			}
			continue
		}
		texts[i] = showValue(value)
	}
	return strings.Join(texts, "|")
}

// compare orders two values that are not null. NaN is the greatest.
func compare(a, b any) int {
	switch a := a.(type) {
	case bool:
		return truth(a) - truth(b.(bool))
	case int64:
		return threeWay(a, b.(int64))
	case string:
		return strings.Compare(a, b.(string))
	}
	x, y := a.(float64), b.(float64)
	if math.IsNaN(x) || math.IsNaN(y) {
		return truth(math.IsNaN(x)) - truth(math.IsNaN(y))
	}
	return threeWay(x, y)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func threeWay[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
