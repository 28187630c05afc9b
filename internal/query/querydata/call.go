package querydata

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// PlainFunctions returns the names of the functions of the values of a row whose arguments are expressions
// only: those that [Call] calls.
func PlainFunctions() []string {
	var list []string
	for _, f := range catalog.All() {
		if HasPlainFunction(f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

// HasPlainFunction reports whether [PlainFunctions] has a name.
func HasPlainFunction(name string) bool {
	f := catalog.OfDocument(name)
	isOther := func(p catalog.Parameter) bool { return !p.Type.IsOperand() }
	return f.Kind == catalog.Elementwise && !slices.ContainsFunc(f.Parameters, isOther)
}

// Call returns a function of expressions by its name in documents, one of [PlainFunctions].
//
// # Errors
//
// The error wraps [ErrDocument].
func Call(name string, arguments ...gpuframe.Expr) (gpuframe.Expr, error) {
	f, ok := functions[name]
	if !ok || !HasPlainFunction(name) {
		return gpuframe.Expr{}, fmt.Errorf("querydata: no function of expressions alone is called %q: %w", name, ErrDocument)
	}
	if len(arguments) < f.least || len(arguments) > f.most {
		return gpuframe.Expr{}, fmt.Errorf("querydata: %q has %d arguments, expected %s: %w", name, len(arguments), f.expected(), ErrDocument)
	}
	return f.call(nil, arguments), nil
}
