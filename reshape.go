package gpuframe

import (
	"context"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/govalue"
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
func (g Grouped) Pivot(on Key, values []any, aggregate Expression) Query {
	return g.query.then(bind.Pivot(g.keys, pivoted(on, values, aggregate), g.sets, g.options))
}

// mostPivoted is the most values of [Grouped.PivotAll].
const mostPivoted = 1000

// PivotAll is [Grouped.Pivot] on all values of an expression, in order, null last. It runs the query once to find
// them; the query that it returns runs it again. No value, or more than 1,000, are an
// error, and so are null and the text "null", whose columns have one name.
func (g Grouped) PivotAll(ctx context.Context, on Key, aggregate Expression, options ...RunOption) (Query, error) {
	key := keyOf(on)
	distinct, err := g.query.Select(key.As("value")).Distinct().Sort(Col("value")).Head(mostPivoted+1).Collect(ctx, options...)
	if err != nil {
		return Query{}, err
	}
	record, err := distinct.take(ctx)
	if err != nil {
		return Query{}, queryError(err)
	}
	defer record.Release()
	if record.NumRows() > mostPivoted {
		return Query{}, fmt.Errorf("gpuframe: pivot on %v: it has more than %d values, expected fewer: Filter some, or give those to Pivot: %w", key, mostPivoted, device.ErrInvalidValue)
	}
	if record.NumRows() == 0 {
		return Query{}, fmt.Errorf("gpuframe: pivot on %v: the query has no rows, so that no column is known: give values to Pivot: %w", key, device.ErrInvalidValue)
	}
	values, hasNull, hasText := make([]any, record.NumRows()), false, false
	for i := range values {
		if record.Column(0).IsNull(i) {
			hasNull = true
			continue
		}
		values[i] = govalue.Of(record.Column(0))(i)
		hasText = hasText || values[i] == any(nullName)
	}
	if hasNull && hasText {
		return Query{}, fmt.Errorf("gpuframe: pivot on %v: the names of the columns of null and of the text %q are equal: replace nulls first: %w", key, nullName, device.ErrInvalidValue)
	}
	return g.Pivot(on, values, aggregate), nil
}

// CrossTab counts rows: it makes a row for each value of rows, in order, and a column for each
// of some values of columns, which has the name of the value.
func (q Query) CrossTab(rows, columns Key, values []any) Query {
	return q.then(bind.CrossTab(keyOf(rows).bound(), pivoted(columns, values, Count())))
}

// nullName is the name of the column of null.
const nullName = "null"

// pivotName is the name of the column of a value. That of a time is its date, with the time of the day if it has one.
func pivotName(v any) string {
	at, ok := v.(time.Time)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case at.Equal(at.Truncate(24 * time.Hour)):
		return at.UTC().Format(time.DateOnly)
	}
	return at.UTC().Format("2006-01-02 15:04:05.999999999")
}

// pivoted returns an aggregate for each value.
func pivoted(on Key, values []any, aggregate Expression) []bind.Expr {
	key, list := keyOf(on), make([]bind.Expr, len(values))
	for i, v := range values {
		matches, name := key.IsNull(), nullName
		if v != nil {
			matches, name = key.Eq(v), pivotName(v)
		}
		list[i] = expressionOf(aggregate).Where(matches).As(name).bound()
	}
	return list
}
