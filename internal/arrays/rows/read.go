package rows

import (
	"fmt"
	"iter"
	"reflect"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/names"
)

// Check reports whether records of a schema can be read into values of T.
func Check[T any](schema *arrow.Schema) error {
	_, err := rowReader(reflect.TypeFor[T](), schema)
	return err
}

// Each yields the rows of a record as values of T: structs, or for a record of one
// column also single values. After an error it ends. The values do not refer to the
// record's memory.
func Each[T any](record arrow.Record) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		read, err := rowReader(reflect.TypeFor[T](), record.Schema())
		if err != nil {
			yield(*new(T), err)
			return
		}
		eachRow(read, record, yield)
	}
}

// All yields the rows of all records of one schema; see [Each]. The records are valid
// until the next one is taken.
func All[T any](records iter.Seq2[arrow.Record, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var schema *arrow.Schema
		var read bindRow
		for record, err := range records {
			if err == nil && (schema == nil || !schema.Equal(record.Schema())) {
				schema = record.Schema()
				read, err = rowReader(reflect.TypeFor[T](), schema)
			}
			if err != nil {
				yield(*new(T), err)
				return
			}
			if !eachRow(read, record, yield) {
				return
			}
		}
	}
}

// eachRow yields the rows of a record. It returns false after an error and after yield
// did.
func eachRow[T any](read bindRow, record arrow.Record, yield func(T, error) bool) bool {
	set := read(record)
	var none T
	value := new(T)
	for row := range int(record.NumRows()) {
		*value = none
		if err := set(unsafe.Pointer(value), row); err != nil {
			yield(none, err)
			return false
		}
		if !yield(*value, nil) {
			return false
		}
	}
	return true
}

// Append appends the values of a column to a slice.
func Append[T any](values []T, column arrow.Array) ([]T, error) {
	t := reflect.TypeFor[T]()
	bind, err := compileReader(column.DataType(), t)
	if err != nil {
		return values, valueField(t).fail(column.DataType(), -1, err)
	}
	set := bind(column)
	start := len(values)
	values = append(values, make([]T, column.Len())...)
	for row := range column.Len() {
		if err := set(unsafe.Pointer(&values[start+row]), row); err != nil {
			return values[:start], valueField(t).fail(column.DataType(), int64(row), err)
		}
	}
	return values, nil
}

// valueField stands for rows that are single values.
func valueField(t reflect.Type) field { return field{path: t.String(), goType: t} }

// setter writes the value of a row to an address.
type setter func(p unsafe.Pointer, row int) error

// binder makes a setter for the values of an array.
type binder func(arrow.Array) setter

// bindRow makes a setter for the rows of a record.
type bindRow func(arrow.Record) setter

// rowReader compiles the reader of rows.
func rowReader(t reflect.Type, schema *arrow.Schema) (bindRow, error) {
	if t.Kind() == reflect.Struct && !isValue(t) {
		columns, err := structReader(t, schema.Fields())
		if err != nil {
			return nil, err
		}
		return func(record arrow.Record) setter { return columns.bind(record.Column) }, nil
	}
	if schema.NumFields() != 1 {
		return nil, &Error{Field: t.String(), Go: t, Row: -1, Err: fmt.Errorf("rows have %d columns, expected one for values that are not structs: %w", schema.NumFields(), ErrColumn)}
	}
	f := valueField(t)
	f.name = schema.Field(0).Name
	bind, err := compileReader(schema.Field(0).Type, t)
	if err != nil {
		return nil, f.fail(schema.Field(0).Type, -1, err)
	}
	columns := structColumns{{field: f, dataType: schema.Field(0).Type, bind: bind}}
	return func(record arrow.Record) setter { return columns.bind(record.Column) }, nil
}

// structColumns read the fields of a struct.
type structColumns []structColumn

type structColumn struct {
	field
	dataType arrow.DataType
	place    int
	bind     binder
}

func structReader(t reflect.Type, columns []arrow.Field) (structColumns, error) {
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	readers := make(structColumns, len(fields))
	for i, f := range fields {
		place, err := placeOf(f.name, columns)
		if err != nil {
			return nil, f.fail(nil, -1, err)
		}
		bind, err := compileReader(columns[place].Type, f.goType)
		if err != nil {
			return nil, f.fail(columns[place].Type, -1, err)
		}
		readers[i] = structColumn{field: f, dataType: columns[place].Type, place: place, bind: bind}
	}
	return readers, nil
}

// placeOf finds a column: the first of exactly the name, otherwise the only one that
// differs in case.
func placeOf(name string, columns []arrow.Field) (int, error) {
	match, alike := -1, 0
	for i, column := range columns {
		if column.Name == name {
			return i, nil
		}
		if strings.EqualFold(column.Name, name) {
			match = i
			alike++
		}
	}
	switch alike {
	case 1:
		return match, nil
	case 0:
		all := make([]string, len(columns))
		for i, column := range columns {
			all[i] = column.Name
		}
		return -1, fmt.Errorf("%s: %w", names.Unknown("column", name, all), ErrColumn)
	}
	return -1, fmt.Errorf("%d columns differ from %q only in case, expected one: %w", alike, name, ErrColumn)
}

// bind makes a setter of structs; column returns an array by its place.
func (columns structColumns) bind(column func(int) arrow.Array) setter {
	type step struct {
		offset uintptr
		set    setter
	}
	steps := make([]step, len(columns))
	for i, c := range columns {
		steps[i] = step{c.offset, c.bind(column(c.place))}
	}
	return func(p unsafe.Pointer, row int) error {
		for i, s := range steps {
			if err := s.set(unsafe.Add(p, s.offset), row); err != nil {
				return columns[i].fail(columns[i].dataType, int64(row), err)
			}
		}
		return nil
	}
}

// errNull is the error of a null for a type without nulls.
var errNull = fmt.Errorf("null: use a pointer, sql.Null, or fill nulls before: %w", ErrNull)
