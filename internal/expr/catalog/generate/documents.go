package main

import (
	"fmt"
	"go/format"
	"strings"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// documentFunctions returns the table of the functions of query documents. A literal, which has the
// value of any type, is read by hand.
func documentFunctions(string) (string, error) {
	var table strings.Builder
	members := map[string][]string{}
	var order []string
	for _, f := range catalog.All() {
		if f.Name == "literal" {
			continue
		}
		fmt.Fprintf(&table, "%q: %s,\n", f.Name, decoder(f))
		list := memberNames(f)
		if list == "" {
			continue
		}
		order = append(order, list)
		members[list] = append(members[list], f.Name)
	}
	text := "// " + notice + "\n\n// # Members of functions\n//\n// The members of functions and the functions that have them. A value, a gap and a key are literals, holidays and\n// names are lists, and escape and holidays may be left out.\n//\n"
	for _, list := range unique(order) {
		text += fmt.Sprintf("//\t%-18s %s\n", list, strings.Join(members[list], ", "))
	}
	text += "package querydata\n\nimport \"github.com/gpuframe/gpuframe\"\n\n" +
		"// catalogued returns the functions of the catalog by name.\nfunc catalogued() map[string]function {\nreturn map[string]function{\n" + table.String() + "}\n}\n"
	source, err := format.Source([]byte(text))
	return string(source), err
}

// memberNames returns the names of the members of a function.
func memberNames(f *catalog.Function) string {
	var list []string
	for _, p := range f.Parameters {
		if !p.Type.IsOperand() && p.Type != catalog.Windows {
			list = append(list, p.Name)
		}
	}
	return strings.Join(list, ", ")
}

// decoder returns the function of package querydata for a function.
func decoder(f *catalog.Function) string {
	least, most := f.OperandCounts()
	limit := fmt.Sprint(most)
	if most == catalog.Many {
		limit = "unlimited"
	}
	target, next, arguments := "gpuframe."+f.Go, 0, []string{}
	for i, p := range f.Parameters {
		switch {
		case i == 0 && !f.Free:
			target, next = "a[0]."+f.Go, 1
		case p.Type.IsOperand():
			arguments = append(arguments, operands(p.Type, next))
			next++
		default:
			arguments = append(arguments, reading(p))
		}
	}
	called := fmt.Sprintf("%s(%s)", target, strings.Join(arguments, ", "))
	object, list := "_", "_"
	if strings.Contains(called, "o.") {
		object = "o"
	}
	if strings.Contains(called, "a[") {
		list = "a"
	}
	return fmt.Sprintf("{%d, %s, func(%s *object, %s []gpuframe.Expr) gpuframe.Expr { return %s }}", least, limit, object, list, called)
}

// operands returns the argument of a parameter of operands, which begin with a number.
func operands(t catalog.Type, first int) string {
	switch t {
	case catalog.Operands:
		return fmt.Sprintf("operands(a[%d:])...", first)
	case catalog.Expressions:
		return fmt.Sprintf("expressions(a[%d:])...", first)
	}
	return fmt.Sprintf("a[%d]", first)
}

// readers are the methods of a member by the type of the parameter.
var readers = map[catalog.Type]string{
	catalog.Whole: "count()", catalog.Float: "number()", catalog.Numbers: "numbers()...", catalog.Text: "text()", catalog.Unit: "text()", catalog.Zone: "text()",
	catalog.Texts: "texts()...", catalog.Character: "character()", catalog.Literal: "scalar()", catalog.DataType: "dataType()", catalog.Dates: "dates()...",
}

// reading returns the argument of a parameter that is a member of the document.
func reading(p catalog.Parameter) string {
	switch {
	case p.Type == catalog.Windows:
		return "o.window()"
	case p.Type == catalog.Keys:
		return fmt.Sprintf("o.member(%q).orderings()...", p.Name)
	case p.Type == catalog.Character && p.Optional:
		return fmt.Sprintf("o.member(%q).characters()...", p.Name)
	}
	return fmt.Sprintf("o.member(%q).%s", p.Name, readers[p.Type])
}
