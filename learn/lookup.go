package learn

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// foundColumn and keyColumn are columns between the verbs of an Apply. No column of a user has such a name.
const foundColumn, keyColumn = "\x01found", "\x01key"

// result is a result of a category.
type result interface{ int64 | float64 }

// lookup adds foundColumn: the result of the category in a column, null for others and for null.
func lookup[R result](q gpuframe.Query, c Categories, results []R) gpuframe.Query {
	key := gpuframe.Col(c.Column)
	var table gpuframe.Query
	switch {
	case len(c.Values) == 0:
		var r R
		return q.With(gpuframe.If(gpuframe.Lit(false), r, nil).As(foundColumn))
	case c.Values[0].Text != nil:
		table = pairs(q, c.Values, results, func(v Value) *string { return v.Text })
	case c.Values[0].Integer != nil:
		table, key = pairs(q, c.Values, results, func(v Value) *int64 { return v.Integer }), category(c.Column, arrow.PrimitiveTypes.Int64)
	default:
		table = pairs(q, c.Values, results, func(v Value) *bool { return v.Bool })
	}
	return q.Join(table, gpuframe.Left, gpuframe.On(key, gpuframe.Col(keyColumn))).Drop(keyColumn)
}

// pairs are categories of one type with their results as rows. Others, which no Fit returns, have none.
func pairs[K any, R result](q gpuframe.Query, list []Value, results []R, key func(Value) *K) gpuframe.Query {
	type pair struct {
		Key   K
		Found R
	}
	var rows []pair
	for i, v := range list[:min(len(list), len(results))] {
		if k := key(v); k != nil {
			rows = append(rows, pair{*k, results[i]})
		}
	}
	return gpuframe.From(q.Engine(), rows).Rename("Key", keyColumn).Rename("Found", foundColumn)
}
