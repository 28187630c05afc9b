package sql

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// rows translates a statement that yields rows.
func (t *translation) rows(statement tree.Statement) gpuframe.Query {
	switch statement := statement.(type) {
	case *tree.Query:
		return t.result(statement)
	case *tree.Describe:
		return t.describe(statement)
	case *tree.Explain:
		return t.explain(statement)
	case *tree.Show:
		if len(statement.Name) > 0 && !strings.EqualFold(text(statement.Name), "tables") {
			return t.describe(&tree.Describe{Position: statement.Position, Table: statement.Name})
		}
		return t.texts([]string{"name"}, [][]string{t.session.names()})
	}
	t.fail(statement, "the statement yields no rows: run it with Exec")
	return gpuframe.Query{}
}

// result translates a query. Its columns have their names of the text.
func (t *translation) result(q *tree.Query) gpuframe.Query {
	out := t.query(&scope{}, q)
	list := make([]gpuframe.Expression, len(out.columns))
	for i, name := range distinctNames(out.columns) {
		list[i] = gpuframe.Col(out.columns[i].id).As(name)
	}
	result := out.query.Select(list)
	t.schema(q, result)
	return result
}

// queryOf returns the query of a table or of a query.
func (t *translation) queryOf(at tree.Node, table []tree.Name, q *tree.Query) gpuframe.Query {
	if q != nil {
		return t.result(q)
	}
	known, ok := t.session.lookup(table[len(table)-1].Text)
	if !ok {
		t.fail(table[0], "%s", names.Unknown("table", text(table), t.session.names()))
	}
	return known.query
}

// describe returns the names and types of columns.
func (t *translation) describe(d *tree.Describe) gpuframe.Query {
	t.isVolatile = true
	q := t.queryOf(d, d.Table, d.Query)
	if d.Summarize {
		return t.summarize(d, q)
	}
	schema := t.schema(d, q)
	var columns, types, nulls []string
	for _, f := range schema.Fields() {
		columns, types = append(columns, f.Name), append(types, typeName(f.Type))
		nulls = append(nulls, map[bool]string{true: "YES", false: "NO"}[f.Nullable])
	}
	return t.texts([]string{"column_name", "column_type", "null"}, [][]string{columns, types, nulls})
}

// explain returns the plan of a query. EXPLAIN ANALYZE runs it, unless only the schema of the result is asked for.
func (t *translation) explain(e *tree.Explain) gpuframe.Query {
	t.isVolatile = true
	q := t.rows(e.Statement)
	if isForSchema(t.ctx) {
		return t.texts([]string{"plan"}, [][]string{{""}})
	}
	if !e.Analyze {
		plan, err := q.Explain(t.ctx)
		if err != nil {
			t.failAs(e, err)
		}
		return t.texts([]string{"plan"}, [][]string{{plan}})
	}
	var profile gpuframe.Profile
	for frame, err := range q.Batches(t.ctx, gpuframe.Profiled(&profile)) {
		if err != nil {
			panic(abort{err})
		}
		if err := frame.Release(); err != nil {
			panic(abort{err})
		}
	}
	return t.texts([]string{"plan"}, [][]string{{profile.String()}})
}

// texts returns a query of columns of text.
func (t *translation) texts(columns []string, values [][]string) gpuframe.Query {
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, name := range columns {
		builder := array.NewStringBuilder(memory.DefaultAllocator)
		builder.AppendValues(values[i], nil)
		fields[i], arrays[i] = arrow.Field{Name: name, Type: textType}, builder.NewArray()
		builder.Release()
	}
	schema := arrow.NewSchema(fields, nil)
	return t.engine.Records(schema, array.NewRecord(schema, arrays, int64(len(values[0]))))
}

// execute runs a statement and returns the number of its rows.
func (t *translation) execute(statement tree.Statement) (rows int64) {
	switch statement := statement.(type) {
	case *tree.Create:
		return t.create(statement)
	case *tree.Drop:
		t.drop(statement)
		return 0
	case *tree.Copy:
		return t.copy(statement)
	}
	for frame, err := range t.rows(statement).Batches(t.ctx) {
		if err != nil {
			panic(abort{err})
		}
		rows += frame.NumRows()
		if err := frame.Release(); err != nil {
			panic(abort{err})
		}
	}
	return rows
}

// create makes a view, or a table of the rows that a query has now.
func (t *translation) create(c *tree.Create) (rows int64) {
	name := c.Name[len(c.Name)-1].Text
	if _, exists := t.session.lookup(name); exists && !c.Replace {
		t.failExisting(c)
		return 0
	}
	q := t.result(c.Query)
	if len(c.Columns) > 0 {
		q = t.renamed(c, q)
	}
	if c.View {
		t.register(c, table{name: name, query: q, view: true})
		return 0
	}
	frame, err := q.Collect(t.ctx)
	if err != nil {
		panic(abort{err})
	}
	rows = frame.NumRows()
	owned, query, err := t.session.owned.add(frame)
	if err != nil {
		panic(abort{err})
	}
	if !t.register(c, table{name: name, query: query, owned: owned}) {
		return 0
	}
	return rows
}

// register gives a table its name. Another statement can have made a table of that name since this one began: then the
// new one is released, and is an error without IF NOT EXISTS.
func (t *translation) register(c *tree.Create, created table) bool {
	exists, err := t.session.put(created, c.Replace)
	if exists && !c.Replace && created.owned != nil {
		err = t.session.owned.discard(created.owned)
	}
	if err != nil {
		panic(abort{err})
	}
	if exists && !c.Replace {
		t.failExisting(c)
		return false
	}
	return true
}

// failExisting fails for a name that exists, unless the statement has IF NOT EXISTS.
func (t *translation) failExisting(c *tree.Create) {
	if !c.IfNotExists {
		t.fail(c.Name[0], "%q exists: drop it, or use CREATE OR REPLACE", c.Name[len(c.Name)-1].Text)
	}
}

// renamed gives the columns of a query the names of CREATE.
func (t *translation) renamed(c *tree.Create, q gpuframe.Query) gpuframe.Query {
	schema := t.schema(c, q)
	if len(c.Columns) != schema.NumFields() {
		t.fail(c.Columns[0], "the query has %d columns, and CREATE names %d", schema.NumFields(), len(c.Columns))
	}
	list := make([]gpuframe.Expression, len(c.Columns))
	for i, name := range c.Columns {
		list[i] = gpuframe.Col(schema.Field(i).Name).As(name.Text)
	}
	return q.Select(list)
}

// drop forgets a table or view. Queries that were made of it still have its rows.
func (t *translation) drop(d *tree.Drop) {
	name := d.Name[len(d.Name)-1].Text
	known, ok := t.session.lookup(name)
	switch {
	case !ok && d.IfExists:
		return
	case !ok:
		t.fail(d.Name[0], "%s", names.Unknown("table", name, t.session.names()))
	case known.view != d.View:
		t.fail(d.Name[0], "%q is a %s: drop it as such", name, map[bool]string{true: "view", false: "table"}[known.view])
	}
	t.session.forget(name)
}
