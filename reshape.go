package gpuframe

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Unpivot makes rows of columns: for each of some columns, all rows with the columns in keep,
// the name of the column in column "variable", and its value in column "value". The columns
// have one type. The rows of the first column come first.
func (q Query) Unpivot(columns []string, keep ...string) Query {
	return q.then("Unpivot", nil, func(b *binder, inputs []plan.Node) plan.Node {
		return b.unpivot(inputs[0], columns, keep)
	})
}

func (b *binder) unpivot(input plan.Node, columns, keep []string) plan.Node {
	if len(columns) == 0 {
		b.report(fmt.Errorf("no column is given, expected one or more: %w", device.ErrInvalidValue))
		return nil
	}
	ok := true
	for _, name := range slices.Concat(columns, keep) {
		ok = b.check(expr.Col(name), input.Schema()) && ok
	}
	if !ok {
		return nil
	}
	var parts []plan.Node
	for _, name := range columns {
		var list []expr.Expr
		for _, k := range keep {
			list = append(list, expr.Col(k))
		}
		list = append(list, expr.Lit(name).As("variable"), expr.Col(name).As("value"))
		part, err := plan.NewProject(input, list...)
		if err != nil {
			b.report(readable{err})
			return nil
		}
		parts = append(parts, part)
	}
	n, err := plan.NewUnion(parts...)
	if err != nil {
		b.report(err)
		return nil
	}
	return n
}

// Pivot makes a row for each group and a column for each of some values of an expression: the
// aggregate of the group's rows with that value. The columns are named by the values.
//
//	sales.GroupBy(day).Pivot(city, []any{"Oslo", "Bern"}, revenue.Sum())
func (g Grouped) Pivot(on Expression, values []any, aggregate Expression) Query {
	list := pivoted(on, values, aggregate)
	return g.query.then("Pivot", nil, func(b *binder, inputs []plan.Node) plan.Node {
		return b.pivot(inputs[0], g, list)
	})
}

// CrossTab counts rows: it makes a row for each value of rows, in order, and a column for each
// of some values of columns, which has the name of the value.
func (q Query) CrossTab(rows, columns Expression, values []any) Query {
	g, list := q.GroupBy(rows), pivoted(columns, values, Count())
	return q.then("CrossTab", nil, func(b *binder, inputs []plan.Node) plan.Node {
		n := b.pivot(inputs[0], g, list)
		if n == nil {
			return nil
		}
		sorted, err := plan.NewSort(n, []plan.SortKey{{Value: expr.Col(n.Schema().Field(0).Name)}}, plan.All)
		return b.checked(sorted, err, n)
	})
}

// pivoted returns an aggregate for each value.
func pivoted(on Expression, values []any, aggregate Expression) []Expression {
	list := make([]Expression, len(values))
	for i, v := range values {
		matches, name := on.expression().IsNull(), "null"
		if v != nil {
			matches, name = on.expression().Eq(v), fmt.Sprint(v)
		}
		list[i] = aggregate.expression().Where(matches).As(name)
	}
	return list
}

func (b *binder) pivot(input plan.Node, g Grouped, list []Expression) plan.Node {
	if len(list) == 0 {
		b.report(fmt.Errorf("no value is given, expected one or more: %w", buffer.ErrSchema))
		return nil
	}
	return b.aggregate(input, unpack(g.keys), unpack(list), g.options)
}
