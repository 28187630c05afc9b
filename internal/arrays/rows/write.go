package rows

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"time"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// Schema returns the schema of the records of a struct type. The tag and type rules are
// in the package documentation.
func Schema[T any]() (*arrow.Schema, error) {
	w, err := writerOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return w.schema, nil
}

// Record makes a record of structs. A nil allocator stands for Go memory. The caller
// releases the record.
func Record[T any](allocator arrowmemory.Allocator, values []T) (arrow.Record, error) {
	w, err := writerOf(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	if allocator == nil {
		allocator = arrowmemory.DefaultAllocator
	}
	builder := array.NewRecordBuilder(allocator, w.schema)
	defer builder.Release()
	builder.Reserve(len(values))
	for i, column := range w.columns {
		add := column.bind(builder.Field(i))
		offset := w.fields[i].offset
		for row := range values {
			if err := add(unsafe.Add(unsafe.Pointer(&values[row]), offset)); err != nil {
				return nil, w.fields[i].fail(column.dataType, int64(row), err)
			}
		}
	}
	return builder.NewRecord(), nil
}

// fail is an error about a field.
func (f field) fail(t arrow.DataType, row int64, err error) error {
	var inner *Error
	if errors.As(err, &inner) { // of a nested field
		return &Error{Field: inner.Field, Column: f.name, Go: inner.Go, Arrow: inner.Arrow, Row: row, Err: inner.Err}
	}
	return &Error{Field: f.path, Column: f.name, Go: f.goType, Arrow: t, Row: row, Err: err}
}

// structWriter writes structs of a type.
type structWriter struct {
	schema  *arrow.Schema
	fields  []field
	columns []writer
}

// writer appends values of a Go type to builders of an Arrow type.
type writer struct {
	dataType arrow.DataType
	nullable bool
	// bind returns a function that appends the value at an address.
	bind func(array.Builder) func(unsafe.Pointer) error
}

func writerOf(t reflect.Type) (*structWriter, error) {
	if t.Kind() != reflect.Struct || isValue(t) {
		return nil, &Error{Field: t.String(), Go: t, Row: -1, Err: fmt.Errorf("it is not a struct of columns: %w", ErrType)}
	}
	return structWriterOf(t, nil)
}

// structWriterOf compiles the writer of a struct; within are the structs that it lies in.
func structWriterOf(t reflect.Type, within []reflect.Type) (*structWriter, error) {
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	for _, outer := range within {
		if outer == t {
			return nil, fmt.Errorf("type %v contains itself: %w", t, ErrType)
		}
	}
	w := &structWriter{fields: fields}
	columns := make([]arrow.Field, len(fields))
	for i, f := range fields {
		column, err := compileWriter(f.goType, append(within, t))
		if err != nil {
			return nil, f.fail(nil, -1, err)
		}
		w.columns = append(w.columns, column)
		columns[i] = arrow.Field{Name: f.name, Type: column.dataType, Nullable: column.nullable}
	}
	w.schema = arrow.NewSchema(columns, nil)
	return w, nil
}

func compileWriter(t reflect.Type, within []reflect.Type) (writer, error) {
	switch t {
	case timeType:
		return writer{dataType: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, bind: writeTime}, nil
	case durationType:
		return plain[time.Duration](arrow.FixedWidthTypes.Duration_ns, func(b *array.DurationBuilder, v time.Duration) { b.Append(arrow.Duration(v)) }), nil
	case date32Type:
		return plain[arrow.Date32](arrow.FixedWidthTypes.Date32, (*array.Date32Builder).Append), nil
	case date64Type:
		return plain[arrow.Date64](arrow.FixedWidthTypes.Date64, (*array.Date64Builder).Append), nil
	case bigType:
		return writer{dataType: &arrow.Decimal128Type{Precision: 38}, bind: writeBig}, nil
	}
	if value, valid, ok := optional(t); ok {
		return writeOptional(value, valid, within)
	}
	if isBytes(t) {
		return writeBytes(t), nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return plain[bool](arrow.FixedWidthTypes.Boolean, (*array.BooleanBuilder).Append), nil
	case reflect.Int:
		return plain[int](arrow.PrimitiveTypes.Int64, func(b *array.Int64Builder, v int) { b.Append(int64(v)) }), nil
	case reflect.Int8:
		return plain[int8](arrow.PrimitiveTypes.Int8, (*array.Int8Builder).Append), nil
	case reflect.Int16:
		return plain[int16](arrow.PrimitiveTypes.Int16, (*array.Int16Builder).Append), nil
	case reflect.Int32:
		return plain[int32](arrow.PrimitiveTypes.Int32, (*array.Int32Builder).Append), nil
	case reflect.Int64:
		return plain[int64](arrow.PrimitiveTypes.Int64, (*array.Int64Builder).Append), nil
	case reflect.Uint:
		return plain[uint](arrow.PrimitiveTypes.Uint64, func(b *array.Uint64Builder, v uint) { b.Append(uint64(v)) }), nil
	case reflect.Uint8:
		return plain[uint8](arrow.PrimitiveTypes.Uint8, (*array.Uint8Builder).Append), nil
	case reflect.Uint16:
		return plain[uint16](arrow.PrimitiveTypes.Uint16, (*array.Uint16Builder).Append), nil
	case reflect.Uint32:
		return plain[uint32](arrow.PrimitiveTypes.Uint32, (*array.Uint32Builder).Append), nil
	case reflect.Uint64:
		return plain[uint64](arrow.PrimitiveTypes.Uint64, (*array.Uint64Builder).Append), nil
	case reflect.Float32:
		return plain[float32](arrow.PrimitiveTypes.Float32, (*array.Float32Builder).Append), nil
	case reflect.Float64:
		return plain[float64](arrow.PrimitiveTypes.Float64, (*array.Float64Builder).Append), nil
	case reflect.String:
		return plain[string](arrow.BinaryTypes.String, (*array.StringBuilder).Append), nil
	case reflect.Pointer:
		return writePointer(t, within)
	case reflect.Struct:
		return writeStruct(t, within)
	case reflect.Slice, reflect.Array:
		return writeList(t, within)
	}
	return writer{}, fmt.Errorf("no Arrow type holds %v: %w", t, ErrType)
}

// plain is the writer of values that a builder accepts as they are.
func plain[V any, B array.Builder](t arrow.DataType, add func(B, V)) writer {
	return writer{dataType: t, bind: func(builder array.Builder) func(unsafe.Pointer) error {
		b := builder.(B)
		return func(p unsafe.Pointer) error {
			add(b, *(*V)(p))
			return nil
		}
	}}
}

func writeTime(builder array.Builder) func(unsafe.Pointer) error {
	b := builder.(*array.TimestampBuilder)
	return func(p unsafe.Pointer) error {
		instant := (*time.Time)(p)
		// UnixNano is undefined for instants out of its range.
		if seconds := instant.Unix(); seconds <= math.MinInt64/int64(time.Second) || seconds >= math.MaxInt64/int64(time.Second) {
			return fmt.Errorf("%v is not within the nanoseconds of 64 bits, the years 1678 to 2262; a nil *time.Time is null: %w", *instant, ErrRange)
		}
		b.Append(arrow.Timestamp(instant.UnixNano()))
		return nil
	}
}

func writeBig(builder array.Builder) func(unsafe.Pointer) error {
	b := builder.(*array.Decimal128Builder)
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	return func(p unsafe.Pointer) error {
		v := (*big.Int)(p)
		if v.CmpAbs(limit) >= 0 {
			return fmt.Errorf("%v has more than 38 digits: %w", v, ErrRange)
		}
		b.Append(decimal128.FromBigInt(v))
		return nil
	}
}

// writeBytes writes slices of bytes, nil as null, and arrays of bytes.
func writeBytes(t reflect.Type) writer {
	if t.Kind() == reflect.Array {
		length := t.Len()
		return writer{dataType: &arrow.FixedSizeBinaryType{ByteWidth: length}, bind: func(builder array.Builder) func(unsafe.Pointer) error {
			b := builder.(*array.FixedSizeBinaryBuilder)
			return func(p unsafe.Pointer) error {
				b.Append(unsafe.Slice((*byte)(p), length))
				return nil
			}
		}}
	}
	return writer{dataType: arrow.BinaryTypes.Binary, nullable: true, bind: func(builder array.Builder) func(unsafe.Pointer) error {
		b := builder.(*array.BinaryBuilder)
		return func(p unsafe.Pointer) error {
			if v := *(*[]byte)(p); v == nil {
				b.AppendNull()
			} else {
				b.Append(v)
			}
			return nil
		}
	}}
}

func writePointer(t reflect.Type, within []reflect.Type) (writer, error) {
	inner, err := compileWriter(t.Elem(), within)
	if err != nil {
		return writer{}, err
	}
	return writer{dataType: inner.dataType, nullable: true, bind: func(b array.Builder) func(unsafe.Pointer) error {
		add := inner.bind(b)
		return func(p unsafe.Pointer) error {
			to := *(*unsafe.Pointer)(p)
			if to == nil {
				b.AppendNull()
				return nil
			}
			return add(to)
		}
	}}, nil
}

func writeOptional(value, valid reflect.StructField, within []reflect.Type) (writer, error) {
	inner, err := compileWriter(value.Type, within)
	if err != nil {
		return writer{}, err
	}
	return writer{dataType: inner.dataType, nullable: true, bind: func(b array.Builder) func(unsafe.Pointer) error {
		add := inner.bind(b)
		return func(p unsafe.Pointer) error {
			if !*(*bool)(unsafe.Add(p, valid.Offset)) {
				b.AppendNull()
				return nil
			}
			return add(unsafe.Add(p, value.Offset))
		}
	}}, nil
}

func writeStruct(t reflect.Type, within []reflect.Type) (writer, error) {
	w, err := structWriterOf(t, within)
	if err != nil {
		return writer{}, err
	}
	return writer{dataType: arrow.StructOf(w.schema.Fields()...), bind: func(builder array.Builder) func(unsafe.Pointer) error {
		b := builder.(*array.StructBuilder)
		adds := make([]func(unsafe.Pointer) error, len(w.columns))
		for i, column := range w.columns {
			adds[i] = column.bind(b.FieldBuilder(i))
		}
		return func(p unsafe.Pointer) error {
			b.Append(true)
			for i, add := range adds {
				if err := add(unsafe.Add(p, w.fields[i].offset)); err != nil {
					return w.fields[i].fail(w.columns[i].dataType, -1, err)
				}
			}
			return nil
		}
	}}, nil
}

// sliceHeader is the memory of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// writeList writes slices, nil as null, and arrays.
func writeList(t reflect.Type, within []reflect.Type) (writer, error) {
	inner, err := compileWriter(t.Elem(), within)
	if err != nil {
		return writer{}, err
	}
	size := t.Elem().Size()
	element := arrow.Field{Name: "item", Type: inner.dataType, Nullable: inner.nullable}
	each := func(add func(unsafe.Pointer) error, data unsafe.Pointer, n int) error {
		for i := range n {
			if err := add(unsafe.Add(data, uintptr(i)*size)); err != nil {
				return err
			}
		}
		return nil
	}
	if t.Kind() == reflect.Array {
		return writer{dataType: arrow.FixedSizeListOfField(int32(t.Len()), element), bind: func(builder array.Builder) func(unsafe.Pointer) error {
			b := builder.(*array.FixedSizeListBuilder)
			add := inner.bind(b.ValueBuilder())
			return func(p unsafe.Pointer) error {
				b.Append(true)
				return each(add, p, t.Len())
			}
		}}, nil
	}
	return writer{dataType: arrow.ListOfField(element), nullable: true, bind: func(builder array.Builder) func(unsafe.Pointer) error {
		b := builder.(*array.ListBuilder)
		add := inner.bind(b.ValueBuilder())
		return func(p unsafe.Pointer) error {
			header := (*sliceHeader)(p)
			if header.data == nil {
				b.AppendNull()
				return nil
			}
			b.Append(true)
			return each(add, header.data, header.len)
		}
	}}, nil
}
