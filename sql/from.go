package sql

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// tableSet is tables of FROM that are not joined yet, with the conditions of their inner joins. Names refer to
// the columns.
type tableSet struct {
	leaves     []*relation
	columns    []*column
	conditions []condition
}

// condition is a term of a conjunction.
type condition struct {
	at    tree.Node
	value value
	// left and right are the sides of an equality, if it is one.
	left, right *value
	// alternatives are the terms of OR, each as a conjunction, if it is one.
	alternatives [][]value
}

// from translates the tables of FROM. Their joins follow with the conditions of WHERE.
func (t *translation) from(s *scope, tables []tree.Table) *tableSet {
	if len(tables) == 0 {
		return &tableSet{leaves: []*relation{{query: t.oneRow()}}}
	}
	all := t.tables(s, tables[0])
	for _, next := range tables[1:] {
		all = t.after(s, all, next)
	}
	return all
}

// after adds a table to those before it, which a lateral one refers to.
func (t *translation) after(s *scope, all *tableSet, next tree.Table) *tableSet {
	if lateral, ok := next.(*tree.Subquery); ok && lateral.Lateral {
		return t.lateral(s, all, lateral, tree.InnerJoin)
	}
	if f, ok := next.(*tree.TableFunction); ok {
		if joined := t.unnested(s, all, f); joined != nil {
			return joined
		}
	}
	return merged(all, t.tables(s, next))
}

func merged(a, b *tableSet) *tableSet {
	return &tableSet{
		leaves:     append(slices.Clone(a.leaves), b.leaves...),
		columns:    append(slices.Clone(a.columns), b.columns...),
		conditions: append(slices.Clone(a.conditions), b.conditions...),
	}
}

// leaf returns the set of one relation.
func leaf(r *relation) *tableSet {
	return &tableSet{leaves: []*relation{r}, columns: r.columns}
}

// tables translates an item of FROM.
func (t *translation) tables(s *scope, item tree.Table) *tableSet {
	switch item := item.(type) {
	case *tree.TableName:
		return leaf(t.sampled(item.Sample, t.named(item)))
	case *tree.File:
		return leaf(t.sampled(item.Sample, t.source(item, t.file(item), item.Alias, fileTable(item.Path))))
	case *tree.TableFunction:
		if rows := t.unnested(s, &tableSet{leaves: []*relation{{query: t.oneRow()}}}, item); rows != nil {
			return rows
		}
		return leaf(t.sampled(item.Sample, t.tableFunction(item)))
	case *tree.Subquery:
		r := t.derived(s, item.Query)
		return leaf(t.sampled(item.Sample, t.aliased(item, r, item.Alias, "")))
	case *tree.Join:
		return t.join(s, item)
	case *tree.Pivot:
		return leaf(t.aliased(item, t.pivoted(s, item), item.Alias, "pivot"))
	case *tree.Unpivot:
		return leaf(t.aliased(item, t.unpivoted(s, item), item.Alias, "unpivot"))
	}
	t.fail(item, "this form of table is not supported")
	return nil
}

// derived translates a query in FROM, which does not see the other tables.
func (t *translation) derived(s *scope, q *tree.Query) *relation {
	out := t.query(&scope{outer: s.outer, foreign: s.foreign}, q)
	for i, name := range distinctNames(out.columns) {
		out.columns[i].name = name
	}
	return &out.relation
}

// named returns the rows of a table, a view or a common table expression.
func (t *translation) named(item *tree.TableName) *relation {
	name := item.Name[len(item.Name)-1].Text
	if len(item.Name) == 1 {
		for i := len(t.common) - 1; i >= 0; i-- {
			if c := &t.common[i]; strings.EqualFold(c.name, name) {
				return t.aliased(item, t.copied(c.rows, c.name), item.Alias, c.name)
			}
		}
	}
	if known, ok := t.session.lookup(name); ok {
		return t.source(item, known.query, item.Alias, known.name)
	}
	if t.session.find != nil {
		t.isVolatile = true
		q, err := t.session.find(name)
		if err != nil {
			t.failAs(item, err)
		}
		return t.source(item, q, item.Alias, name)
	}
	candidates := t.session.names()
	for _, c := range t.common {
		candidates = append(candidates, c.name)
	}
	t.fail(item, "%s", names.Unknown("table", text(item.Name), candidates))
	return nil
}

// source returns the rows of a query of gpuframe.
func (t *translation) source(at tree.Node, q gpuframe.Query, alias tree.Alias, name string) *relation {
	schema := t.schema(at, q)
	r := &relation{}
	for _, f := range schema.Fields() {
		r.columns = append(r.columns, &column{table: name, name: f.Name, id: f.Name, dataType: f.Type})
	}
	r.query = q
	return t.aliased(at, t.copied(r, name), alias, name)
}

// copied returns the rows with columns of names that nothing else in the statement has.
func (t *translation) copied(r *relation, table string) *relation {
	copied := &relation{query: r.query, source: r.query}
	selected := make([]gpuframe.Expression, len(r.columns))
	isSame := true
	for i, c := range r.columns {
		renamed := *c
		renamed.id, renamed.table = t.unique(c.name), table
		copied.columns = append(copied.columns, &renamed)
		selected[i] = gpuframe.Col(c.id).As(renamed.id)
		isSame = isSame && renamed.id == c.id
	}
	if !isSame { // only a source has the names already
		copied.query = r.query.Select(selected)
	}
	return copied
}

// aliased gives a relation the names of an alias.
func (t *translation) aliased(at tree.Node, r *relation, alias tree.Alias, name string) *relation {
	if alias.Name.Text != "" {
		name = alias.Name.Text
	}
	if len(alias.Columns) > len(r.columns) {
		t.fail(alias.Columns[len(r.columns)], "table %q has %d columns, and the alias names %d", name, len(r.columns), len(alias.Columns))
	}
	renamed := &relation{query: r.query, source: r.source}
	for i, c := range r.columns {
		each := *c
		each.table = name
		if i < len(alias.Columns) {
			each.name = alias.Columns[i].Text
		}
		renamed.columns = append(renamed.columns, &each)
	}
	return renamed
}

// sampled is TABLESAMPLE and USING SAMPLE: a number of rows, or each row with a probability. Without a seed it differs
// each time.
func (t *translation) sampled(sample *tree.Sample, r *relation) *relation {
	if sample == nil {
		return r
	}
	options := gpuframe.SampleOptions{Seed: rand.Uint64()}
	if sample.Seed != nil {
		options.Seed = uint64(*sample.Seed)
	} else {
		t.isVolatile = true
	}
	size := t.expr(&scope{rows: &relation{}, clause: "the size of a sample"}, sample.Size)
	sampled := &relation{columns: r.columns}
	if !sample.Percent {
		n := t.whole(sample, size, "the number of rows")
		if n < 0 {
			t.fail(sample, "the number of rows is negative")
		}
		sampled.query = r.query.SampleRows(int64(n), options)
		return sampled
	}
	share := t.float(sample, size, "the share of rows")
	if share < 0 || share > 100 {
		t.fail(sample, "the share of rows is %v percent, expected 0 to 100", share)
	}
	sampled.query = r.query.Sample(share/100, options)
	return sampled
}
