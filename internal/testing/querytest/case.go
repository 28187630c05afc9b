package querytest

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// Options configure the drawn queries.
type Options struct {
	// Verbs is the largest number of verbs, and Rows that of the rows of a source.
	Verbs, Rows int
	// Least is the smallest number of the rows of a source.
	Least int
	// Texts makes most columns of sources texts, some of them large ones, and draws expressions that make
	// longer texts.
	Texts bool
	// SQL leaves out verbs that SQL lacks.
	SQL bool
}

// Case is a query and the result that it must have.
type Case struct {
	Query gpuframe.Query
	Want  *Table
	// Text lists the verbs, for messages.
	Text string
	// SQL is the query for DuckDB after [SQLMacros]. Only with Options.SQL has it all verbs.
	SQL     string
	sources *sources
}

// sources are the records and the host tables of sources.
type sources struct {
	records []arrow.Record
	tables  []*gpuframe.HostTable
}

// Release releases the sources.
func (c *Case) Release() {
	release.Arrow(c.sources.records)
	for _, t := range c.sources.tables {
		if err := t.Release(); err != nil {
			panic(err)
		}
	}
}

// Draw draws a query on an engine. The caller releases the case when the query has run.
func Draw(t *rapid.T, engine *gpuframe.Engine, options Options) *Case {
	g := &generator{t: t, engine: engine, options: options, sources: new(sources), steps: new([]string)}
	now := g.source()
	g.seen = append(g.seen, now)
	for range rapid.IntRange(1, options.Verbs).Draw(t, "verbs") {
		now = g.step(now)
		g.seen = append(g.seen, now)
	}
	return &Case{now.query, now.table, now.text(), g.statement(now), g.sources}
}

// state is a query and its result.
type state struct {
	query gpuframe.Query
	table *Table
	verbs []string
	// sql is the name of the statement that selects the rows.
	sql string
}

// then adds a verb. The rows in SQL remain those of s.
func (s state) then(q gpuframe.Query, t *Table, format string, arguments ...any) state {
	verbs := append(append([]string(nil), s.verbs...), fmt.Sprintf(format, arguments...))
	return state{q, t, verbs, s.sql}
}

func (s state) text() string { return strings.Join(s.verbs, "\n\t.") }

// generator draws one query.
type generator struct {
	t       *rapid.T
	engine  *gpuframe.Engine
	options Options
	sources *sources
	// seen are the states so far, which joins and unions may use again.
	seen []state
	// steps are the statements in SQL of all states.
	steps *[]string
	// names counts the new names.
	names int
}

func (g *generator) draw(t *Table) *drawer { return &drawer{g.t, t, g.options.Texts} }

func (g *generator) choose(label string, n int) int { return rapid.IntRange(0, n-1).Draw(g.t, label) }

func (g *generator) newName() string {
	g.names++
	return fmt.Sprintf("n%d", g.names)
}

// source draws a table of some batches.
func (g *generator) source() state { return g.sourceOf(g.options.Least, g.options.Rows) }

// sourceOf draws a table with a number of rows between two.
func (g *generator) sourceOf(least, most int) state {
	table := &Table{Ordered: true}
	prefix := "c"
	if g.choose("own names", 2) == 0 { // so that joins can change places
		prefix = g.newName() + "c"
	}
	for i := range 1 + g.choose("columns", 4) {
		kind := Kind(g.choose("kind", int(kinds)))
		if g.options.Texts && g.choose("text", 3) > 0 {
			kind = String
		}
		if i == 0 {
			kind = Int32 // so that joins find keys
		}
		table.Columns = append(table.Columns, Column{Name: fmt.Sprint(prefix, i), Kind: kind, Required: g.choose("required", 4) == 0})
		if g.options.Texts && kind == String {
			table.Columns[i].Large = g.choose("large", 4) == 0
		}
	}
	manyKeys := g.choose("many keys", 3) == 0
	for range least + g.choose("rows", most-least+1) {
		row := make(Row, len(table.Columns))
		for i, c := range table.Columns {
			switch {
			case !c.Required && g.choose("null", 5) == 0:
			case i == 0 && manyKeys:
				row[i] = int64(g.choose("key", most) - most/2)
			default:
				row[i] = drawValue(g.t, c.Kind)
			}
		}
		table.Rows = append(table.Rows, row)
	}
	// Parquet files cannot have nulls in such a column.
	parquet := g.choose("parquet", 4) == 0
	for i := range table.Columns {
		table.Columns[i].Undeclared = !parquet && g.choose("undeclared nulls", 4) == 0
	}
	var batches []arrow.Record
	for at := 0; at < len(table.Rows); {
		end := min(at+1+g.choose("batch", 8), len(table.Rows))
		if g.choose("all", 2) == 0 {
			end = len(table.Rows)
		}
		batches = append(batches, table.record(table.Rows[at:end]))
		at = end
	}
	g.sources.records = append(g.sources.records, batches...)
	query := g.engine.Records(table.schema(), batches...)
	switch {
	case parquet:
		query = g.parquet(table.schema(), batches)
	case g.choose("host table", 4) == 0:
		query = g.hostTable(table.schema(), batches)
	}
	return g.inSQL(state{query, table, []string{fmt.Sprintf("source %v of %d rows in %d batches: %v", table.Columns, len(table.Rows), len(batches), table.Rows)}, ""}, "%s", sourceSQL(table))
}

// hostTable makes a table in host memory.
func (g *generator) hostTable(schema *arrow.Schema, batches []arrow.Record) gpuframe.Query {
	reader, err := array.NewRecordReader(schema, batches)
	if err != nil {
		g.t.Fatal(err)
	}
	defer reader.Release()
	table, err := g.engine.NewHostTable(g.t.Context(), reader, gpuframe.HostTableOptions{Plain: g.choose("plain", 4) == 0})
	if err != nil {
		g.t.Fatal(err)
	}
	g.sources.tables = append(g.sources.tables, table)
	return g.engine.HostTable(table)
}
