package gpuframe

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/query/bind"
)

// Unpivot makes rows of columns: for each of some columns, all rows with the columns in keep,
// the name of the column in column "variable", and its value in column "value". The columns
// have one type. The rows of the first column come first.
func (q Query) Unpivot(columns []string, keep ...string) Query {
	return q.then(bind.Unpivot(columns, keep))
}

// Pivot makes a row for each group and a column for each of some values of an expression: the
// aggregate of the group's rows with that value. The columns are named by the values.
//
//	sales.GroupBy(day).Pivot(city, []any{"Oslo", "Bern"}, revenue.Sum())
func (g Grouped) Pivot(on Expression, values []any, aggregate Expression) Query {
	return g.query.then(bind.Pivot(g.keys, pivoted(on, values, aggregate), g.options))
}

// CrossTab counts rows: it makes a row for each value of rows, in order, and a column for each
// of some values of columns, which has the name of the value.
func (q Query) CrossTab(rows, columns Expression, values []any) Query {
	return q.then(bind.CrossTab(rows.expression().bound(), pivoted(columns, values, Count())))
}

// pivoted returns an aggregate for each value.
func pivoted(on Expression, values []any, aggregate Expression) []bind.Expr {
	list := make([]bind.Expr, len(values))
	for i, v := range values {
		matches, name := on.expression().IsNull(), "null"
		if v != nil {
			matches, name = on.expression().Eq(v), fmt.Sprint(v)
		}
		list[i] = aggregate.expression().Where(matches).As(name).bound()
	}
	return list
}
