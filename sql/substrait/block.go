package substrait

import (
	"fmt"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// block is a SELECT that grows with each relation until one needs its rows as a table.
type block struct {
	// from is nil for one row without columns.
	from  tree.Table
	where []tree.Expr
	group *tree.GroupBy
	// having is also what remains of groups behind the relation that made them.
	having []tree.Expr
	order  *tree.OrderBy
	limit  tree.Expr
	offset tree.Expr
	// fields are the columns of the relation, of columns of from.
	fields []tree.Expr
	// grouped is set behind an aggregate, windowed if a field is a window function.
	grouped, windowed bool
}

// limited reports whether rows are numbered, so that a condition has to come behind.
func (b *block) limited() bool { return b.limit != nil || b.offset != nil }

// plain reports whether the block has the rows of its tables, without some.
func (b *block) plain() bool { return !b.grouped && !b.windowed && !b.limited() }

// columnsOnly reports whether each field is a column of a table.
func (b *block) columnsOnly() bool {
	for _, f := range b.fields {
		if _, ok := f.(*tree.Column); !ok {
			return false
		}
	}
	return true
}

// filter keeps the rows with a condition on its fields.
func (b *block) filter(condition tree.Expr) {
	if b.grouped {
		b.having = append(b.having, condition)
	} else {
		b.where = append(b.where, condition)
	}
}

// named returns the query with names for its columns, or without names those of their places.
func (b *block) named(path string, names []string) (*tree.Query, error) {
	if len(names) > 0 && len(names) != len(b.fields) { // else columns could be those of another place
		return nil, failed(path, "it has %d names for %d columns; names of fields of structs are not supported", len(names), len(b.fields))
	}
	s := &tree.Select{Where: and(b.where), GroupBy: b.group, Having: and(b.having)}
	if b.from != nil {
		s.From = []tree.Table{b.from}
	}
	if b.grouped && b.group == nil && len(b.having) == 0 && !hasAggregate(b.fields) { // one row, also of fields without an aggregate
		s.Having = binary(">=", &tree.Call{Name: []tree.Name{{Text: "count"}}, Star: true}, integer(0))
	}
	for i, f := range b.fields {
		name := fieldName(i)
		if i < len(names) {
			name = names[i]
		}
		s.Items = append(s.Items, tree.Item{Expr: f, Name: quoted(name)})
	}
	if len(s.Items) == 0 { // a relation without columns still has rows
		s.Items = []tree.Item{{Expr: integer(1), Name: quoted(fieldName(0))}}
	}
	return &tree.Query{Body: s, OrderBy: b.order, Limit: b.limit, Offset: b.offset}, nil
}

// query returns the query with names of places.
func (b *block) query() *tree.Query {
	q, _ := b.named("", nil)
	return q
}

// wrap makes the block a table of another one.
func (t *translator) wrap(b *block) *block { return t.derived(b.query(), len(b.fields)) }

// derived returns the block of a query with columns named by their places.
func (t *translator) derived(q *tree.Query, columns int) *block {
	alias := t.alias()
	b := &block{from: &tree.Subquery{Query: q, Alias: tree.Alias{Name: quoted(alias)}}}
	for i := range columns {
		b.fields = append(b.fields, column(alias, fieldName(i)))
	}
	return b
}

// alias returns a name for a table that no other table of the statement has.
func (t *translator) alias() string {
	t.aliases++
	return fmt.Sprintf("r%d", t.aliases)
}

func fieldName(i int) string { return fmt.Sprintf("f%d", i) }

func quoted(name string) tree.Name { return tree.Name{Text: name, Quoted: true} }

func column(table, name string) *tree.Column {
	return &tree.Column{Name: []tree.Name{quoted(table), quoted(name)}}
}

func integer(n int64) tree.Expr {
	if n < 0 {
		return &tree.Unary{Op: "-", X: &tree.Literal{Kind: tree.Integer, Text: fmt.Sprint(n)[1:]}}
	}
	return &tree.Literal{Kind: tree.Integer, Text: fmt.Sprint(n)}
}

func textLiteral(s string) tree.Expr { return &tree.Literal{Kind: tree.Text, Text: s} }

// and joins conditions. It returns nil for none.
func and(terms []tree.Expr) tree.Expr {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	return &tree.Logic{Terms: terms}
}

// or joins conditions of which one holds.
func or(terms []tree.Expr) tree.Expr {
	if len(terms) == 1 {
		return terms[0]
	}
	return &tree.Logic{Or: true, Terms: terms}
}

func call(name string, arguments ...tree.Expr) *tree.Call {
	c := &tree.Call{Name: []tree.Name{{Text: name}}}
	for _, a := range arguments {
		c.Args = append(c.Args, tree.Arg{Expr: a})
	}
	return c
}

func binary(op string, x, y tree.Expr) tree.Expr { return &tree.Binary{Op: op, X: x, Y: y} }

func not(x tree.Expr) tree.Expr { return &tree.Unary{Op: "not", X: x} }
