package substrait

import (
	"slices"
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/proto"

	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// aggregates are the aggregates by their names in Substrait, and in SQL.
var aggregates = map[string]string{
	"sum": "sum", "sum0": "sum", "avg": "avg", "min": "min", "max": "max", "count": "count", "any_value": "any_value",
	"bool_and": "bool_and", "bool_or": "bool_or", "every": "bool_and", "median": "median", "mode": "mode", "corr": "corr",
	"approx_count_distinct": "approx_count_distinct", "string_agg": "string_agg", "first_value": "first", "last_value": "last",
	"std_dev": "stddev", "variance": "variance", "stddev": "stddev", "stddev_samp": "stddev", "stddev_pop": "stddev_pop", "var_samp": "variance", "var_pop": "var_pop",
}

// populations are the aggregates of whole populations for those of samples.
var populations = map[string]string{"stddev": "stddev_pop", "variance": "var_pop"}

// hasAggregate reports whether an expression has an aggregate.
func hasAggregate(list []tree.Expr) bool {
	has := false
	names := map[string]bool{}
	for _, name := range aggregates {
		names[name] = true
	}
	for _, e := range list {
		tree.Walk(e, func(n tree.Node, _ int) bool {
			if c, ok := n.(*tree.Call); ok && c.Over == nil && names[c.Name[0].Text] {
				has = true
			}
			_, isQuery := n.(*tree.Query)
			return !has && !isQuery
		})
	}
	return has
}

// Limits of grouping sets: their number, and the number of their keys with those that they lack.
const maxSets, maxSetKeys = 256, 4096

// aggregate translates groups and their measures. The fields are the expressions of all groups, the measures, and
// with several grouping sets the place of a row's set.
func (t *translator) aggregate(path string, r *substraitpb.AggregateRel) (*block, error) {
	b, err := t.relation(path, r.GetInput())
	if err != nil {
		return nil, err
	}
	if !b.limited() { // groups do not keep an order
		b.order = nil
	}
	if !b.plain() {
		b = t.wrap(b)
	}
	keys, sets, err := t.groupings(path, b, r)
	if err != nil {
		return nil, err
	}
	fields := slices.Clone(keys)
	for i, m := range r.GetMeasures() {
		at := element(path+".measures", i)
		e, err := t.measure(at, b, m)
		if err != nil {
			return nil, err
		}
		fields = append(fields, e)
	}
	b.group = groupBy(keys, sets)
	if len(sets) > 1 {
		place, err := placeOfSet(path, keys, sets)
		if err != nil {
			return nil, err
		}
		fields = append(fields, place)
	}
	b.fields, b.grouped = fields, true
	return b, nil
}

// groupings returns the distinct expressions of all grouping sets, and the sets as their places.
func (t *translator) groupings(path string, b *block, r *substraitpb.AggregateRel) (keys []tree.Expr, sets [][]int, err error) {
	source := slices.Clone(r.GetGroupingExpressions())
	places := map[string]int{}
	place := func(e *substraitpb.Expression) int {
		data, _ := proto.MarshalOptions{Deterministic: true}.Marshal(e) // the expressions of a plan that was read
		if _, ok := places[string(data)]; !ok {
			places[string(data)] = len(source)
			source = append(source, e)
		}
		return places[string(data)]
	}
	for i, g := range r.GetGroupings() {
		var set []int
		for _, e := range g.GetGroupingExpressions() { // the form before references
			set = append(set, place(e))
		}
		for _, n := range g.GetExpressionReferences() {
			if int(n) >= len(source) {
				return nil, nil, failed(element(path+".groupings", i), "expression %d of %d", n, len(source))
			}
			set = append(set, int(n))
		}
		sets = append(sets, set)
	}
	if len(sets) > 1 && (len(sets) > maxSets || len(sets)*len(source) > maxSetKeys) {
		return nil, nil, failed(path, "%d grouping sets of %d expressions, expected %d sets and %d for both at most", len(sets), len(source), maxSets, maxSetKeys)
	}
	for i := range source {
		if !slices.ContainsFunc(sets, func(set []int) bool { return slices.Contains(set, i) }) {
			return nil, nil, failed(element(path+".groupingExpressions", i), "no grouping set has it")
		}
	}
	if keys, err = t.expressions(path+".groupings", b, source); err != nil {
		return nil, nil, err
	}
	for i, key := range keys {
		if l, ok := key.(*tree.Literal); ok { // a number alone would be a place
			keys[i] = call("coalesce", l)
		}
	}
	return keys, sets, nil
}

// groupBy returns the clause for grouping sets, or nil for one group of all rows.
func groupBy(keys []tree.Expr, sets [][]int) *tree.GroupBy {
	set := func(places []int) (list []tree.Expr) {
		for _, i := range places {
			list = append(list, keys[i])
		}
		return list
	}
	if len(sets) <= 1 {
		g := &tree.GroupBy{}
		for _, key := range keys {
			g.Keys = append(g.Keys, tree.GroupKey{Exprs: []tree.Expr{key}})
		}
		if len(g.Keys) == 0 {
			return nil
		}
		return g
	}
	all := tree.GroupKey{Kind: tree.KeySets}
	for _, s := range sets {
		all.Sets = append(all.Sets, tree.GroupKey{Kind: tree.KeySet, Exprs: set(s)})
	}
	return &tree.GroupBy{Keys: []tree.GroupKey{all}}
}

// placeOfSet is the number of a row's grouping set, from 0.
func placeOfSet(path string, keys []tree.Expr, sets [][]int) (tree.Expr, error) {
	if len(keys) == 0 {
		return nil, failed(path, "%d equal grouping sets are not supported", len(sets))
	}
	equal := map[string]bool{}
	for _, key := range keys {
		text := parse.Format(key)
		if equal[text] {
			return nil, failed(path, "equal expressions in several grouping sets are not supported")
		}
		equal[text] = true
	}
	c := &tree.Case{}
	seen := map[string]bool{}
	for i, set := range sets {
		var terms []tree.Expr
		for k, key := range keys {
			left := integer(1)
			if slices.Contains(set, k) {
				left = integer(0)
			}
			terms = append(terms, binary("=", call("grouping", key), left))
		}
		condition := and(terms)
		text := parse.Format(condition)
		if seen[text] {
			return nil, failed(path, "equal grouping sets are not supported")
		}
		seen[text] = true
		c.Branches = append(c.Branches, tree.Branch{When: condition, Then: integer(int64(i))})
	}
	return &tree.Cast{X: c, Type: &tree.Type{Name: "integer"}}, nil
}

// measure translates an aggregate of the rows of a block.
func (t *translator) measure(path string, b *block, m *substraitpb.AggregateRel_Measure) (tree.Expr, error) {
	f := m.GetMeasure()
	c, err := t.invocation(path, b, f)
	if err != nil {
		return nil, err
	}
	name, err := aggregateName(c, "aggregate")
	if err != nil {
		return nil, err
	}
	if err := whole(c.path, f.GetPhase()); err != nil {
		return nil, err
	}
	e := aggregated(c, name, f.GetInvocation())
	if len(f.GetSorts()) > 0 {
		if e.OrderBy, err = t.orderBy(path+".sorts", b, f.GetSorts()); err != nil {
			return nil, err
		}
	}
	if m.GetFilter() != nil {
		if e.Filter, err = t.expression(path+".filter", b, m.GetFilter()); err != nil {
			return nil, err
		}
	}
	return finished(c, e)
}

// whole refuses parts of aggregates.
func whole(path string, phase substraitpb.AggregationPhase) error {
	switch phase {
	case substraitpb.AggregationPhase_AGGREGATION_PHASE_UNSPECIFIED, substraitpb.AggregationPhase_AGGREGATION_PHASE_INITIAL_TO_RESULT:
		return nil
	}
	return failed(path, "phase %s is not supported: a plan of whole aggregates", phase)
}

// aggregateName returns the name in SQL of an aggregate with its options.
func aggregateName(c *invocation, what string) (string, error) {
	name, ok := aggregates[c.name]
	if !ok {
		return "", failed(c.path, "%s %s is not supported", what, c.name)
	}
	distribution := c.options["distribution"]
	for _, choice := range c.choices {
		distribution = strings.ToLower(choice)
	}
	if population := populations[name]; distribution == "population" && population != "" {
		name = population
	}
	return name, nil
}

// aggregated is the call of an aggregate.
func aggregated(c *invocation, name string, rows substraitpb.AggregateFunction_AggregationInvocation) *tree.Call {
	e := call(name, c.values...)
	e.Star = name == "count" && len(c.values) == 0
	e.Distinct = rows == substraitpb.AggregateFunction_AGGREGATION_INVOCATION_DISTINCT
	return e
}

// finished returns an aggregate as the plan means it: 0 for a sum0 of no rows, an average of decimals as one, and a
// sum of integers with the type of the plan. A sum that this does not hold is null.
func finished(c *invocation, e *tree.Call) (tree.Expr, error) {
	switch c.name {
	case "sum0":
		return ofInteger(c, call("coalesce", e, integer(0)))
	case "sum":
		return ofInteger(c, e)
	case "avg":
		return asDeclared(c, e)
	}
	return e, nil
}

// ofInteger casts a sum to the integer that the plan declares.
func ofInteger(c *invocation, e tree.Expr) (tree.Expr, error) {
	typ, err := typeOf(c.path, c.output)
	if err != nil || integers[typ.Name] == 0 { // plans without types of results too
		return e, nil
	}
	return &tree.Cast{X: e, Type: typ}, nil
}
