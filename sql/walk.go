package sql

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

var (
	nodeType     = reflect.TypeFor[tree.Node]()
	positionType = reflect.TypeFor[tree.Position]()
)

// walk calls a function with the nodes of a tree, a node before its parts. It leaves out the parts of a node
// for which the function returns false.
func walk(part any, visit func(n tree.Node) bool) { walkValue(reflect.ValueOf(part), visit) }

func walkValue(v reflect.Value, visit func(n tree.Node) bool) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			walkValue(v.Elem(), visit)
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type().Implements(nodeType) && !visit(v.Interface().(tree.Node)) {
			return
		}
		walkValue(v.Elem(), visit)
	case reflect.Slice:
		for i := range v.Len() {
			walkValue(v.Index(i), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walkValue(v.Field(i), visit)
		}
	}
}

// fingerprint returns a text that two expressions of a scope share if they are the same: places, the case of
// names, and tables before the names of columns do not matter.
func (t *translation) fingerprint(s *scope, e tree.Expr) string {
	f := fingerprinter{translation: t, scope: s}
	f.add(reflect.ValueOf(e))
	return f.String()
}

type fingerprinter struct {
	*translation
	scope *scope
	strings.Builder
	// inner is the number of queries around the part at hand. Their names are not resolved.
	inner int
}

func (f *fingerprinter) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			f.WriteString("-")
			return
		}
		if c, ok := v.Interface().(*tree.Column); ok && f.addColumn(c) {
			return
		}
		if _, ok := v.Interface().(*tree.Query); ok {
			f.inner++
			defer func() { f.inner-- }()
		}
		f.add(v.Elem())
	case reflect.Slice:
		f.WriteString("[")
		for i := range v.Len() {
			f.add(v.Index(i))
			f.WriteString(",")
		}
		f.WriteString("]")
	case reflect.Struct:
		f.addStruct(v)
	default:
		fmt.Fprintf(f, "%q", fmt.Sprint(v.Interface()))
	}
}

func (f *fingerprinter) addStruct(v reflect.Value) {
	if name, ok := v.Interface().(tree.Name); ok {
		fmt.Fprintf(f, "%q", strings.ToLower(name.Text))
		return
	}
	f.WriteString(v.Type().Name() + "(")
	for i := range v.NumField() {
		if v.Field(i).Type() != positionType {
			f.add(v.Field(i))
			f.WriteString(" ")
		}
	}
	f.WriteString(")")
}

// addColumn adds the column that a name refers to.
func (f *fingerprinter) addColumn(at *tree.Column) bool {
	if f.inner > 0 {
		return false
	}
	s := f.scope
	if s.group != nil {
		s = s.input
	}
	c, fields := f.resolve(s, at, at.Name)
	if c == nil {
		a := aliasOf(s, at)
		if a == nil || a.expr == nil || s.resolving[strings.ToLower(a.name)] {
			return false
		}
		if s.resolving == nil {
			s.resolving = map[string]bool{}
		}
		s.resolving[strings.ToLower(a.name)] = true
		defer delete(s.resolving, strings.ToLower(a.name))
		f.add(reflect.ValueOf(a.expr))
		return true
	}
	fmt.Fprintf(f, "column %q %q", c.id, strings.ToLower(text(fields)))
	return true
}
