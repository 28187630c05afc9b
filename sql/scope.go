package sql

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// column is a column that names can refer to.
type column struct {
	// table and name are as they were declared.
	table, name string
	// id is the name of the column in the query.
	id       string
	dataType arrow.DataType
	// merged is set for the columns that USING combines: only table.name refers to them.
	merged bool
	// bits is that of its values.
	bits int
	// isNull is set for columns of nulls, which take the type of the other operand.
	isNull bool
	// others are the names that a column of a set operation has on the right sides: ORDER BY can use them.
	others []string
}

// value returns the column as an expression.
func (c *column) value() value {
	if c.isNull {
		return value{null: true, uses: columnSet{}}
	}
	return value{expr: gpuframe.Col(c.id), dataType: c.dataType, bits: c.bits, uses: columnSet{c: true}}
}

// relation is the rows of a part of a query. The query can have more columns than the list.
type relation struct {
	query   gpuframe.Query
	columns []*column
	// source is the query that the rows are a copy of, or zero.
	source gpuframe.Query
}

// attach adds the column of an expression to the rows. No name refers to it.
func (t *translation) attach(r *relation, v value, name string) *column {
	c := &column{id: t.unique(name), dataType: v.dataType, bits: v.bits}
	r.query = r.query.With(v.expr.As(c.id))
	return c
}

// scope is the names that an expression can use.
type scope struct {
	// rows are the rows that the expression is of. Subqueries join their values to them.
	rows *relation
	// outer is the scope around a subquery, or nil.
	outer *scope
	// domain are the columns that stand for columns of outer. Columns that it lacks are added to foreign.
	domain  map[*column]*column
	foreign *[]*column
	// dependence is the values of columns of outer that a query is computed for, or nil.
	dependence *dependence
	// aliases are the items of the SELECT list, for names that are no columns.
	aliases   []item
	resolving map[string]bool
	// aliased are the values of aliases that other expressions have used.
	aliased map[string]value
	// tables are the tables of the rows before they are joined, for the semi joins of one of them.
	tables *tableSet
	// block is what the rows are of, or nil if more conditions hold.
	block *block
	// input and group are set behind GROUP BY.
	input *scope
	group *grouping
	// clause names the clause in errors about aggregates and windows that it cannot have.
	clause  string
	windows map[string]*tree.Window
	// variables are the parameters of the lambdas around an expression, the inner ones last.
	variables []variable
}

// item is an expression of the SELECT list with the name of its column.
type item struct {
	expr tree.Expr
	name string
	// column is set for an expanded star.
	column *column
	given  bool
}

// resolve returns the column of a name, with the rest of the name: fields of a struct. It returns nil for
// an unknown name.
func (t *translation) resolve(s *scope, at tree.Node, name []tree.Name) (c *column, fields []tree.Name) {
	if s.group != nil {
		return t.resolveGrouped(s, at, name)
	}
	if c, fields = t.local(s.rows, at, name); c != nil || s.outer == nil {
		return c, fields
	}
	if c, fields = t.resolve(s.outer, at, name); c == nil {
		return nil, nil
	}
	if inner, ok := s.domain[c]; ok {
		return inner, fields
	}
	if s.foreign == nil {
		t.fail(at, "column %q belongs to the query around this one, which is not supported here: refer to it in the WHERE clause, or join the tables", text(name))
	}
	*s.foreign = append(*s.foreign, c)
	return c, fields
}

// resolveGrouped returns the key of a name behind GROUP BY.
func (t *translation) resolveGrouped(s *scope, at tree.Node, name []tree.Name) (c *column, fields []tree.Name) {
	if c, fields = t.resolve(s.input, at, name); c == nil {
		return nil, nil
	}
	if key, ok := s.group.columns[c]; ok {
		return key, fields
	}
	if _, isLocal := setOf(s.input.rows.columns)[c]; isLocal {
		t.fail(at, "column %q must be in GROUP BY or within an aggregate: any_value(%s) is the value of some row", text(name), text(name))
	}
	return c, fields
}

// local returns the column of a name among some columns.
func (t *translation) local(r *relation, at tree.Node, name []tree.Name) (c *column, fields []tree.Name) {
	for split := min(len(name), 3); split > 0; split-- {
		if c := t.among(r, at, name[:split]); c != nil {
			return c, name[split:]
		}
	}
	return nil, nil
}

// among returns the column of a whole name, of one part or with its table before it.
func (t *translation) among(r *relation, at tree.Node, name []tree.Name) (match *column) {
	last := name[len(name)-1].Text
	for _, c := range r.columns {
		switch {
		case !strings.EqualFold(c.name, last):
		case len(name) == 1 && c.merged:
		case len(name) > 1 && !strings.EqualFold(c.table, name[len(name)-2].Text):
		case match != nil && match != c:
			t.fail(at, "column %q is ambiguous: write %s.%s or %s.%s", text(name), match.table, match.name, c.table, c.name)
		default:
			match = c
		}
	}
	return match
}

// unknownColumn fails for a name that no column has.
func (t *translation) unknownColumn(s *scope, at tree.Node, name []tree.Name) {
	var candidates []string
	for ; s != nil; s = s.outer {
		for s.input != nil {
			s = s.input
		}
		for _, c := range s.rows.columns {
			if len(name) > 1 && strings.EqualFold(c.name, name[len(name)-1].Text) {
				candidates = append(candidates, c.table+"."+c.name)
			}
			candidates = append(candidates, c.name)
		}
	}
	t.fail(at, "%s", names.Unknown("column", text(name), candidates))
}

// text returns a name with points.
func text(name []tree.Name) string {
	parts := make([]string, len(name))
	for i, n := range name {
		parts[i] = n.Text
	}
	return strings.Join(parts, ".")
}

// columnValue returns the value of a name: a column, a field of one, or an alias of the SELECT list.
func (t *translation) columnValue(s *scope, at *tree.Column) value {
	c, fields := t.resolve(s, at, at.Name)
	if c == nil {
		if aliased := aliasOf(s, at); aliased != nil {
			return t.aliasValue(s, at, aliased)
		}
		t.unknownColumn(s, at, at.Name)
	}
	v := c.value()
	for _, f := range fields {
		v = t.field(f, v, f.Text)
	}
	return v
}

// aliasOf returns the item of the SELECT list that a name without a table refers to, or nil.
func aliasOf(s *scope, at *tree.Column) *item {
	if len(at.Name) != 1 {
		return nil
	}
	for i := range s.aliases {
		if a := &s.aliases[i]; a.given && strings.EqualFold(a.name, at.Name[0].Text) {
			return a
		}
	}
	return nil
}

// aliasValue translates the expression that an alias stands for.
func (t *translation) aliasValue(s *scope, at *tree.Column, a *item) value {
	key := strings.ToLower(a.name)
	if s.resolving[key] {
		t.fail(at, "the expression of %q refers to itself", a.name)
	}
	if s.resolving == nil {
		s.resolving = map[string]bool{}
	}
	if v, known := s.aliased[key]; known {
		return v
	}
	s.resolving[key] = true
	variables := s.variables
	s.variables = nil
	defer func() { delete(s.resolving, key); s.variables = variables }()
	return t.shared(s, key, t.expr(s, a.expr))
}

// shared returns the value of an alias as a column that all its uses share: aliases of aliases would double their
// expressions otherwise. Rows that are not joined yet have no column for it.
func (t *translation) shared(s *scope, key string, v value) value {
	if s.rows.query == (gpuframe.Query{}) || s.clause != "SELECT" || v.isConstant() || v.interval != nil || len(v.uses) == 0 || columnOf(v) != nil {
		return v
	}
	v = t.attach(s.rows, v, key).value()
	if s.aliased == nil {
		s.aliased = map[string]value{}
	}
	s.aliased[key] = v
	return v
}

// field returns a field of a struct.
func (t *translation) field(at tree.Node, v value, name string) value {
	record, ok := v.dataType.(*arrow.StructType)
	if !ok {
		t.fail(at, "%q is a field of no struct: the value is %s", name, typeName(v.dataType))
	}
	var candidates []string
	for _, f := range record.Fields() {
		if strings.EqualFold(f.Name, name) {
			if f.Type.ID() == arrow.NULL {
				return value{null: true, uses: columnSet{}}
			}
			return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Field(f.Name) }, v)
		}
		candidates = append(candidates, f.Name)
	}
	t.fail(at, "%s", names.Unknown("field", name, candidates))
	return v
}
