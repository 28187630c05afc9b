package duckdb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator draws statements on the tables of the tests.
type generator struct {
	*rand.Rand
	aliases int
	// outer are the columns of the queries around the one at hand.
	outer []field
	// depth is the number of queries around it, and derived that of the derived tables.
	depth, derived int
	// total is set while the id columns in view name each row.
	total bool
}

// field is a column in view: a name with the table, and number, text, date or another kind.
type field struct{ name, kind string }

// kindOf has the kinds of expressions for those of columns.
var kindOf = map[string]string{"int": "number", "bigint": "number", "decimal": "decimal", "double": "double", "special": "double", "text": "text", "date": "date", "timestamp": "timestamp", "bool": "bool"}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// column returns a column of a kind, or a literal without such a column.
func (g *generator) column(in []field, kind string) string {
	var all []string
	for _, f := range in {
		if f.kind == kind {
			all = append(all, f.name)
		}
	}
	if len(g.outer) > 0 && g.chance(3) {
		for _, f := range g.outer {
			if f.kind == kind {
				all = append(all, f.name)
			}
		}
	}
	if len(all) == 0 {
		return g.literal(kind)
	}
	return all[g.IntN(len(all))]
}

func (g *generator) literal(kind string) string {
	if g.chance(12) {
		return "null"
	}
	switch kind {
	case "number":
		return g.pick("0", "1", "2", "3", "7", "-4")
	case "decimal":
		return g.pick("0.5", "1.25", "-2.5", "10.00")
	case "double":
		return g.pick("1.5::double", "0::double", "-2.25::double")
	case "text":
		return g.pick("'a'", "'Oslo'", "''", "'abc'")
	case "date":
		return g.pick("date '2020-01-31'", "date '2020-02-29'", "date '2000-01-01'")
	case "timestamp":
		return g.pick("timestamp '2020-01-31 10:11:12.5'", "timestamp '2020-02-29 00:00:00'")
	}
	return g.pick("true", "false")
}

// expr returns an expression of a kind.
func (g *generator) expr(in []field, kind string, depth int) string {
	if depth <= 0 || g.chance(3) {
		if g.chance(5) {
			return g.literal(kind)
		}
		return g.column(in, kind)
	}
	if kind == "bool" {
		return g.condition(in, depth)
	}
	if g.depth < 2 && kind != "timestamp" && g.chance(18) {
		return g.scalar(in, kind)
	}
	if g.chance(3) {
		return g.filled(in, strings.ReplaceAll(g.pick(anyForms...), "SAME", kind), depth)
	}
	return g.filled(in, g.pick(forms[kind]...), depth)
}

// condition returns an expression that is a bool.
func (g *generator) condition(in []field, depth int) string {
	if g.depth < 2 && g.chance(5) {
		return g.predicate(in)
	}
	kind := g.pick("number", "number", "text", "date", "decimal", "double", "timestamp")
	return g.filled(in, strings.ReplaceAll(g.pick(forms["bool"]...), "SAME", kind), depth)
}

// inner draws a query within an expression, which sees the columns around it.
func (g *generator) inner(in []field, draw func(rows []field, from string) string) string {
	outer := g.outer
	g.outer, g.depth = append(slices.Clone(outer), in...), g.depth+1
	from, fields := g.from(1 + g.IntN(2))
	text := draw(fields, from)
	g.outer, g.depth = outer, g.depth-1
	return text
}

// where returns a WHERE clause or nothing.
func (g *generator) where(in []field) string {
	if g.chance(4) {
		return ""
	}
	text := " where " + g.expr(in, "bool", 2)
	if len(g.outer) > 0 && g.chance(2) {
		text = fmt.Sprintf(" where %s %s %s", g.ownColumn(in, "number"), g.pick("=", "=", "<"), g.ownColumn(g.outer, "number"))
		if g.chance(2) {
			text += " and " + g.expr(in, "bool", 1)
		}
	}
	return text
}

// ownColumn returns a column of these only.
func (g *generator) ownColumn(in []field, kind string) string {
	outer := g.outer
	g.outer = nil
	defer func() { g.outer = outer }()
	return g.column(in, kind)
}

// scalar returns a subquery of one value.
func (g *generator) scalar(in []field, kind string) string {
	return g.inner(in, func(rows []field, from string) string {
		fold := g.pick("min", "max")
		if kind == "number" {
			fold = g.pick("min", "max", "count", "count", "count(distinct ")
		}
		value := fold + "(" + g.expr(rows, kind, 1) + ")"
		if strings.HasSuffix(fold, " ") {
			value = fold + g.expr(rows, kind, 1) + ")"
		}
		if kind == "text" { // min(null) is an integer here and of no type in DuckDB
			value = strings.Replace(value, "(null)", "(cast(null as varchar))", 1)
		}
		if g.chance(4) {
			value = "coalesce(" + value + ", " + g.literal(kind) + ")"
		}
		return fmt.Sprintf("(select %s from %s%s)", value, from, g.where(rows))
	})
}

// predicate returns a condition with a subquery.
func (g *generator) predicate(in []field) string {
	kind := g.pick("number", "number", "text")
	left := g.expr(in, kind, 1)
	return g.inner(in, func(rows []field, from string) string {
		switch g.IntN(4) {
		case 0:
			return fmt.Sprintf("%sexists (select 1 from %s%s)", g.pick("", "not "), from, g.where(rows))
		case 1:
			return fmt.Sprintf("%s %s %s (select %s from %s%s)", left, g.pick("<", "<=", ">", ">="), g.pick("any", "all"), g.expr(rows, kind, 1), from, g.where(rows))
		case 2:
			return fmt.Sprintf("%s %sin (select %s from %s%s group by 1)", left, g.pick("", "not "), g.ownColumn(rows, kind), from, g.where(rows))
		}
		value, where := g.expr(rows, kind, 1), g.where(rows)
		tail := g.pick("", "", "", " group by 1", " having count(*) > 0", fmt.Sprintf(" union select %s from c", g.pick("w", "k", "3")), " order by 1 limit 2")
		if tail == " having count(*) > 0" {
			value = g.pick("min(", "max(") + value + ")"
		}
		if strings.Contains(tail, "union") && kind == "text" {
			tail = " union all select name from c"
		}
		return fmt.Sprintf("%s %sin (select %s from %s%s%s)", left, g.pick("", "not "), value, from, where, tail)
	})
}

// from returns a FROM clause of some tables, and its columns.
func (g *generator) from(n int) (text string, fields []field) {
	text, fields = g.table()
	for i := range n - 1 {
		other, more := g.table()
		all := append(slices.Clone(fields), more...)
		outer := g.outer
		g.outer = nil
		on := fmt.Sprintf("%s = %s", g.column(fields, "number"), g.column(more, "number"))
		if g.chance(3) {
			on += " and " + g.plain(all)
		}
		g.outer = outer
		switch g.IntN(8) {
		case 0:
			text, fields = text+map[bool]string{true: ", ", false: " cross join "}[i == n-2]+other, all
		case 1:
			text, fields = text+" cross join "+other, all
		case 2:
			text += g.pick(" semi join ", " anti join ") + other + " on " + on
		case 3:
			text, fields = text+" full join "+other+" on "+on, all
		case 4:
			text, fields = text+" right join "+other+" on "+on, all
		case 5:
			text, fields = text+" left join "+other+" on "+on, all
		default:
			text, fields = text+" join "+other+" on "+on, all
		}
	}
	return text, fields
}

// plain returns a condition without subqueries.
func (g *generator) plain(in []field) string {
	depth := g.depth
	g.depth = 9
	defer func() { g.depth = depth }()
	return g.condition(in, 1)
}

// table returns a table or a derived one with an alias.
func (g *generator) table() (text string, fields []field) {
	g.aliases++
	alias := fmt.Sprintf("t%d", g.aliases)
	if g.derived < 2 && g.chance(5) {
		outer, depth := g.outer, g.depth
		g.outer, g.depth = nil, 9
		g.derived++
		inner, kinds := g.derivedTable()
		g.derived--
		g.outer, g.depth = outer, depth
		for i, kind := range kinds {
			fields = append(fields, field{fmt.Sprintf("%s.c%d", alias, i), kind})
		}
		return fmt.Sprintf("(%s) %s", inner, alias), fields
	}
	table := tables[g.IntN(len(tables))]
	if table.name == "e" && !g.chance(4) {
		table = tables[0]
	}
	for _, c := range table.columns {
		name, kind, _ := strings.Cut(c, " ")
		fields = append(fields, field{alias + "." + name, kindOf[kind]})
	}
	return table.name + " " + alias, fields
}

// allKinds are the kinds of columns of results.
var allKinds = []string{"number", "number", "text", "date", "bool", "decimal", "double", "timestamp"}

// selection returns a query with the columns c0, c1, …, and their kinds.
func (g *generator) selection() (text string, kinds []string) {
	from, fields := g.from(1 + g.IntN(3))
	if g.chance(3) {
		return g.groups(from, fields)
	}
	g.total = !strings.ContainsAny(from, "(,") && !strings.Contains(from, "join") && strings.HasPrefix(from, "a ")
	defer func() { g.total = false }()
	var items []string
	for i := range 1 + g.IntN(3) {
		kind := allKinds[g.IntN(len(allKinds))]
		e := g.expr(fields, kind, 3)
		if g.chance(6) {
			e, kind = g.window(fields), "number"
		}
		items, kinds = append(items, fmt.Sprintf("%s as c%d", e, i)), append(kinds, kind)
	}
	distinct := ""
	if g.chance(6) {
		distinct = "distinct "
	}
	text = fmt.Sprintf("select %s%s from %s%s", distinct, strings.Join(items, ", "), from, g.where(fields))
	if distinct == "" && g.chance(8) {
		text += fmt.Sprintf(" qualify %s %s 2", g.window(fields), g.pick("<=", ">", "="))
	}
	return text, kinds
}

// window returns a window function of a number.
func (g *generator) window(in []field) string {
	over := ""
	if g.chance(2) {
		over = "partition by " + g.column(in, g.pick("number", "text", "bool")) + " "
	}
	order := fmt.Sprintf("order by %s%s%s", g.column(in, g.pick("number", "date", "text")), g.pick("", " desc"), g.pick("", " nulls first"))
	value := g.plainExpr(in, "number")
	unique := ""
	for _, f := range in {
		if strings.HasSuffix(f.name, ".id") {
			unique += ", " + f.name
		}
	}
	switch g.IntN(10) {
	case 6:
		return fmt.Sprintf("%s() over (%s%s)", g.pick("percent_rank", "cume_dist"), over, order)
	case 7:
		if g.total {
			return fmt.Sprintf("%s over (%s%s%s)", g.pick("row_number()", "lag("+value+")", "lead("+value+", 2)", "ntile(3)", "lag("+value+" ignore nulls)"), over, order, unique)
		}
	case 8:
		if g.total {
			low, high := g.pick("unbounded preceding", "2 preceding", "current row"), g.pick("current row", "1 following", "unbounded following")
			return fmt.Sprintf("%s(%s) over (%s%s%s rows between %s and %s%s)", g.pick("sum", "min", "count", "first_value", "last_value"), value, over, order, unique, low, high, g.pick("", " exclude current row"))
		}
	case 9: // aggregates of gathered frames
		if g.total {
			low, high := g.pick("3 preceding", "1 preceding", "current row"), g.pick("current row", "2 following", "unbounded following")
			aggregate := g.pick("len(list(V) W)", "(list(V) W)[1]", "skewness(V) W", "kurtosis(V) W", "mad(V) W", "count(distinct V) W", "len(string_agg((V)::text, '-') W)")
			return strings.NewReplacer("V", value, "W", fmt.Sprintf("over (%s%s%s rows between %s and %s)", over, order, unique, low, high)).Replace(aggregate)
		}
	case 0:
		return fmt.Sprintf("%s() over (%s%s)", g.pick("rank", "dense_rank"), over, order)
	case 1:
		return fmt.Sprintf("%s(%s) over (%s)", g.pick("sum", "min", "max", "count"), value, over)
	case 2:
		return fmt.Sprintf("%s(%s) over (%s%s %s between %s and %s%s)", g.pick("sum", "min", "max", "count"), value, over, order, "groups", g.pick("unbounded preceding", "1 preceding", "current row"), g.pick("current row", "1 following", "unbounded following"), g.pick("", "", " exclude current row", " exclude group", " exclude ties"))
	case 3:
		return fmt.Sprintf("count(*) filter (where %s) over (%s%s)", g.plain(in), over, order)
	}
	return fmt.Sprintf("%s(%s) over (%s%s)", g.pick("sum", "min", "max", "count"), value, over, order)
}

// plainExpr returns an expression without subqueries.
func (g *generator) plainExpr(in []field, kind string) string {
	depth := g.depth
	g.depth = 9
	defer func() { g.depth = depth }()
	return g.expr(in, kind, 1)
}

// groups returns a query of groups.
func (g *generator) groups(from string, fields []field) (text string, kinds []string) {
	var items, keys []string
	for range g.IntN(3) {
		kind := allKinds[g.IntN(len(allKinds))]
		e := g.plainExpr(fields, kind)
		repeated := slices.ContainsFunc(items, func(i string) bool { return strings.HasPrefix(i, e+" as ") })
		if e == "null" || strings.HasPrefix(e, "'") || repeated {
			continue
		}
		items, kinds = append(items, fmt.Sprintf("%s as c%d", e, len(items))), append(kinds, kind)
		keys = append(keys, fmt.Sprint(len(items)))
	}
	for range 1 + g.IntN(2) {
		kind := g.pick("number", "number", "text", "date", "decimal")
		e := g.plainExpr(fields, kind)
		if g.depth == 0 && g.chance(6) {
			e = g.expr(fields, kind, 2)
		}
		fold, result := g.fold(e, kind)
		if g.chance(4) && !strings.Contains(fold, " - ") {
			fold += " filter (where " + g.plain(fields) + ")"
		}
		kind = result
		items, kinds = append(items, fmt.Sprintf("%s as c%d", fold, len(items))), append(kinds, kind)
	}
	text = fmt.Sprintf("select %s from %s%s", strings.Join(items, ", "), from, g.where(fields))
	if len(keys) > 0 {
		text += " group by " + g.pick(strings.Join(keys, ", "), strings.Join(keys, ", "), "rollup("+strings.Join(keys, ", ")+")", "cube("+strings.Join(keys, ", ")+")", "grouping sets (("+strings.Join(keys, ", ")+"), ("+keys[0]+"), ())", "all")
	}
	if g.chance(4) {
		text += " having " + g.pick("count(*) > 1", "max("+g.plainExpr(fields, "number")+") > 1", "not (sum("+g.column(fields, "number")+") < 2)", "min("+g.column(fields, "text")+") is null or count(*) between 1 and 3")
	}
	if !strings.HasSuffix(text, " all") && !strings.Contains(text, " by all having") && g.chance(8) {
		text += " qualify rank() over (order by " + g.pick("count(*)", "max("+g.column(fields, "number")+")") + g.pick("", " desc") + ") <= 2"
	}
	return text, kinds
}

// fold returns an aggregate of an expression of a kind, and the kind of its result.
func (g *generator) fold(e, kind string) (text, result string) {
	if kind == "number" && g.chance(12) {
		return fmt.Sprintf("%s(%s, [0.5, %s])[%s]", g.pick("quantile_cont", "quantile_disc"), e, g.pick("0.25", "1", "0.9"), g.pick("1", "2")), "double"
	}
	if kind == "number" && g.chance(3) {
		return g.pick("avg(", "stddev(", "var_pop(", "median(", "var_samp(", "stddev_pop(", "skewness(", "kurtosis(", "kurtosis_pop(") + e + ")", "double"
	}
	if kind == "number" && g.chance(8) {
		return g.pick("bit_and(", "bit_or(", "bit_xor(", "entropy(") + e + ")", "double"
	}
	if g.chance(10) {
		return "array_to_string(list(" + e + " order by " + e + g.pick("", " desc") + " nulls last)::varchar[], '-')", "text"
	}
	if g.chance(10) {
		return g.pick("first("+e+" order by "+e+")", "last("+e+" order by "+e+" desc)", "arg_max("+e+", "+e+")", "arg_min("+e+", "+e+")"), kind
	}
	if g.chance(8) {
		return "string_agg(" + e + "::varchar, '-' order by " + e + ")", "text"
	}
	if g.chance(8) {
		return g.pick("bool_and(", "bool_or(") + e + " is not null)", "bool"
	}
	if kind == "number" {
		return g.pick("sum("+e+")", "count("+e+")", "count(*)", "count(distinct "+e+")", "sum(distinct "+e+")", "max("+e+") - min("+e+")", "min("+e+")"), kind
	}
	return fmt.Sprintf("%s(%s)", g.pick("min", "max"), e), kind
}

// statement returns a statement, and whether the order of its rows is known.
func (g *generator) statement() string {
	text, kinds := g.selection()
	if g.chance(3) {
		return g.shape(text, kinds)
	}
	switch g.IntN(10) {
	case 9:
		return g.nearest()
	case 5:
		return g.twins()
	case 0:
		var items []string
		for i := range kinds {
			items = append(items, fmt.Sprintf("c%d", i))
		}
		from, fields := g.from(1)
		var others []string
		for i, kind := range kinds {
			others = append(others, fmt.Sprintf("%s as c%d", g.column(fields, kind), i))
		}
		return fmt.Sprintf("select %s from (%s) q0 %s select %s from %s", strings.Join(items, ", "), text, g.pick("union", "union all", "except", "intersect", "except all", "intersect all"), strings.Join(others, ", "), from)
	case 1:
		return fmt.Sprintf("with w as (%s) select x.c0, y.c0 from w x join w y on x.c0 = y.c0", text)
	case 2:
		return g.sorted(text, kinds)
	case 3:
		return g.lateral()
	case 4:
		return g.using()
	}
	return text
}

// sorted returns the first rows of a query in a total order.
func (g *generator) sorted(text string, kinds []string) string {
	var keys []string
	for i := range kinds {
		keys = append(keys, fmt.Sprintf("%s%s%s", g.pick(fmt.Sprintf("c%d", i), fmt.Sprint(i+1)), g.pick("", " desc", " asc"), g.pick("", " nulls first", " nulls last")))
	}
	g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	limit := g.pick(" limit 3", " limit 5 offset 2", " offset 4", "")
	if g.chance(3) {
		return fmt.Sprintf("select distinct on (c0) * from (%s) q0 order by c0, %s%s", text, strings.Join(keys, ", "), limit)
	}
	if g.chance(3) {
		return fmt.Sprintf("select count(*), min(c0) from (select * from (%s) q0 order by %s%s) q1", text, strings.Join(keys, ", "), limit)
	}
	return fmt.Sprintf("select * from (%s) q0 order by %s%s", text, strings.Join(keys, ", "), limit)
}

// named returns a table with an alias, and its columns.
func (g *generator) named(alias string) (text string, fields []field) {
	table := tables[g.IntN(3)]
	for _, c := range table.columns {
		name, kind, _ := strings.Cut(c, " ")
		fields = append(fields, field{alias + "." + name, kindOf[kind]})
	}
	return table.name + " " + alias, fields
}

// twins returns a query with a scalar subquery of the same tables, and mostly of the same conditions.
func (g *generator) twins() string {
	from, fields := g.named("p1")
	conditions := []string{"true"}
	if g.chance(2) {
		other, more := g.named("p2")
		from, fields = from+", "+other, append(fields, more...)
		conditions = append(conditions, "p1.k = p2.k")
	}
	for range g.IntN(2) {
		conditions = append(conditions, g.plain(fields))
	}
	twin := func(text string) string { return strings.NewReplacer("p1", "q1", "p2", "q2").Replace(text) }
	innerFrom, inner, value := twin(from), slices.Clone(conditions), twin(g.column(fields, "number"))
	if g.chance(4) {
		inner = append(inner, g.plain(fields))
	}
	key := g.pick("q1.k = p1.k", "p1.k = q1.k", "q1.k = r.k", "", "q1.k < p1.k")
	if strings.Contains(key, "r.k") || g.chance(4) {
		other, more := g.named("r")
		from, fields = from+", "+other, append(fields, more...)
		conditions = append(conditions, g.pick("p1.k = r.k", "r.k = p1.k", "p1.k = r.k and r.k > 0", "r.k + 1 = p1.k"))
	}
	for i := range inner {
		inner[i] = twin(inner[i])
	}
	where := " where " + strings.Join(inner, " and ")
	if key != "" {
		where += " and " + key
	}
	fold := g.pick("min(", "max(", "avg(", "1 + sum(", "count(", "max(1) - avg(") + value + ")"
	subquery := fmt.Sprintf("(select %s from %s%s)", fold, innerFrom, where)
	outer := fmt.Sprintf(" from %s where %s", from, strings.Join(conditions, " and "))
	number := g.ownColumn(fields, "number")
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("select p1.k as c0, %s as c1, %s as c2%s", number, subquery, outer)
	case 1:
		if key == "" {
			return fmt.Sprintf("select p1.k as c0, %s as c1%s group by p1.k having count(*) + 1 > %s", strings.ReplaceAll(fold, "q", "p"), outer, subquery)
		}
	}
	return fmt.Sprintf("select p1.k as c0, %s as c1%s and %s %s %s", number, outer, number, g.pick("<", ">=", "="), subquery)
}

// lateral returns a query with a subquery in FROM that depends on the table before it.
func (g *generator) lateral() string {
	text, fields := g.table()
	join := g.pick(", lateral ", " left join lateral ")
	var inner string
	g.outer = fields
	from, rows := g.from(1)
	switch g.IntN(3) {
	case 0:
		inner = fmt.Sprintf("select count(*) as p, max(%s) as q from %s%s", g.expr(rows, "number", 1), from, g.where(rows))
	case 1:
		inner = fmt.Sprintf("select %s as p, %s as q from %s%s", g.expr(rows, "number", 1), g.ownColumn(rows, "number"), from, g.where(rows))
	default:
		own := g.ownColumn(rows, "number")
		inner = fmt.Sprintf("select %s as p, %s as q from %s%s order by 1, 2 limit %d", g.expr(rows, "number", 1), own, from, g.where(rows), 1+g.IntN(2))
	}
	g.outer = nil
	on := ""
	if join != ", lateral " {
		on = " on true"
	}
	return fmt.Sprintf("select %s, l.p, l.q from %s%s(%s) l%s", g.column(fields, "number"), text, join, inner, on)
}

// nearest returns an ASOF join by unique keys of tables.
func (g *generator) nearest() string {
	left, right := g.pick("a", "b"), g.pick("a", "b")
	kind := g.pick("", "left ", "right ", "full ", "semi ")
	on := g.pick("", "x.k = y.k and ", "x.s = y.s and ", "x.k = y.k and x.id + 1 = y.id + 1 and ") + fmt.Sprintf("x.id %s y.id", g.pick(">=", ">", "<", "<="))
	items := "x.id, x.k, x.s"
	if kind != "semi " {
		items += ", y.id"
	}
	return fmt.Sprintf("select %s from %s x asof %sjoin %s y on %s", items, left, kind, right, on)
}

// using returns a join by columns of the same name.
func (g *generator) using() string {
	left, right := g.pick("a", "b", "c"), g.pick("a", "b", "c")
	by := g.pick("using (k)", "using (k)", "natural")
	if left != "c" && right != "c" && g.chance(2) {
		by = g.pick("using (k, s)", "using (id)", "using (m)")
	}
	kind := g.pick("join", "left join", "right join", "full join", "semi join", "anti join")
	items := "*"
	if strings.HasPrefix(by, "using (k") {
		items = g.pick("*", "k", "x.*", "k, count(*)", "k + 1")
	}
	if items == "k, count(*)" {
		by += " group by k"
	}
	if by == "natural" {
		return fmt.Sprintf("select * from %s x natural %s %s y", left, kind, right)
	}
	return fmt.Sprintf("select %s from %s x %s %s y %s", items, left, kind, right, by)
}
