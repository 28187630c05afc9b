package rows

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// compileReader returns the reader of values of a Go type from arrays of an Arrow type.
// Nulls are an error, unless the Go type holds them.
func compileReader(from arrow.DataType, to reflect.Type) (binder, error) {
	if to.Kind() == reflect.Pointer {
		return readPointer(from, to)
	}
	if value, valid, ok := optional(to); ok {
		return readOptional(from, value, valid)
	}
	bind, err := compileValue(from, to)
	if err != nil {
		return nil, err
	}
	isSlice := to.Kind() == reflect.Slice
	return func(values arrow.Array) setter {
		set := bind(values)
		if !mayBeNull(values) {
			return set
		}
		return func(p unsafe.Pointer, row int) error {
			if !isNull(values, row) {
				return set(p, row)
			}
			if isSlice { // the slice stays nil
				return nil
			}
			return errNull
		}
	}, nil
}

func mayBeNull(values arrow.Array) bool {
	if d, ok := values.(*array.Dictionary); ok && mayBeNull(d.Dictionary()) {
		return true
	}
	return values.NullN() > 0 || values.DataType().ID() == arrow.NULL
}

// isNull reports whether a row is null, also by the value of a dictionary.
func isNull(values arrow.Array, row int) bool {
	if values.IsNull(row) || values.DataType().ID() == arrow.NULL {
		return true
	}
	d, ok := values.(*array.Dictionary)
	return ok && d.Dictionary().IsNull(d.GetValueIndex(row))
}

func misfit(from arrow.DataType, to reflect.Type, remedy string) error {
	return fmt.Errorf("values of %v do not fit %v%s: %w", from, to, remedy, ErrType)
}

// compileValue returns the reader of values that are not null.
func compileValue(from arrow.DataType, to reflect.Type) (binder, error) {
	switch t := from.(type) {
	case *arrow.DictionaryType:
		return readDictionary(t, to)
	case arrow.ExtensionType:
		inner, err := compileValue(t.StorageType(), to)
		if err != nil {
			return nil, err
		}
		return func(values arrow.Array) setter { return inner(values.(array.ExtensionArray).Storage()) }, nil
	case *arrow.NullType:
		return func(arrow.Array) setter { return func(unsafe.Pointer, int) error { return nil } }, nil
	}
	switch to {
	case timeType:
		return readTime(from, to)
	case durationType:
		return readDuration(from, to)
	case bigType:
		return readBig(from, to)
	case date32Type:
		if from.ID() == arrow.DATE32 {
			return func(values arrow.Array) setter { return copied(values.(*array.Date32).Date32Values()) }, nil
		}
		return nil, misfit(from, to, "")
	case date64Type:
		if from.ID() == arrow.DATE64 {
			return func(values arrow.Array) setter { return copied(values.(*array.Date64).Date64Values()) }, nil
		}
		return nil, misfit(from, to, "")
	}
	if isBytes(to) {
		if bind, err := readBytes(from, to); err == nil {
			return bind, nil
		}
	}
	switch to.Kind() {
	case reflect.Bool:
		if from.ID() == arrow.BOOL {
			return readBool, nil
		}
	case reflect.String:
		return readString(from, to)
	case reflect.Struct:
		return readStruct(from, to)
	case reflect.Slice, reflect.Array:
		return readList(from, to)
	default:
		return readNumber(from, to)
	}
	return nil, misfit(from, to, "")
}

func readPointer(from arrow.DataType, to reflect.Type) (binder, error) {
	inner, err := compileReader(from, to.Elem())
	if err != nil {
		return nil, err
	}
	element := to.Elem()
	return func(values arrow.Array) setter {
		set := inner(values)
		return func(p unsafe.Pointer, row int) error {
			if isNull(values, row) {
				return nil
			}
			allocation := allocated(element)
			*(*unsafe.Pointer)(p) = allocation
			return set(allocation, row)
		}
	}, nil
}

// allocated returns the address of a new value: without reflection for frequent types.
func allocated(t reflect.Type) unsafe.Pointer {
	switch t.Kind() {
	case reflect.Int64:
		return unsafe.Pointer(new(int64))
	case reflect.Float64:
		return unsafe.Pointer(new(float64))
	case reflect.String:
		return unsafe.Pointer(new(string))
	case reflect.Bool:
		return unsafe.Pointer(new(bool))
	}
	return reflect.New(t).UnsafePointer()
}

func readOptional(from arrow.DataType, value, valid reflect.StructField) (binder, error) {
	inner, err := compileReader(from, value.Type)
	if err != nil {
		return nil, err
	}
	return func(values arrow.Array) setter {
		set := inner(values)
		return func(p unsafe.Pointer, row int) error {
			if isNull(values, row) {
				return nil
			}
			*(*bool)(unsafe.Add(p, valid.Offset)) = true
			return set(unsafe.Add(p, value.Offset), row)
		}
	}, nil
}

func readDictionary(from *arrow.DictionaryType, to reflect.Type) (binder, error) {
	inner, err := compileValue(from.ValueType, to)
	if err != nil {
		return nil, err
	}
	return func(values arrow.Array) setter {
		d := values.(*array.Dictionary)
		set := inner(d.Dictionary())
		return func(p unsafe.Pointer, row int) error { return set(p, d.GetValueIndex(row)) }
	}, nil
}

func readStruct(from arrow.DataType, to reflect.Type) (binder, error) {
	t, ok := from.(*arrow.StructType)
	if !ok {
		return nil, misfit(from, to, "")
	}
	columns, err := structReader(to, t.Fields())
	if err != nil {
		return nil, err
	}
	return func(values arrow.Array) setter { return columns.bind(values.(*array.Struct).Field) }, nil
}

// readList reads slices and arrays from lists of any kind.
func readList(from arrow.DataType, to reflect.Type) (binder, error) {
	t, ok := from.(arrow.ListLikeType)
	if !ok {
		return nil, misfit(from, to, "")
	}
	if fixed, ok := from.(*arrow.FixedSizeListType); ok && to.Kind() == reflect.Array && int(fixed.Len()) != to.Len() {
		return nil, misfit(from, to, ", which has another length")
	}
	inner, err := compileReader(t.Elem(), to.Elem())
	if err != nil {
		return nil, err
	}
	size := to.Elem().Size()
	return func(values arrow.Array) setter {
		list := values.(array.ListLike)
		set := inner(list.ListValues())
		return func(p unsafe.Pointer, row int) error {
			from, through := list.ValueOffsets(row)
			n := int(through - from)
			data := p
			if to.Kind() == reflect.Array {
				if n != to.Len() {
					return fmt.Errorf("a list of %d elements, expected %d: %w", n, to.Len(), ErrRange)
				}
			} else {
				slice := reflect.MakeSlice(to, n, n)
				data = slice.UnsafePointer()
				*(*sliceHeader)(p) = sliceHeader{data, n, n}
			}
			for i := range n {
				if err := set(unsafe.Add(data, uintptr(i)*size), int(from)+i); err != nil {
					return err
				}
			}
			return nil
		}
	}, nil
}
