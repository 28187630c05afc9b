package sql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

var positionType = reflect.TypeFor[tree.Position]()

// walk is [tree.Walk] of an expression, which may be nil.
func walk(e tree.Expr, visit func(n tree.Node) bool) {
	if e != nil {
		tree.Walk(e, func(n tree.Node, _ int) bool { return visit(n) })
	}
}

// clauses returns the expressions of SELECT and of the order of its query that can have aggregates of its rows, without
// the items.
func clauses(b *tree.Select, q *tree.Query) (list []tree.Expr) {
	list = append([]tree.Expr{b.Having, b.Qualify}, keysOf(q.OrderBy)...)
	for _, w := range b.Windows {
		list = append(append(list, w.Window.Partition...), keysOf(w.Window.OrderBy)...)
	}
	return list
}

// keysOf returns the expressions of an order, which may be nil.
func keysOf(o *tree.OrderBy) (list []tree.Expr) {
	if o != nil {
		for _, key := range o.Keys {
			list = append(list, key.Expr)
		}
	}
	return list
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
	// variables are the parameters of lambdas around it.
	variables []tree.Name
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
		variables := f.variables
		switch e := v.Interface().(type) {
		case *tree.Query:
			f.inner++
			defer func() { f.inner-- }()
		case *tree.Lambda:
			f.variables = append(slices.Clip(variables), e.Variables...)
		case *tree.Comprehension:
			f.variables = append(slices.Clip(variables), e.Variables...)
		}
		defer func() { f.variables = variables }()
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

// isVariable reports whether a name is that of a parameter of a lambda.
func (f *fingerprinter) isVariable(name string) bool {
	return slices.ContainsFunc(f.variables, func(v tree.Name) bool { return strings.EqualFold(v.Text, name) }) ||
		slices.ContainsFunc(f.scope.variables, func(v variable) bool { return strings.EqualFold(v.name, name) })
}

// addColumn adds the column that a name refers to.
func (f *fingerprinter) addColumn(at *tree.Column) bool {
	if f.inner > 0 || f.isVariable(at.Name[0].Text) {
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
