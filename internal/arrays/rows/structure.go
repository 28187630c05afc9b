package rows

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// field is a field of a struct that is a column.
type field struct {
	name   string // of the column
	path   string // in Go
	offset uintptr
	goType reflect.Type
}

// structures caches the fields of struct types.
var structures sync.Map // reflect.Type to structure

type structure struct {
	fields []field
	err    error
}

// fieldsOf returns the fields of a struct type that are columns.
func fieldsOf(t reflect.Type) ([]field, error) {
	if known, ok := structures.Load(t); ok {
		s := known.(structure)
		return s.fields, s.err
	}
	var s structure
	s.err = s.add(t, t.String(), 0)
	if s.err == nil {
		s.err = s.distinct()
	}
	structures.Store(t, s)
	return s.fields, s.err
}

// add adds the fields of a struct that begins at an offset.
func (s *structure) add(t reflect.Type, path string, offset uintptr) error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("gpuframe")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		at := path + "." + f.Name
		if options != "" {
			return &Error{Field: at, Go: f.Type, Row: -1, Err: fmt.Errorf("its tag has the option %q, expected a name or \"-\": %w", options, ErrType)}
		}
		if f.Anonymous && !tagged {
			switch {
			case f.Type.Kind() == reflect.Struct && !isValue(f.Type):
				if err := s.add(f.Type, at, offset+f.Offset); err != nil {
					return err
				}
				continue
			case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct:
				return &Error{Field: at, Go: f.Type, Row: -1, Err: fmt.Errorf("it is an embedded pointer, expected an embedded struct or the tag \"-\": %w", ErrType)}
			}
		}
		if !f.IsExported() {
			if tagged {
				return &Error{Field: at, Go: f.Type, Row: -1, Err: fmt.Errorf("it has a tag and is not exported: %w", ErrType)}
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		s.fields = append(s.fields, field{name: name, path: at, offset: offset + f.Offset, goType: f.Type})
	}
	return nil
}

func (s *structure) distinct() error {
	seen := map[string]string{}
	for _, f := range s.fields {
		if other, ok := seen[f.name]; ok {
			return &Error{Field: f.path, Column: f.name, Go: f.goType, Row: -1, Err: fmt.Errorf("field %s has the same column: %w", other, ErrColumn)}
		}
		seen[f.name] = f.path
	}
	return nil
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bigType      = reflect.TypeFor[big.Int]()
	date32Type   = reflect.TypeFor[arrow.Date32]()
	date64Type   = reflect.TypeFor[arrow.Date64]()
)

// isValue reports whether a struct type is one value and not a struct of columns.
func isValue(t reflect.Type) bool {
	if t == timeType || t == bigType {
		return true
	}
	_, _, ok := optional(t)
	return ok
}

// optional returns the fields of a struct like sql.Null[T]: a value and Valid.
func optional(t reflect.Type) (value, valid reflect.StructField, ok bool) {
	if t.Kind() != reflect.Struct || t.NumField() != 2 {
		return value, valid, false
	}
	value, valid = t.Field(0), t.Field(1)
	ok = valid.Name == "Valid" && valid.Type.Kind() == reflect.Bool && value.IsExported() && !value.Anonymous
	return value, valid, ok
}

// isBytes reports whether a type is a slice or array of bytes.
func isBytes(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() == reflect.Uint8
}
