package bind

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// InOrder gives the aggregates of an expression that are not windows an order of the rows that they read.
func InOrder(e expr.Expr, order []Order) expr.Expr {
	exec.UseJoins() // aggregates of several orders
	exec.UseTop()
	exec.UseWindows()
	return EachFunction(ofLists(e), func(f *RowsFunction) {
		f.keys.Order = nil
		for _, o := range order {
			f.keys.Order = append(f.keys.Order, plan.SortKey{Value: o.Key.Named(), Descending: o.Descending, NullsFirst: o.NullsFirst})
		}
	})
}

// orderedAggregates are aggregates of rows in one order, or in that of the input.
type orderedAggregates struct {
	order []plan.SortKey
	list  []plan.Aggregation
}

// byOrder divides aggregates by their orders. Those of the input's order are first, if there are any. Aggregates that
// no order changes are with the first ones.
func byOrder(functions []RowsFunction) (parts []orderedAggregates) {
	var anyOrder []plan.Aggregation
	for _, f := range functions {
		order := f.keys.Order
		if f.Aggregation.Properties().Order == catalog.AnyOrder || len(order) == 0 && f.Aggregation.Properties().Order == catalog.TieOrder {
			anyOrder = append(anyOrder, f.Aggregation)
			continue
		}
		at := slices.IndexFunc(parts, func(p orderedAggregates) bool {
			return plan.WindowKeys{Order: p.order}.Unnamed().Same(plan.WindowKeys{Order: order}.Unnamed())
		})
		if at < 0 {
			at, parts = len(parts), append(parts, orderedAggregates{order: order})
		}
		parts[at].list = append(parts[at].list, f.Aggregation)
	}
	slices.SortStableFunc(parts, func(p, q orderedAggregates) int { return min(len(p.order), 1) - min(len(q.order), 1) })
	if len(parts) == 0 {
		parts = []orderedAggregates{{}}
	}
	parts[0].list = append(parts[0].list, anyOrder...)
	return parts
}

// checkOrder refuses an order of an aggregate that has the same value in every order.
func checkOrder(f RowsFunction) error {
	if len(f.keys.Order) > 0 && f.Aggregation.Properties().Order == catalog.AnyOrder {
		return fmt.Errorf("%s does not depend on the order of the rows: leave out OrderBy", f.Aggregation.Function)
	}
	return nil
}

// groups groups rows by keys. Aggregates of each order have groups of sorted rows, and functions of frequencies groups
// of the groups by the values, which are joined by the keys.
func groups(input plan.Node, keys []expr.Expr, functions []RowsFunction, options plan.GroupOptions) (plan.Node, error) {
	tables, others := divideFrequencies(functions)
	var joined plan.Node
	var err error
	if len(others) > 0 || len(tables) == 0 {
		if joined, err = groupsOfOrders(input, keys, others, options); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		lists, err := t.node(input, keys, options)
		if err != nil {
			return nil, err
		}
		if joined, err = withGroups(joined, lists, keys); err != nil {
			return nil, err
		}
	}
	return joined, nil
}

// groupsOfOrders groups rows by keys, and sorts them for the aggregates of each order.
func groupsOfOrders(input plan.Node, keys []expr.Expr, functions []RowsFunction, options plan.GroupOptions) (joined plan.Node, err error) {
	for _, part := range byOrder(functions) {
		rows := input
		if len(part.order) > 0 {
			sorted, err := plan.NewSort(input, part.order, plan.All)
			if err != nil {
				return nil, err
			}
			rows = sorted
		}
		grouped, err := node(plan.NewAggregate(rows, keys, part.list, options))
		if err != nil {
			return nil, err
		}
		if joined, err = withGroups(joined, grouped, keys); err != nil {
			return nil, err
		}
	}
	return joined, nil
}

// withGroups adds the columns of other groups by the same keys. There may be no groups before.
func withGroups(groups, others plan.Node, keys []expr.Expr) (plan.Node, error) {
	if groups == nil {
		return others, nil
	}
	how := plan.JoinOptions{Kind: join.Cross}
	if len(keys) > 0 {
		how = plan.JoinOptions{Kind: join.Left, NullsEqual: true}
	}
	for _, k := range keys {
		how.Keys = append(how.Keys, plan.JoinKey{Left: expr.Col(k.Name()), Right: expr.Col(k.Name())})
	}
	return node(plan.NewJoin(groups, others, how))
}
