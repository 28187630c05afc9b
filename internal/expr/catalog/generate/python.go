package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// pythonHead begins the module of Python.
const pythonHead = `# ` + notice + `
"""Methods of expressions that are functions of the library."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Iterable, Sequence

from ._literals import holidays_member, literal
from ._types import type_name

if TYPE_CHECKING:
    from .expressions import Expr, IntoExpr


class Calls:
    """Expressions that functions can be called on."""

    __slots__ = ()

    def _call(self, function: str, *arguments: IntoExpr, **members: Any) -> Expr:
        raise NotImplementedError
`

// A pythonClass is a class of methods. Their signatures in the catalog begin with the prefix.
type pythonClass struct{ name, doc, prefix string }

var pythonClasses = []pythonClass{
	{"Aggregates", "Aggregates: of the rows of a group in ``agg``, otherwise of all rows, or of a partition with :meth:`Expr.over`.", ""},
	{"Functions", "Functions of a value.", ""},
	{"StringFunctions", "Functions of strings.", "str."},
	{"ListFunctions", "Functions of lists.", "list."},
	{"TemporalFunctions", "Functions of dates and times.", "dt."},
}

// pythonFunctions returns the classes with the methods that are one call.
func pythonFunctions(string) (string, error) {
	text := pythonHead
	for _, class := range pythonClasses {
		text += fmt.Sprintf("\n\nclass %s(Calls):\n    \"\"\"%s\"\"\"\n\n    __slots__ = ()\n", class.name, class.doc)
		for _, f := range catalog.All() {
			if f.Python == "" || !strings.HasSuffix(f.Python, ")") || pythonClassOf(f) != class.name {
				continue
			}
			method, err := pythonMethod(f, strings.TrimPrefix(f.Python, class.prefix))
			if err != nil {
				return "", err
			}
			text += "\n" + method
		}
	}
	return text, nil
}

// pythonClassOf returns the name of the class of a method.
func pythonClassOf(f *catalog.Function) string {
	for _, class := range pythonClasses {
		if class.prefix != "" && strings.HasPrefix(f.Python, class.prefix) {
			return class.name
		}
	}
	if f.Kind == catalog.Aggregated {
		return "Aggregates"
	}
	return "Functions"
}

// pythonWords are the keywords of Python that are names of members.
var pythonWords = []string{"as", "from", "in", "is", "with"}

// pythonMethod returns a method with a signature.
func pythonMethod(f *catalog.Function, signature string) (string, error) {
	name, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	var names []string
	for part := range strings.SplitSeq(list, ", ") {
		if variable, _, ok := strings.Cut(part, ":"); ok {
			names = append(names, variable)
		}
	}
	parameters := f.Parameters[1:]
	if len(names) != len(parameters) {
		return "", fmt.Errorf("%s: the signature %q has %d parameters, expected %d", f.Name, f.Python, len(names), len(parameters))
	}
	arguments, members, quoted := []string{fmt.Sprintf("%q", f.Name)}, []string{}, []string{}
	reserved := false
	for i, p := range parameters {
		value := pythonValue(p, names[i])
		switch {
		case p.Type.IsOperand():
			arguments = append(arguments, value)
		case p.Type == catalog.Dates:
			members = append(members, value)
		default:
			members, quoted = append(members, p.Name+"="+value), append(quoted, fmt.Sprintf("%q: %s", p.Name, value))
			reserved = reserved || slices.Contains(pythonWords, p.Name)
		}
	}
	if reserved {
		members = []string{"**{" + strings.Join(quoted, ", ") + "}"}
	}
	if list != "" {
		list = ", " + list
	}
	return fmt.Sprintf("    def %s(self%s) -> Expr:\n%s        return self._call(%s)\n", name, list, docstring(f.PythonDoc), strings.Join(slices.Concat(arguments, members), ", ")), nil
}

// pythonValue returns an argument as a value of a document.
func pythonValue(p catalog.Parameter, name string) string {
	switch p.Type {
	case catalog.Float:
		return "float(" + name + ")"
	case catalog.DataType:
		return "type_name(" + name + ")"
	case catalog.Literal:
		return "literal(" + name + ")"
	case catalog.Texts:
		return "list(" + name + ")"
	case catalog.Dates:
		return "**holidays_member(" + name + ")"
	}
	return name
}

// docstring returns paragraphs as a docstring.
func docstring(text string) string {
	const most, indent = 140, "        "
	paragraphs := strings.Split(text, "\n\n")
	if len(paragraphs) == 1 {
		return fmt.Sprintf("%s\"\"\"%s\"\"\"\n", indent, text)
	}
	lines := indent + `"""` + paragraphs[0] + "\n"
	for _, paragraph := range paragraphs[1:] {
		line := ""
		lines += "\n"
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && len(indent+line+" "+word) > most {
				lines += indent + line + "\n"
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines += indent + line + "\n"
	}
	return lines + indent + "\"\"\"\n"
}
