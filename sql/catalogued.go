package sql

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// otherMeanings are functions of the catalog whose names mean something else in SQL: the hash of DuckDB has other values,
// and its types of JSON have other names.
var otherMeanings = []string{"hash", "json_type"}

// catalogued returns the function of the catalog that a call has which the tables of this package lack: one of a kind, with
// operands and literals as its arguments.
func catalogued(name string, arguments int, kind catalog.Kind) (f *catalog.Function, ok bool) {
	f, ok = catalog.Lookup(name, arguments)
	return f, ok && f.Kind == kind && isCallable(f)
}

// isCallable reports whether SQL has a function: all its parameters can be arguments.
func isCallable(f *catalog.Function) bool {
	return !slices.Contains(otherMeanings, f.Name) && !slices.ContainsFunc(f.Parameters, func(p catalog.Parameter) bool {
		switch p.Type {
		case catalog.Text, catalog.Character, catalog.Whole, catalog.Float, catalog.Unit, catalog.Zone:
			return false
		}
		return !p.Type.IsOperand()
	})
}

// functionNames returns the names of all functions.
func functionNames() []string {
	all := slices.Collect(maps.Keys(functions))
	all = slices.AppendSeq(all, maps.Keys(aggregates))
	all = slices.AppendSeq(all, maps.Keys(windowFunctions))
	all = slices.AppendSeq(all, maps.Keys(isEvaluation))
	all = slices.AppendSeq(all, maps.Keys(isFilter))
	for _, f := range catalog.All() {
		if (f.Kind == catalog.Elementwise || f.Kind == catalog.Aggregated) && isCallable(f) {
			all = append(all, f.Name)
		}
	}
	return all
}

// callCatalogued calls a function of the catalog.
func (t *translation) callCatalogued(at *tree.Call, f *catalog.Function, list []value) value {
	if least, most := f.Arguments(); !f.Accepts(len(list)) {
		t.fail(at, "%s has %d arguments, expected %s", text(at.Name), len(list), function{least: least, most: most}.expected())
	}
	members, operands := map[string]any{}, make([]value, 0, len(list))
	for i, v := range list {
		p := f.Parameters[min(i, len(f.Parameters)-1)]
		if p.Type.IsOperand() {
			if v.null && v.dataType == nil && strings.HasPrefix(f.Operands, "string") {
				v = t.nullOf(textType)
			}
			operands = append(operands, t.settled(v))
			continue
		}
		members[p.Name] = t.member(at, p, v)
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		e, err := querydata.Call(f.Name, list, members)
		if err != nil {
			t.failAs(at, err)
		}
		return e
	}, operands...)
}

// member returns a literal as a member of a document.
func (t *translation) member(at tree.Node, p catalog.Parameter, v value) any {
	switch p.Type {
	case catalog.Whole:
		return json.Number(fmt.Sprint(t.whole(at, v, p.Name)))
	case catalog.Float:
		return json.Number(fmt.Sprint(t.float(at, v, p.Name)))
	}
	return t.literalText(at, v, p.Name)
}
