package sqltest

import (
	"reflect"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// ClearPositions sets the places of a node and of those below it to zero, so that trees of different texts can be
// compared.
func ClearPositions(n tree.Node) { clearPositions(reflect.ValueOf(n)) }

// clearPositions sets the places in a value to zero.
func clearPositions(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearPositions(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearPositions(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Field(i)
			if field.Type() == reflect.TypeFor[tree.Position]() {
				field.SetInt(0)
				continue
			}
			clearPositions(field)
		}
	}
}
