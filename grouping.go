package gpuframe

import (
	"slices"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Grouped is the rows of a query divided into groups.
type Grouped struct {
	query   Query
	keys    []bind.Expr
	sets    bind.GroupingSets
	options plan.GroupOptions
}

// GroupBy divides the rows into groups with equal keys. Null is a key like any other.
func (q Query) GroupBy(keys ...Key) Grouped { return Grouped{query: q, keys: keysOf(keys)} }

// Rollup divides the rows into groups by all keys, then by all but the last one, and so on, up to one group of all rows:
// subtotals and a total. A key that a group is not by is null in its row; [GroupingID] tells such a null from a null of
// the rows. The groups by all keys come first.
//
//	sales.Rollup("city", "product").Agg(revenue.Sum(), gpuframe.GroupingID().As("level"))
func (q Query) Rollup(keys ...Key) Grouped {
	g := q.GroupBy(keys...)
	g.sets = bind.Rollup(singles(len(g.keys))...)
	return g
}

// Cube divides the rows into groups by each subset of the keys, at most 8 of them, all keys first and none, one group of
// all rows, last. See [Query.Rollup].
func (q Query) Cube(keys ...Key) Grouped {
	g := q.GroupBy(keys...)
	if g.sets = bind.Cube(singles(len(g.keys))...); g.sets == nil {
		g.keys = append(g.keys, refused("Cube has %d keys, expected at most 8: grouping sets have some of their subsets", len(g.keys)).bound())
	}
	return g
}

// GroupingSets divides the rows into groups by each of several sets of columns, one set after the other, at most 256. An
// empty set is one group of all rows, also of no rows. The columns are in the order in which the sets first name them. See
// [Query.Rollup].
//
//	sales.GroupingSets([]string{"city", "day"}, []string{"city"}, nil).Agg(revenue.Sum())
func (q Query) GroupingSets(sets ...[]string) Grouped {
	g := Grouped{query: q, sets: bind.GroupingSets{}}
	var columns []string
	for _, set := range sets {
		numbers := []int{}
		for _, name := range set {
			at := slices.Index(columns, name)
			if at < 0 {
				at, columns = len(columns), append(columns, name)
				g.keys = append(g.keys, Col(name).bound())
			}
			numbers = append(numbers, at)
		}
		g.sets = append(g.sets, numbers)
	}
	if len(sets) == 0 {
		g.keys = append(g.keys, refused("no grouping set is given, expected one or more").bound())
	}
	return g
}

// singles returns each of the first n numbers as a part.
func singles(n int) [][]int {
	parts := make([][]int, n)
	for i := range parts {
		parts[i] = []int{i}
	}
	return parts
}

// groupingID is [GroupingID].
func groupingID(keys []Expr) Expr {
	id := aggregate(plan.Aggregation{Function: "grouping_id"}, keys...)
	id.root = "grouping_id"
	return id
}

// DropNulls leaves out rows with a null key, of each grouping set those with a null in its keys.
func (g Grouped) DropNulls() Grouped {
	g.options.DropNulls = true
	return g
}

// Agg makes a row for each group: its keys, and the values of expressions of aggregates.
// The order of the rows is not specified, but the same in every run; use Sort for another.
func (g Grouped) Agg(expressions ...Expression) Query {
	return g.query.then(bind.Aggregate(g.keys, arguments(expressions), g.sets, g.options))
}
