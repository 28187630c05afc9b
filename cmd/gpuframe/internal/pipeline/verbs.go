package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/names"
)

// Verbs returns the names of the verbs, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

// verbs read what follows the name of a verb.
var verbs map[string]func(*parser) (step, error)

func init() {
	verbs = map[string]func(*parser) (step, error){
		"filter": (*parser).filter, "select": (*parser).selected, "with": (*parser).with, "group": (*parser).group, "agg": (*parser).all,
		"sort": (*parser).sort, "top": (*parser).top, "head": (*parser).head, "tail": (*parser).tail, "slice": (*parser).slice,
		"drop": (*parser).drop, "rename": (*parser).rename, "distinct": (*parser).distinct, "drop_nulls": (*parser).dropNulls,
		"fill_null": (*parser).fillNull, "explode": (*parser).explode, "unpivot": (*parser).unpivot, "sample": (*parser).sample,
		"shuffle": (*parser).shuffle, "random": (*parser).random, "row_number": (*parser).rowNumber,
	}
}

// verb reads a verb with its name.
func (p *parser) verb() (step, error) {
	t := p.next()
	if t.kind != word {
		p.at = max(p.at-1, 0)
		return step{}, p.failAt(t.begin, fmt.Errorf("found %v, expected a verb: %s", t, names.Unknown("verb", t.value, Verbs())))
	}
	read := verbs[t.value]
	if read == nil {
		return step{}, p.failAt(t.begin, errors.New(names.Unknown("verb", t.value, Verbs())))
	}
	made, err := read(p)
	made.begin = t.begin
	return made, err
}

func (p *parser) filter() (step, error) {
	conditions, err := list(p, p.expression)
	return step{nodes: conditions, apply: func(q gpuframe.Query) gpuframe.Query { return q.Filter(expressions(conditions)...) }}, err
}

func (p *parser) selected() (step, error) {
	items, err := list(p, p.item)
	return step{nodes: items, apply: func(q gpuframe.Query) gpuframe.Query { return q.Select(expressions(items)...) }}, err
}

func (p *parser) with() (step, error) {
	items, err := list(p, p.item)
	return step{nodes: items, apply: func(q gpuframe.Query) gpuframe.Query { return q.With(expressions(items)...) }}, err
}

func (p *parser) group() (step, error) {
	keys, err := list(p, p.item)
	if err != nil {
		return step{}, err
	}
	if p.accept("pivot") {
		return p.pivot(keys)
	}
	if !p.accept("agg") {
		return step{}, p.unexpected(`an operator, "," or "agg" with the values of each group`)
	}
	items, err := list(p, p.item)
	return step{nodes: append(slices.Clone(keys), items...), apply: func(q gpuframe.Query) gpuframe.Query {
		return q.GroupBy(expressions(keys)...).Agg(expressions(items)...)
	}}, err
}

// all aggregates all rows.
func (p *parser) all() (step, error) {
	items, err := list(p, p.item)
	return step{nodes: items, apply: func(q gpuframe.Query) gpuframe.Query { return q.GroupBy().Agg(expressions(items)...) }}, err
}

// key is a key of a sort.
type key struct {
	node  *node
	order gpuframe.OrderBy
}

func (p *parser) keys() (nodes []*node, orders []gpuframe.Ordering, err error) {
	keys, err := list(p, func() (key, error) {
		n, err := p.expression()
		if err != nil {
			return key{}, err
		}
		order := n.value.Asc()
		if direction, _ := p.acceptAny("asc", "desc"); direction == "desc" {
			order = n.value.Desc()
		}
		if p.accept("nulls") {
			if err := p.expect("first"); err != nil {
				return key{}, err
			}
			order = order.NullsFirst()
		}
		return key{n, order}, nil
	})
	for _, k := range keys {
		nodes, orders = append(nodes, k.node), append(orders, k.order)
	}
	return nodes, orders, err
}

func (p *parser) sort() (step, error) {
	nodes, orders, err := p.keys()
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.Sort(orders...) }}, err
}

func (p *parser) top() (step, error) {
	n, err := p.count()
	if err != nil {
		return step{}, err
	}
	if err := p.expect("by"); err != nil {
		return step{}, err
	}
	nodes, orders, err := p.keys()
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.Top(n, orders...) }}, err
}

func (p *parser) head() (step, error) {
	n, err := p.count()
	return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.Head(n) }}, err
}

func (p *parser) tail() (step, error) {
	n, err := p.count()
	return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.Tail(n) }}, err
}

func (p *parser) slice() (step, error) {
	offset, err := p.count()
	if err != nil {
		return step{}, err
	}
	length, err := p.count()
	return step{apply: func(q gpuframe.Query) gpuframe.Query { return q.Slice(offset, length) }}, err
}

func (p *parser) drop() (step, error) {
	columns, nodes, err := p.columns()
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.Drop(columns...) }}, err
}

func (p *parser) rename() (step, error) {
	type pair struct{ from, to token }
	pairs, err := list(p, func() (pair, error) {
		from, err := p.name()
		if err != nil {
			return pair{}, err
		}
		if err := p.expect("as"); err != nil {
			return pair{}, err
		}
		to, err := p.name()
		return pair{from, to}, err
	})
	made := step{apply: func(q gpuframe.Query) gpuframe.Query {
		for _, each := range pairs {
			q = q.Rename(each.from.value, each.to.value)
		}
		return q
	}}
	for _, each := range pairs {
		made.nodes = append(made.nodes, columnNode(each.from))
	}
	return made, err
}

func (p *parser) distinct() (step, error) {
	columns, nodes, err := p.anyColumns()
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.Distinct(columns...) }}, err
}

func (p *parser) dropNulls() (step, error) {
	columns, nodes, err := p.anyColumns()
	return step{nodes: nodes, apply: func(q gpuframe.Query) gpuframe.Query { return q.DropNulls(columns...) }}, err
}

// item reads an expression with an optional name.
func (p *parser) item() (*node, error) {
	n, err := p.expression()
	if err != nil || !p.accept("as") {
		return n, err
	}
	t, err := p.name()
	if err != nil {
		return nil, err
	}
	return &node{begin: n.begin, value: n.value.As(t.value), operands: []*node{n}}, nil
}

// count reads a number of rows.
func (p *parser) count() (int64, error) {
	if p.peek().kind != number {
		return 0, p.unexpected("a number of rows")
	}
	n, err := p.number("", p.peek().begin)
	if err != nil {
		return 0, err
	}
	rows, ok := n.literal.(int)
	if !ok {
		return 0, p.failAt(n.begin, fmt.Errorf("%v is no number of rows", n.literal))
	}
	return int64(rows), nil
}

// columns reads names of columns.
func (p *parser) columns() (columns []string, nodes []*node, err error) {
	tokens, err := list(p, p.name)
	for _, t := range tokens {
		columns, nodes = append(columns, t.value), append(nodes, columnNode(t))
	}
	return columns, nodes, err
}

// anyColumns reads names of columns, or none.
func (p *parser) anyColumns() (columns []string, nodes []*node, err error) {
	if t := p.peek(); t.kind == end || t.is("|") {
		return nil, nil, nil
	}
	return p.columns()
}

func columnNode(t token) *node {
	return &node{begin: t.begin, value: gpuframe.Col(t.value), column: t.value}
}

// expressions returns the values of nodes.
func expressions(nodes []*node) []gpuframe.Expression {
	made := make([]gpuframe.Expression, len(nodes))
	for i, n := range nodes {
		made[i] = n.value
	}
	return made
}
