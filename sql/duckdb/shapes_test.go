package duckdb

import (
	"fmt"
	"strings"
)

// derivedTable returns a query in FROM with the columns c0, c1, …, and their kinds.
func (g *generator) derivedTable() (text string, kinds []string) {
	text, kinds = g.selection()
	switch g.IntN(6) {
	case 0:
		return g.chain(text, kinds), kinds
	case 1:
		return fmt.Sprintf("%s order by all limit %d", text, 1+g.IntN(9)), kinds
	case 2:
		return fmt.Sprintf("with w%d as (%s) select * from w%[1]d", g.aliases, text), kinds
	}
	return text, kinds
}

// columnNames returns c0, c1, … for each kind.
func columnNames(kinds []string) []string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return names
}

// chain returns set operations of queries with the same kinds of columns.
func (g *generator) chain(text string, kinds []string) string {
	for range 1 + g.IntN(3) {
		from, fields := g.from(1)
		items := make([]string, len(kinds))
		for i, kind := range kinds {
			items[i] = fmt.Sprintf("%s as c%d", g.plainExpr(fields, kind), i)
		}
		right := fmt.Sprintf("select %s from %s%s", strings.Join(items, ", "), from, g.where(fields))
		if g.chance(3) {
			right = "(" + right + ")"
		}
		operation := g.pick("union", "union all", "except", "intersect", "except all", "intersect all")
		if g.chance(6) {
			operation = g.pick("union by name", "union all by name")
			g.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			right = fmt.Sprintf("(select %s from %s)", strings.Join(items, ", "), from)
		}
		text = fmt.Sprintf("(%s) %s %s", text, operation, right)
	}
	return text
}

// shape returns a statement of another form than SELECT of a table.
func (g *generator) shape(text string, kinds []string) string {
	names := strings.Join(columnNames(kinds), ", ")
	switch g.IntN(10) {
	case 0:
		return fmt.Sprintf("%s order by %s%s", g.chain(text, kinds), g.pick(names, "all", "1", "c0 desc nulls first")+"", g.pick(" limit 1000", ""))
	case 1:
		return g.lists()
	case 2:
		return g.asOf()
	case 3:
		return g.pivots()
	case 4:
		return g.recursion()
	case 5:
		return g.windows()
	case 6:
		items := g.pick("* exclude (c0), c0", "* replace (c0 as c0)", "* rename (c0 as z)", "columns('c.*')", "count(columns(*))", "min(columns('c0'))", "q.*")
		return fmt.Sprintf("select %s from (%s) q", items, text)
	case 7:
		from, fields := g.from(1)
		on := fmt.Sprintf("q.c0 is not distinct from %s", g.column(fields, kinds[0]))
		return fmt.Sprintf("with q as (%s) select q.c0, %s from q %s join %s on %s", text, g.column(fields, "number"), g.pick("", "left", "full", "right"), from, on)
	case 8:
		return fmt.Sprintf("with q as (%s), r(z) as (select c0 from q group by c0 %s) select * from r", text, g.pick("", "having count(*) > 1", "union all select c0 from q", "order by 1 limit 2"))
	}
	return fmt.Sprintf("select count(*), count(distinct c0), min(c0) from (%s) q where (select count(*) from (%s) p where p.c0 = q.c0) %s 1", text, text, g.pick(">", "=", "<"))
}

// lists returns a statement with lists or structs.
func (g *generator) lists() string {
	from, fields := g.from(1)
	value, key := g.column(fields, g.pick("number", "text", "date")), g.column(fields, "number")
	inner := fmt.Sprintf("select %s as k, list(%s order by %[2]s) as l, min({'p': %[1]s, 'q': %[2]s}.q) as s from %s%s group by 1", key, value, from, g.where(fields))
	item := g.pick("l[1]", "l[2]", "l[-1]", "len(l)", "l[1:2]", "l[2:]", "l", "unnest(l)", "s", "list_contains(l, l[1])", "l is null", "len(l[1:2])", "{'a': k, 'b': l[1]}.b", "unnest(l[1:2])", "len(list_sort(l))", "list_reverse(l)", "l[k]", "l[-1:] || l", "case when k > 1 then l end", "coalesce(case when k = 1 then l end, [])", "list_zip(l, [l[1]])[2][1]", "unnest(l), unnest(l[2:])", "unnest([k]), unnest(l)",
		"list_transform(list_zip(l, list_reverse(l)), e -> e[1] = e[2])", "flatten([l, l[1:1]])", "l = list_reverse(l)", "[l, null, []]", "list_select(l, [2, 1])", "l < l[2:]", "list_resize(l, 2)", "list_filter([l, []], e -> len(e) > 1)")
	if g.chance(4) {
		return fmt.Sprintf("select k, u.e from (%s) x, unnest(x.l) u(e) where %s", inner, g.pick("true", "u.e is not null", "k > 0"))
	}
	if g.chance(8) {
		other := fmt.Sprintf("select %s, [%s]", key, value)
		return fmt.Sprintf("select k, l from (%s) x union all %s from %s", inner, g.pick(other, "select null, null", "select 1, []", "select 2, [null]"), from)
	}
	return fmt.Sprintf("select k, %s as c1 from (%s) x", item, inner)
}

// asOf returns an as-of join by a column that names each row.
func (g *generator) asOf() string {
	left, right := g.pick("a", "b"), g.pick("a", "b")
	key := g.pick("", "l.k = r.k and ", "l.s = r.s and l.k = r.k and ")
	return fmt.Sprintf("select l.id, r.id, r.m from %s l asof %sjoin %s r on %sl.%s %s r.id", left, g.pick("", "left "), right, key, g.pick("id", "k"), g.pick(">=", ">", "<", "<="))
}

// pivots returns PIVOT or UNPIVOT.
func (g *generator) pivots() string {
	table := g.pick("a", "(select * from a where f)", "(select * exclude (id) from a)")
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("pivot %s on %s using %s group by %s", table, g.pick("k in (0, 1, 2)", "s in ('a', 'Oslo', '')", "f in (true, false)"), g.pick("sum(x)", "count(*)", "min(d)", "max(x) as p, count(y) as q"), g.pick("f", "s", "k, f"))
	case 1:
		return fmt.Sprintf("unpivot (select id, %s from a) on %s into name n value v", g.pick("x, k", "k, x"), g.pick("x, k", "* exclude (id)"))
	}
	return fmt.Sprintf("select n, %s from (select id, s, x, k from a) unpivot %s(v for n in (x, k)) group by n", g.pick("sum(v)", "count(*)", "min(v)"), g.pick("", "include nulls "))
}

// recursion returns a recursive query.
func (g *generator) recursion() string {
	union := g.pick("union", "union all")
	step, end := 1+g.IntN(3), 3+g.IntN(20)
	if g.chance(2) {
		return fmt.Sprintf("with recursive t(n, m) as (select %s, %s %s select n + %d, %s from t where n < %d) select %s from t", g.pick("0", "1", "-2"), g.pick("0", "1"), union, step, g.pick("m + n", "m * 2", "m"), end, g.pick("*", "sum(n), max(m)", "n % 3, count(*)")+"") +
			g.pick("", " group by all")
	}
	return fmt.Sprintf("with recursive t as (select id, k from a where id < %d union select a.id, a.k from a join t on a.%s = t.%s and a.id > t.id) select %s from t", 1+g.IntN(4), g.pick("k", "x"), g.pick("k", "id"), g.pick("*", "count(*)", "k, min(id)")) +
		g.pick(" group by all", " group by all", "")
}

// windows returns a statement with named windows and frames.
func (g *generator) windows() string {
	table := g.pick("a", "b")
	by, order := g.pick("", "partition by k ", "partition by s "), g.pick("id", "id desc", "k, id", "s desc nulls first, id")
	frame := g.pick("", "", fmt.Sprintf(" rows between %s and %s", g.pick("unbounded preceding", "2 preceding", "1 following"), g.pick("3 following", "unbounded following")),
		fmt.Sprintf(" rows between %s and %s", g.pick("unbounded preceding", "3 preceding"), g.pick("current row", "1 preceding")))
	if strings.HasPrefix(order, "id") && g.chance(2) {
		frame = fmt.Sprintf(" range between %s and %s", g.pick("unbounded preceding", "4 preceding", "current row"), g.pick("2 following", "unbounded following", "current row"))
	}
	value := g.pick("k", "m", "id", "s", "k + id")
	f := g.pick("min", "max", "count", "first_value", "last_value")
	if value != "s" {
		f = g.pick("sum", "avg", f)
	}
	call := f + "(" + value + ")"
	isValue := strings.Contains(f, "_value")
	switch g.IntN(6) {
	case 0:
		call, frame = g.pick("row_number()", "rank()", "ntile(4)", "lag("+value+", 2)", "lead("+value+")", "cume_dist()", "lag(k, 1, 7)"), ""
	case 1:
		call = "nth_value(" + value + ", 2)"
	case 2:
		call = g.pick("first_value", "last_value") + "(" + value + " ignore nulls)"
	case 3:
		if call += " filter (where k > 0)"; isValue {
			call = "count(*) filter (where k > 0)"
		}
	}
	return fmt.Sprintf("select id, %s over w as p, count(*) over w as q from %s window w as (%sorder by %s%s)%s", call, table, by, order, frame, g.pick("", " qualify p is not null", " order by id limit 100"))
}
