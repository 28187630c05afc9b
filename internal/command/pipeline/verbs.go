package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// Verbs returns the names of the verbs, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

// verbs read what follows the name of a verb into a step with its name.
var verbs map[string]func(*parser, *step)

func init() { // verbs have pipelines of verbs within them
	verbs = map[string]func(*parser, *step){
		"filter": expressions("conditions", (*parser).expression), "select": expressions("expressions", (*parser).item),
		"with": expressions("expressions", (*parser).item), "group": (*parser).group, "agg": (*parser).agg,
		"sort": (*parser).sort, "top": (*parser).top, "head": head, "tail": head, "slice": (*parser).slice,
		"drop": columns, "rename": (*parser).rename, "distinct": anyColumns, "drop_nulls": anyColumns,
		"fill_null": (*parser).fillNull, "explode": (*parser).explode, "unpivot": (*parser).unpivot, "cross_tab": (*parser).crossTab,
		"sample": (*parser).sample, "shuffle": (*parser).shuffle, "random": (*parser).random, "row_number": (*parser).rowNumber,
		"join": (*parser).join, "as_of": (*parser).asOf, "nearest_to": (*parser).nearestTo, "union": (*parser).union, "except": (*parser).sets, "intersect": (*parser).sets,
		"resample": (*parser).resample, "cache": (*parser).cache, "require": (*parser).require,
	}
}

// verb reads a verb with its name.
func (p *parser) verb() *step {
	t := p.next()
	name, twoWords := catalog.VerbNamed(t.value, p.peek().value)
	if t.kind == word && verbs[name] != nil {
		if twoWords {
			p.next()
		}
		return p.step(t.begin, name)
	}
	unexpected := ""
	if t.kind != word {
		unexpected = fmt.Sprintf("found %v, expected a verb: ", t)
	}
	p.fail(t.begin, "%s%s", unexpected, unknown("verb", t.value, Verbs()))
	return nil
}

// unknown is the message about a name that no function or no verb has.
func unknown(kind, name string, known []string) string {
	return names.Meant(kind, name, catalog.Meaning(name, known), known)
}

// expressions reads a verb with a list of expressions.
func expressions(member string, part func(*parser) *node) func(*parser, *step) {
	return func(p *parser, s *step) {
		nodes := list(p, part)
		s.nodes, s.object[member] = append(s.nodes, nodes...), objects(nodes)
	}
}

// item reads an expression with an optional name.
func (p *parser) item() *node {
	n := p.expression()
	if !p.accept("as") {
		return n
	}
	named := call(n.begin, "as", n)
	named.object["name"] = p.name().value
	return named
}

// columns reads a verb with names of columns.
func columns(p *parser, s *step) { s.object["columns"] = s.columns(list(p, (*parser).name)) }

// anyColumns reads a verb with names of columns, or with none.
func anyColumns(p *parser, s *step) {
	if t := p.peek(); t.kind != end && !t.matches("|") && !t.matches(")") {
		columns(p, s)
	}
}

func head(p *parser, s *step) { s.object["n"] = p.count() }

func (p *parser) slice(s *step) {
	s.object["offset"] = p.count()
	s.object["length"] = p.count()
}

func (p *parser) group(s *step) {
	p.groupKeys(s)
	if p.acceptWords("drop", "nulls") {
		s.object["drop_nulls"] = true
	}
	switch {
	case p.accept("pivot"):
		p.pivot(s)
	case p.accept("agg"):
		p.agg(s)
	default:
		p.unexpected(`an operator, "," or "agg" with the values of each group`)
	}
}

// groupKeys reads the keys of groups: a list, also in parentheses after "rollup" or "cube", or lists of columns in
// parentheses after "sets".
func (p *parser) groupKeys(s *step) {
	kind := p.peek()
	if kind.kind != word || !p.tokens[min(p.at+1, len(p.tokens)-1)].matches("(") {
		kind.value = ""
	}
	switch kind.value {
	case "rollup", "cube":
		s.object["grouping"] = p.next().value
		p.expect("(")
		expressions("keys", (*parser).item)(p, s)
	case "sets":
		p.next()
		p.expect("(")
		s.object["sets"] = list(p, func(p *parser) any { return p.groupingSet(s) })
	default:
		expressions("keys", (*parser).item)(p, s)
		return
	}
	p.expectOr(")", `an operator, "," or ")"`)
}

// groupingSet reads names of columns in parentheses, or none.
func (p *parser) groupingSet(s *step) []any {
	p.expect("(")
	columns := []any{}
	if !p.peek().matches(")") {
		columns = s.columns(list(p, (*parser).name))
	}
	p.expect(")")
	return columns
}

// agg reads the values of groups, or of all rows.
func (p *parser) agg(s *step) {
	s.object["verb"] = "group"
	expressions("aggregates", (*parser).item)(p, s)
}

// keys reads keys of an order, and returns them and their expressions.
func (p *parser) keys() (keys []any, nodes []*node) {
	for _, key := range list(p, (*parser).key) {
		keys, nodes = append(keys, key.object), append(nodes, key.operands...)
	}
	return keys, nodes
}

func (p *parser) key() *node {
	n := p.expression()
	key := &node{n.begin, object{"value": n.object}, []*node{n}}
	if direction, _ := p.acceptAny("asc", "desc"); direction == "desc" {
		key.object["descending"] = true
	}
	if p.acceptWords("nulls", "first") {
		key.object["nulls_first"] = true
	}
	return key
}

func (p *parser) sort(s *step) { s.object["keys"], s.nodes = p.keys() }

func (p *parser) top(s *step) {
	s.object["n"] = p.count()
	p.expect("by")
	p.sort(s)
}

func (p *parser) rename(s *step) {
	var pairs []any
	for more := true; more; more = p.accept(",") {
		from := p.name()
		p.expect("as")
		pairs = append(pairs, []any{s.columns([]token{from})[0], p.name().value})
	}
	s.object["columns"] = pairs
}

func (p *parser) fillNull(s *step) {
	s.object["value"] = p.constant().object
	p.expect("in")
	columns(p, s)
}

// require reads a condition that all rows meet, and the message of a row that does not.
func (p *parser) require(s *step) {
	condition := p.expression()
	s.nodes, s.object["condition"] = append(s.nodes, condition), condition.object
	if p.accept("message") {
		s.object["message"] = p.quoted("a message in quotes")
	}
}

func (p *parser) rowNumber(s *step) {
	s.object["verb"], s.object["name"] = "with_row_number", p.name().value
}

// cache reads the name of rows that a server may keep.
func (p *parser) cache(s *step) { s.object["name"] = p.name().value }
