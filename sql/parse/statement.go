package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// statement reads a statement.
func (p *parser) statement() tree.Statement {
	p.enter()
	defer p.leave()
	t := p.token()
	switch {
	case t.word == "(" || p.startsQuery(0):
		return p.query()
	case describeWords[t.word]:
		return p.description().(tree.Statement)
	case p.at("create"):
		return p.create()
	case p.at("drop"):
		return p.drop()
	case p.at("copy"):
		return p.copyTo()
	case p.at("explain"):
		return p.explain()
	}
	if instead, ok := unsupported[t.word]; ok {
		p.fail(t.pos, upper(t.word)+" is not supported: "+instead)
	}
	for _, word := range statementWords {
		p.at(word)
	}
	p.failHere("a statement such as SELECT")
	return nil
}

// statementWords are the keywords with which statements begin.
var statementWords = []string{
	"select", "with", "from", "values", "table", "pivot", "unpivot", "describe", "show", "summarize",
}

// unsupported has the statements of DuckDB and PostgreSQL that are not supported, with the form to write.
var unsupported = map[string]string{
	"insert":     "write CREATE TABLE name AS with UNION ALL of the old and the new rows",
	"update":     "write CREATE OR REPLACE TABLE name AS SELECT * REPLACE (…) FROM …",
	"delete":     "write CREATE OR REPLACE TABLE name AS SELECT … WHERE …",
	"merge":      "write CREATE OR REPLACE TABLE name AS SELECT …",
	"truncate":   "write CREATE OR REPLACE TABLE name AS SELECT … LIMIT 0",
	"alter":      "write CREATE OR REPLACE TABLE name AS SELECT …",
	"begin":      "there are no transactions",
	"start":      "there are no transactions",
	"commit":     "there are no transactions",
	"rollback":   "there are no transactions",
	"end":        "there are no transactions",
	"abort":      "there are no transactions",
	"set":        "settings are options of the engine",
	"reset":      "settings are options of the engine",
	"pragma":     "settings are options of the engine",
	"use":        "there are no schemas",
	"attach":     "read files with FROM 'path'",
	"detach":     "read files with FROM 'path'",
	"install":    "there are no extensions",
	"load":       "there are no extensions",
	"call":       "write SELECT * FROM function(…)",
	"prepare":    "write parameters such as $1 and give their values with the statement",
	"execute":    "write parameters such as $1 and give their values with the statement",
	"deallocate": "write parameters such as $1 and give their values with the statement",
	"analyze":    "statistics are gathered without a statement",
	"vacuum":     "tables need no VACUUM",
	"checkpoint": "write files with COPY … TO",
	"export":     "write files with COPY … TO",
	"import":     "read files with FROM 'path'",
	"comment":    "tables have no comments",
	"grant":      "there are no users",
	"revoke":     "there are no users",
}

// create reads CREATE TABLE … AS or CREATE VIEW … AS.
func (p *parser) create() tree.Statement {
	s := &tree.Create{Position: p.pos()}
	p.take()
	if p.accept("or") {
		p.expect("replace")
		s.Replace = true
	}
	s.Temporary = p.accept("temp") || p.accept("temporary")
	if !p.accept("table") {
		if t := p.token(); !p.at("view") {
			p.refuseObject(t)
		}
		p.take()
		s.View = true
	}
	if t := p.token(); p.accept("if") {
		p.expect("not")
		p.expect("exists")
		s.IfNotExists = true
		if s.Replace {
			p.fail(t.pos, "OR REPLACE and IF NOT EXISTS exclude each other")
		}
	}
	s.Name = p.qualifiedName("a name")
	if p.at("(") {
		if !s.View && p.ahead(2).word != "," && p.ahead(2).word != ")" {
			p.fail(p.token().pos, "tables with types are not supported: write CREATE TABLE name AS SELECT …")
		}
		s.Columns = p.nameList("the name of a column")
	}
	p.expect("as")
	s.Query = p.query()
	if t := p.token(); t.word == "with" {
		p.createData(s)
	}
	return s
}

// refuseObject refuses to create or drop objects that are no tables and views.
func (p *parser) refuseObject(t *token) {
	switch t.word {
	case "index", "schema", "macro", "function", "type", "sequence", "recursive", "secret", "database", "unique",
		"materialized", "persistent", "local", "global", "trigger":
		p.fail(t.pos, "objects of the kind "+upper(t.word)+" are not supported: expected TABLE or VIEW")
	}
	p.failHere("TABLE or VIEW")
}

// createData reads WITH DATA or WITH NO DATA.
func (p *parser) createData(s *tree.Create) {
	t := p.take()
	if p.accept("no") {
		p.fail(t.pos, "WITH NO DATA is not supported: write LIMIT 0")
	}
	p.expect("data")
}

// drop reads DROP TABLE or DROP VIEW.
func (p *parser) drop() tree.Statement {
	s := &tree.Drop{Position: p.pos()}
	p.take()
	if !p.accept("table") {
		if t := p.token(); !p.at("view") {
			p.refuseObject(t)
		}
		p.take()
		s.View = true
	}
	if p.accept("if") {
		p.expect("exists")
		s.IfExists = true
	}
	s.Name = p.qualifiedName("a name")
	if !p.accept("cascade") {
		p.accept("restrict")
	}
	return s
}

// copyTo reads COPY … TO.
func (p *parser) copyTo() tree.Statement {
	s := &tree.Copy{Position: p.pos()}
	p.take()
	if p.at("(") {
		if inner := p.ahead(1); describeWords[inner.word] {
			p.fail(inner.pos, "COPY needs a query such as SELECT")
		}
		s.Query = p.queryInParentheses()
	} else {
		s.Table = p.qualifiedName("a table, or a query in parentheses")
		if p.at("(") {
			p.copyColumns(s)
		}
	}
	if t := p.token(); t.word == "from" {
		p.fail(t.pos, "COPY … FROM is not supported: write CREATE TABLE name AS FROM 'path'")
	}
	p.expect("to")
	if t := p.token(); t.kind != textToken && t.kind != parameterToken && t.word != "?" && t.word != "(" {
		if t.kind == nameToken {
			p.fail(t.pos, "names as targets are not supported: expected a path in quotes")
		}
		p.failHere("a path in quotes")
	}
	s.Path = p.operand()
	p.accept("with")
	if p.accept("(") {
		for {
			s.Options = append(s.Options, p.option())
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	return s
}

// copyColumns reads the columns of the table of COPY: it copies a query of them.
func (p *parser) copyColumns(s *tree.Copy) {
	pos := s.Table[0].Position
	query := &tree.Select{Position: pos, From: []tree.Table{&tree.TableName{Position: pos, Name: s.Table}}}
	for _, name := range p.nameList("the name of a column") {
		column := &tree.Column{Position: name.Position, Name: []tree.Name{name}}
		query.Items = append(query.Items, tree.Item{Expr: column})
	}
	s.Table, s.Query = nil, &tree.Query{Position: pos, Body: query}
}

// option reads an option of COPY.
func (p *parser) option() tree.Option {
	o := tree.Option{Name: p.label("the name of an option")}
	switch {
	case p.at(",") || p.at(")"):
	case p.token().word == "(":
		p.take()
		o.Values = p.exprs(")")
		p.expect(")")
	default:
		o.Values = []tree.Expr{p.optionValue()}
	}
	return o
}

// optionValue reads the value of an option, which may be any word.
func (p *parser) optionValue() tree.Expr {
	t := p.token()
	if next := p.ahead(1).word; t.kind == nameToken && (next == "," || next == ")") {
		switch t.word {
		case "true", "false", "null":
		default:
			name := p.takeName()
			return &tree.Column{Position: name.Position, Name: []tree.Name{name}}
		}
	}
	return p.expr()
}

// description reads DESCRIBE, SUMMARIZE or SHOW.
func (p *parser) description() tree.Body {
	t := p.take()
	pos := tree.Position(t.pos)
	next := p.token()
	switch ends := next.kind == endToken || next.word == ";" || next.word == ")"; {
	case ends && t.word == "summarize":
		p.failHere("a table or a query")
	case ends:
		return &tree.Show{Position: pos}
	case t.word == "show" && !p.startsQuery(0) && next.word != "(":
		return p.show(pos)
	}
	d := &tree.Describe{Position: pos, Summarize: t.word == "summarize"}
	switch {
	case next.word == "(" || p.startsQuery(0) && next.word != "table":
		d.Query = p.query()
	case next.kind == textToken:
		name := &tree.File{Position: p.pos(), Path: p.take().text}
		star := []tree.Item{{Expr: &tree.Star{Position: name.Position}}}
		body := &tree.Select{Position: name.Position, Items: star, From: []tree.Table{name}}
		d.Query = &tree.Query{Position: name.Position, Body: body}
	default:
		p.accept("table")
		d.Table = p.qualifiedName("a table or a query")
	}
	return d
}

// show reads the name behind SHOW.
func (p *parser) show(pos tree.Position) tree.Body {
	s := &tree.Show{Position: pos}
	if p.acceptWords("all", "tables") {
		s.Name = []tree.Name{{Position: pos, Text: "all"}, {Position: pos, Text: "tables"}}
		return s
	}
	s.Name = p.qualifiedName("TABLES, or a name")
	return s
}

// explain reads EXPLAIN.
func (p *parser) explain() tree.Statement {
	s := &tree.Explain{Position: p.pos()}
	p.take()
	s.Analyze = p.accept("analyze") || p.accept("analyse")
	if t := p.token(); t.word == "(" && !p.opensQuery() {
		p.fail(t.pos, "options of EXPLAIN are not supported: write EXPLAIN or EXPLAIN ANALYZE")
	}
	if t := p.token(); t.word == "explain" {
		p.fail(t.pos, "EXPLAIN needs a statement that runs")
	}
	s.Statement = p.statement()
	return s
}
