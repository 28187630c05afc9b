package main

import (
	"fmt"
	"go/types"
	"strings"
)

// describe returns the lines of a package.
func describe(p *types.Package) []string {
	d := describer{"pkg " + short(p) + ", ", func(other *types.Package) string {
		if other == p {
			return ""
		}
		return short(other)
	}, nil}
	for _, name := range p.Scope().Names() {
		if object := p.Scope().Lookup(name); object.Exported() {
			d.object(object)
		}
	}
	return d.lines
}

func short(p *types.Package) string { return strings.TrimPrefix(p.Path(), "github.com/gpuframe/") }

// A describer collects the lines of one package.
type describer struct {
	prefix  string
	qualify types.Qualifier
	lines   []string
}

func (d *describer) add(format string, arguments ...any) {
	d.lines = append(d.lines, d.prefix+fmt.Sprintf(format, arguments...))
}

func (d *describer) text(t types.Type) string { return types.TypeString(t, d.qualify) }

func (d *describer) object(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		d.add("const %s %s = %s", o.Name(), d.text(o.Type()), value(o))
	case *types.Var:
		d.add("var %s %s", o.Name(), d.text(o.Type()))
	case *types.Func:
		d.add("func %s%s", o.Name(), d.signature(o.Signature()))
	case *types.TypeName:
		d.typeName(o)
	}
}

// value returns the value of a constant. That of Version changes with each release.
func value(c *types.Const) string {
	if c.Name() == "Version" {
		return "…"
	}
	return c.Val().ExactString()
}

// signature returns types without the names of parameters, which may change.
func (d *describer) signature(s *types.Signature) string {
	text := d.parameters(s.TypeParams()) + "(" + d.tuple(s.Params(), s.Variadic()) + ")"
	switch results := s.Results(); results.Len() {
	case 0:
		return text
	case 1:
		return text + " " + d.text(results.At(0).Type())
	default:
		return text + " (" + d.tuple(results, false) + ")"
	}
}

func (d *describer) tuple(t *types.Tuple, variadic bool) string {
	parts := make([]string, t.Len())
	for i := range parts {
		parts[i] = d.text(t.At(i).Type())
		if slice, ok := t.At(i).Type().(*types.Slice); ok && variadic && i == t.Len()-1 {
			parts[i] = "..." + d.text(slice.Elem())
		}
	}
	return strings.Join(parts, ", ")
}

func (d *describer) parameters(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	parts := make([]string, list.Len())
	for i := range parts {
		parts[i] = list.At(i).Obj().Name() + " " + d.text(list.At(i).Constraint())
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (d *describer) typeName(o *types.TypeName) {
	if o.IsAlias() {
		d.add("type %s = %s", o.Name(), d.text(types.Unalias(o.Type())))
		return
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		return
	}
	name := o.Name() + d.parameters(named.TypeParams())
	switch underlying := named.Underlying().(type) {
	case *types.Struct:
		d.add("type %s struct", name)
		for field := range underlying.Fields() {
			if field.Exported() {
				d.add("type %s struct, %s %s", name, field.Name(), d.text(field.Type()))
			}
		}
	case *types.Interface:
		d.interfaceType(name, underlying)
	default:
		d.add("type %s %s", name, d.text(underlying))
	}
	if types.IsInterface(named) {
		return
	}
	values := types.NewMethodSet(named)
	for pointer := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		method, ok := pointer.Obj().(*types.Func)
		if !ok || !method.Exported() {
			continue
		}
		receiver := "*" + o.Name()
		if values.Lookup(method.Pkg(), method.Name()) != nil {
			receiver = o.Name()
		}
		d.add("method (%s) %s%s", receiver, method.Name(), d.signature(method.Signature()))
	}
}

// interfaceType has one line with all methods, since a further one breaks types of users that
// implement the interface. One that users cannot implement has a line for each method.
func (d *describer) interfaceType(name string, t *types.Interface) {
	if !t.IsMethodSet() {
		d.add("type %s interface, %s", name, d.text(t))
		return
	}
	var methods []string
	sealed := false
	for method := range t.Methods() {
		if method.Exported() {
			methods = append(methods, method.Name()+d.signature(method.Signature()))
		} else {
			sealed = true
		}
	}
	if !sealed {
		d.add("type %s interface { %s }", name, strings.Join(methods, "; "))
		return
	}
	d.add("type %s interface, sealed", name)
	for _, method := range methods {
		d.add("type %s interface, %s", name, method)
	}
}
