package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// dropKeys does not group by keys that are computed of other keys, such as ip − 1 if ip is a key, or by literals and repeated
// columns: they are computed for each group. A float is no such other key: zeros of both signs are one key, but 1/x has two
// values for them.
func (o *optimization) dropKeys(root Node) (Node, error) {
	return o.rewriteEach(inputsFirst(root), func(n Node, inputs []Node) (Node, error) {
		rewritten, err := withInputs(n, inputs...)
		a, ok := rewritten.(*Aggregate)
		if err != nil || !ok || a.options.DropNulls || a.options.Order == group.ByKey {
			return rewritten, err
		}
		fewer, err := a.withoutComputedKeys()
		if err != nil || fewer == nil || sameColumns(a.schema, fewer.Schema()) != nil {
			return rewritten, err
		}
		return fewer, nil
	})
}

// withoutComputedKeys returns the group by fewer keys, with the others computed above it, or nil.
func (a *Aggregate) withoutComputedKeys() (Node, error) {
	schema := a.input.Schema()
	named := map[string]expr.Expr{} // the key that a column is
	var keys, results []expr.Expr
	for _, k := range a.keys {
		if name, ok := plainColumn(k); ok && named[name].IsZero() {
			named[name] = expr.Col(k.Name())
		}
	}
	for _, k := range a.keys {
		name, isColumn := plainColumn(k)
		columns := k.Columns()
		isKept := len(named) == 0 || isColumn && named[name].Same(expr.Col(k.Name())) ||
			slices.ContainsFunc(columns, func(c string) bool { return named[c].IsZero() || mayBeEqualApart(typeOf(expr.Col(c), schema)) })
		if isKept {
			keys, results = append(keys, k), append(results, expr.Col(k.Name()))
			continue
		}
		results = append(results, Named(inline(Unnamed(k), named), k.Name()))
	}
	if len(keys) == len(a.keys) {
		return nil, nil
	}
	for _, each := range a.aggregations {
		results = append(results, expr.Col(each.Name))
	}
	fewer, err := NewAggregate(a.input, keys, a.aggregations, a.options)
	if err != nil {
		return nil, err
	}
	return node(NewProject(fewer, results...))
}

// mayBeEqualApart reports whether values of a type can be one key and still differ: floats, also within lists and structs.
func mayBeEqualApart(t arrow.DataType) bool { return t == nil || isFloat(t) || arrow.IsNested(t.ID()) }
