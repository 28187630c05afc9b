package catalog

import (
	"slices"
	"sync"
)

// A Section is a table of docs/functions.md.
type Section struct {
	Title string
	Kind  Kind
	// Fuses is the default of the column.
	Fuses string
	Rows  []Row
}

// A Row is a row of a table: functions with the same operands and results.
type Row struct {
	Operands, Result string
	// Null is empty if only a null operand gives null.
	Null string
	// Fuses is empty for the default of the section.
	Fuses     string
	Functions []Function
}

// params are parameters without the expression of a method.
type params = []Parameter

// withX is the second operand of most functions of two.
var withX = params{{Name: "x"}}

// tables are the sections in the order of docs/functions.md.
func tables() []Section {
	return []Section{forms, arithmetic, comparisons, dates, readStrings, madeStrings, lists, aggregates, windows}
}

// catalog is the sections with their defaults filled in, and the functions by name.
type catalog struct {
	sections     []Section
	functions    []*Function
	named        map[string][]*Function
	aggregations map[string]*Function
}

var load = sync.OnceValue(func() *catalog {
	c := &catalog{sections: tables(), named: map[string][]*Function{}, aggregations: map[string]*Function{}}
	for i := range c.sections {
		s := &c.sections[i]
		s.Rows = slices.Clone(s.Rows)
		for j := range s.Rows {
			row := &s.Rows[j]
			row.Functions = slices.Clone(row.Functions)
			for k := range row.Functions {
				f := &row.Functions[k]
				f.complete(s, row)
				c.functions = append(c.functions, f)
			}
		}
	}
	for _, f := range c.functions {
		c.named[f.Name] = append(c.named[f.Name], f)
		if f.Aggregation != "" {
			c.aggregations[f.Aggregation] = f
		}
	}
	for _, f := range c.functions {
		for _, alias := range f.Aliases {
			c.named[alias] = append(c.named[alias], f)
		}
	}
	for i := range planned {
		c.aggregations[planned[i].Aggregation] = &planned[i]
	}
	return c
})

// complete fills in the defaults of a function in a row.
func (f *Function) complete(s *Section, row *Row) {
	f.Section, f.Operands, f.Result, f.Null, f.Fuses = s.Title, row.Operands, row.Result, row.Null, row.Fuses
	if f.Null == "" {
		f.Null = "–"
	}
	if f.Fuses == "" {
		f.Fuses = s.Fuses
	}
	if f.Kind == 0 {
		f.Kind = s.Kind
	}
	if f.Go == "" {
		f.Go = camel(f.Name)
	}
	if !f.Free {
		f.Parameters = append(params{{Name: "e"}}, f.Parameters...)
	}
	if f.Kind == Aggregated || f.Kind == Window {
		if f.Aggregation == "" {
			f.Aggregation = f.Name
		}
		f.Framed = f.Framed || f.Kind == Aggregated
	}
	if f.Kind == Elementwise && f.Call == "" && f.Body == "" {
		f.Call = "expr.Expr." + f.Go
	}
}

// Sections returns the sections with all fields of their functions. They are not to be changed.
func Sections() []Section { return load().sections }

// All returns the functions in the order of docs/functions.md. They are not to be changed.
func All() []*Function { return load().functions }

// Named returns the functions with a name or an alias, the one of the name first: usually one.
func Named(name string) []*Function { return load().named[name] }

// Lookup returns the function that a call on the command line has: the function of the name or the
// alias that takes the number of arguments, or the first one if none does. It is false for an
// unknown name.
func Lookup(name string, arguments int) (*Function, bool) {
	known := Named(name)
	for _, f := range known {
		if f.Accepts(arguments) {
			return f, true
		}
	}
	if len(known) == 0 {
		return nil, false
	}
	return known[0], true
}

// OfDocument returns the function with a name in query documents. That of an unknown name has no name.
func OfDocument(name string) *Function {
	if known := Named(name); len(known) > 0 && known[0].Name == name {
		return known[0]
	}
	return &unknown
}

// unknown is the entry of functions that do not exist.
var unknown Function

// OfAggregation returns the aggregate or the window function with a name in plans. That of an unknown
// name has no name.
func OfAggregation(name string) *Function {
	if f, ok := load().aggregations[name]; ok {
		return f
	}
	return &unknown
}
