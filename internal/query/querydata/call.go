package querydata

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// Call returns a function of the catalog by its name in documents. The members are its parameters that are no operands, by
// their names, as decoded JSON: numbers are a json.Number.
//
// # Errors
//
// An unknown function and a wrong number of operands are an error that wraps [ErrDocument]. A wrong member is an [*Error],
// which wraps it too.
func Call(name string, operands []gpuframe.Expr, members map[string]any) (gpuframe.Expr, error) {
	f, ok := functions[name]
	if !ok || catalog.OfDocument(name).Name == "" {
		return gpuframe.Expr{}, fmt.Errorf("querydata: no function is called %q: %w", name, ErrDocument)
	}
	if len(operands) < f.least || len(operands) > f.most {
		return gpuframe.Expr{}, fmt.Errorf("querydata: %q has %d operands, expected %s: %w", name, len(operands), f.expected(), ErrDocument)
	}
	r := &reading{ctx: context.Background()}
	o := &object{value: value{r, "", members}, members: members}
	e := f.call(o, operands)
	o.end()
	if r.err != nil {
		return gpuframe.Expr{}, r.err
	}
	return e, nil
}
