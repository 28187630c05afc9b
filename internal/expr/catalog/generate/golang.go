package main

import (
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// imports are the packages that functions may need.
var imports = []string{
	"time", "github.com/apache/arrow/go/v17/arrow", "github.com/gpuframe/gpuframe/internal/query/plan", "github.com/gpuframe/gpuframe/kernels/expr",
	"github.com/gpuframe/gpuframe/kernels/nested", "github.com/gpuframe/gpuframe/kernels/sketch", "github.com/gpuframe/gpuframe/kernels/text", "github.com/gpuframe/gpuframe/kernels/timezone", "github.com/gpuframe/gpuframe/kernels/vector",
}

// goFunctions returns the functions of package gpuframe and the methods of its Expr.
func goFunctions(string) (string, error) {
	var body strings.Builder
	for _, f := range catalog.All() {
		if f.Call == catalog.ByHand {
			continue
		}
		fmt.Fprintf(&body, "\n%s%s { return %s }\n", comment(f.Doc), signature(f), result(f))
	}
	text := "// " + notice + "\n\npackage gpuframe\n\nimport (\n"
	for i, path := range imports {
		name := path[strings.LastIndex(path, "/")+1:]
		if i > 0 && strings.Contains(path, "gpuframe") != strings.Contains(imports[i-1], "gpuframe") || i == 1 {
			text += "\n"
		}
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(uncommented(body.String())) {
			text += fmt.Sprintf("%q\n", path)
		}
	}
	source, err := format.Source([]byte(text + ")\n" + body.String()))
	return string(source), err
}

// uncommented returns Go without the lines that are comments.
func uncommented(text string) string {
	return regexp.MustCompile(`(?m)^//.*$`).ReplaceAllString(text, "")
}

// comment returns a text as a comment of lines of limited length.
func comment(text string) string {
	const most = 100
	var lines strings.Builder
	line := "//"
	for _, word := range strings.Fields(text) {
		if len([]rune(line+" "+word)) > most {
			lines.WriteString(line + "\n")
			line = "//"
		}
		line += " " + word
	}
	return lines.String() + line + "\n"
}

// goTypes are the types of parameters in Go. Those of any number are of the last parameter.
var goTypes = map[catalog.Type]string{
	catalog.Operand: "any", catalog.Operands: "...any", catalog.Expression: "Expression", catalog.Expressions: "...Expression",
	catalog.Whole: "int", catalog.Float: "float64", catalog.Numbers: "...float64", catalog.Text: "string", catalog.Texts: "...string", catalog.Character: "rune",
	catalog.Literal: "any", catalog.DataType: "arrow.DataType", catalog.Unit: "string", catalog.Zone: "string", catalog.Dates: "...time.Time",
}

// goType returns the type of a parameter. A parameter of one value that is optional is of any number.
func goType(p catalog.Parameter) string {
	if p.Optional && !p.Type.Many() {
		return "..." + goTypes[p.Type]
	}
	return goTypes[p.Type]
}

// goName returns the name of a parameter.
func goName(p catalog.Parameter) string {
	if p.Go != "" {
		return p.Go
	}
	return p.Name
}

// signature returns the first line of a function.
func signature(f *catalog.Function) string {
	receiver, parameters := "", f.Parameters
	if !f.Free {
		receiver, parameters = "(e Expr) ", parameters[1:]
	}
	var list []string
	for i, p := range parameters {
		text := goName(p)
		if i+1 == len(parameters) || goType(parameters[i+1]) != goType(p) {
			text += " " + goType(p)
		}
		list = append(list, text)
	}
	return fmt.Sprintf("func %s%s(%s) Expr", receiver, f.Go, strings.Join(list, ", "))
}

// result returns the expression that a function returns.
func result(f *catalog.Function) string {
	switch {
	case f.Body != "":
		return f.Body
	case f.Aggregation != "":
		return aggregation(f)
	}
	var operands, others []string
	for _, p := range f.Parameters {
		switch {
		case p.Type == catalog.Operands:
			return fmt.Sprintf("choice(%s, %s)", f.Call, goName(p))
		case p.Type.IsOperand():
			operands = append(operands, goName(p))
		case strings.HasPrefix(goType(p), "..."):
			others = append(others, goName(p)+"...")
		default:
			others = append(others, goName(p))
		}
	}
	const most = 2 // operands without a list
	switch n := len(operands); {
	case n > most:
		return listed(f, operands)
	case len(others) == 0 && !strings.Contains(f.Call, "("):
		return fmt.Sprintf("%s(%s, %s)", applying(n), strings.Join(operands, ", "), f.Call)
	default:
		names := strings.Join(operands, ", ")
		return fmt.Sprintf("%s(%s, func(%s expr.Expr) expr.Expr { return %s })", applying(n), names, names, call(f, operands, others))
	}
}

// applying returns the function of package gpuframe that applies another one to operands.
func applying(operands int) string {
	if operands == 1 {
		return "unary"
	}
	return "binary"
}

// call returns the call of the lower package.
func call(f *catalog.Function, operands, others []string) string {
	if strings.Contains(f.Call, "(") {
		return f.Call
	}
	if method, ok := strings.CutPrefix(f.Call, "expr.Expr."); ok {
		return fmt.Sprintf("%s.%s(%s)", operands[0], method, strings.Join(slices.Concat(operands[1:], others), ", "))
	}
	return fmt.Sprintf("%s(%s)", f.Call, strings.Join(slices.Concat(operands, others), ", "))
}

// listed returns a call with a list of operands.
func listed(f *catalog.Function, operands []string) string {
	elements, arguments := make([]string, len(operands)), []string{operands[0]}
	for i := range operands {
		elements[i] = fmt.Sprintf("list[%d]", i)
	}
	for _, o := range operands[1:] {
		arguments = append(arguments, "operand("+o+")")
	}
	return fmt.Sprintf("apply(func(list []expr.Expr) expr.Expr { return %s }, %s)", call(f, elements, nil), strings.Join(arguments, ", "))
}

// aggregation returns the expression of an aggregate or a window function.
func aggregation(f *catalog.Function) string {
	fields, operands := []string{fmt.Sprintf("Function: %q", f.Aggregation)}, []string{}
	if f.Freedom != 0 {
		fields = append(fields, fmt.Sprintf("Count: %d", f.Freedom))
	}
	for i, p := range f.Parameters {
		name := goName(p)
		switch p.Type {
		case catalog.Operand:
			operands = append(operands, name)
		case catalog.Expression:
			operands = append(operands, "expressionOf("+name+")")
		case catalog.Expressions:
			operands = []string{fmt.Sprintf("append([]Expr{%s}, unpack(%s)...)...", strings.Join(operands[:i], ", "), name)}
		case catalog.Whole:
			fields = append(fields, fmt.Sprintf("Count: int64(%s)", name))
		case catalog.Float:
			fields = append(fields, "Number: "+name)
		case catalog.Text:
			fields = append(fields, "Text: "+name)
		}
	}
	constructor := "aggregate"
	if f.Kind == catalog.Window {
		constructor = "windowFunction"
	}
	return fmt.Sprintf("%s(%s)", constructor, strings.Join(slices.Concat([]string{"plan.Aggregation{" + strings.Join(fields, ", ") + "}"}, operands), ", "))
}
