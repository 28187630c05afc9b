package querytest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// SQLMacros defines what [Case.SQL] uses, for DuckDB: integers of 32 and 64 bits that wrap
// around, and sums that are null if they do not fit 64 bits.
const SQLMacros = `
create macro wrap32(x) as cast(((x + 2147483648) % 4294967296 + 4294967296) % 4294967296 - 2147483648 as integer);
create macro wrap64(x) as cast(((x + 9223372036854775808::hugeint) % 18446744073709551616::hugeint + 18446744073709551616::hugeint) % 18446744073709551616::hugeint - 9223372036854775808::hugeint as bigint);
create macro fit64(x) as try_cast(x as bigint);
`

// rowOrder is the column by which the rows of each step are ordered. It has no negative values.
const rowOrder = `"row order"`

var sqlTypes = [kinds]string{"boolean", "integer", "bigint", "double", "varchar", "varchar"}

// quoted is a name in SQL.
func quoted(name string) string { return `"` + name + `"` }

func quotedList(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quoted(name)
	}
	return strings.Join(list, ", ")
}

// literalSQL is a value of a kind in SQL.
func literalSQL(k Kind, value any) string {
	text := "null"
	switch value := value.(type) {
	case string:
		text = "'" + value + "'"
	case float64:
		text = "'" + strings.Replace(strconv.FormatFloat(value, 'g', -1, 64), "+Inf", "inf", 1) + "'"
		if math.IsNaN(value) {
			text = "'nan'"
		}
	case bool, int64:
		text = fmt.Sprint(value)
	}
	return "cast(" + text + " as " + sqlTypes[k] + ")"
}

// inSQL adds a statement for a state. It selects the columns in their order, and rowOrder.
func (g *generator) inSQL(s state, format string, arguments ...any) state {
	s.sql = fmt.Sprint("step", len(*g.steps))
	*g.steps = append(*g.steps, s.sql+" as ("+fmt.Sprintf(format, arguments...)+")")
	return s
}

// statement returns the query of a state.
func (g *generator) statement(s state) string {
	return fmt.Sprintf("with %s\nselect %s from %s order by %s", strings.Join(*g.steps, ",\n"), quotedList(s.table.names()), s.sql, rowOrder)
}

// sourceSQL selects the rows of a source.
func sourceSQL(t *Table) string {
	names, list := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = fmt.Sprint("v", i)
		list[i] = fmt.Sprintf("%s as %s", names[i], quoted(c.Name))
	}
	rows := make([]string, 0, len(t.Rows)+1)
	for i, row := range append(slices.Clone(t.Rows), make(Row, len(t.Columns))) {
		values := make([]string, len(row))
		for j, value := range row {
			values[j] = literalSQL(t.Columns[j].Kind, value)
		}
		rows = append(rows, fmt.Sprintf("(%s, %d)", strings.Join(values, ", "), i))
	}
	// The last row has the types of a source without rows.
	return fmt.Sprintf("select %s, n as %s from (values %s) v(%s, n) where n < %d",
		strings.Join(list, ", "), rowOrder, strings.Join(rows, ", "), strings.Join(names, ", "), len(t.Rows))
}

// projected selects computed columns of a state.
func (g *generator) projected(to, from state, columns []computed) state {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = fmt.Sprintf("cast(%s as %s) as %s", c.sql, sqlTypes[c.Kind], quoted(c.Name))
	}
	return g.inSQL(to, "select %s, %s from %s", strings.Join(list, ", "), rowOrder, from.sql)
}

// keyed selects the rows of a state, with keys in further columns, whose list is second.
func keyed(from state, keys []expression) (rows, list string) {
	names := make([]string, len(keys))
	computed := ""
	for i, k := range keys {
		names[i] = fmt.Sprint("key ", i)
		computed += fmt.Sprintf(", cast(%s as %s) as %s", k.sql, sqlTypes[k.kind], quoted(names[i]))
	}
	return fmt.Sprintf("(select *%s from %s)", computed, from.sql), quotedList(names)
}

// groupedSQL aggregates groups.
func (g *generator) groupedSQL(to, from state, keys []expression, dropNulls bool, aggregates []string) state {
	rows, names := keyed(from, keys)
	var list []string
	for i, c := range to.table.Columns {
		value := fmt.Sprintf(`"key %d"`, i)
		if i >= len(keys) {
			value = fmt.Sprintf("cast(%s as %s)", aggregates[i-len(keys)], sqlTypes[c.Kind])
		}
		list = append(list, value+" as "+quoted(c.Name))
	}
	where := "true"
	if dropNulls {
		where = strings.ReplaceAll(names, ",", " is not null and") + " is not null"
	}
	return g.inSQL(to, "select %s, row_number() over () as %s from %s where %s group by %s", strings.Join(list, ", "), rowOrder, rows, where, names)
}

// orderedSQL is the keys of a sort, with the order of the rows behind.
func orderedSQL(keys []sortKey) string {
	text := ""
	for _, k := range keys {
		text += k.sql
		if k.descending {
			text += " desc"
		}
		if k.nullsFirst {
			text += " nulls first, "
		} else {
			text += " nulls last, "
		}
	}
	return text + rowOrder
}

// unionSQL adds the rows of states in their order.
func (g *generator) unionSQL(to state, parts ...string) state {
	text := ""
	for i, part := range parts {
		if i > 0 {
			text += " union all "
		}
		text += fmt.Sprintf("select %s, %d as part, %s from %s", quotedList(to.table.names()), i, rowOrder, part)
	}
	return g.inSQL(to, "select %s, row_number() over (order by part, %s) as %s from (%s)", quotedList(to.table.names()), rowOrder, rowOrder, text)
}

// joinedSQL joins two states, whose columns get the names of the result. It returns the sides
// and the condition.
func (j *joined) sides(left, right state) (leftRows, rightRows, on string) {
	list := fmt.Sprintf(`%s as "right order"`, rowOrder)
	for i, at := range j.rest {
		list += fmt.Sprintf(", %s as %s", quoted(j.right.Columns[at].Name), quoted(j.both[len(j.left.Columns)+i].Name))
	}
	conditions := []string{"true"}
	equals := "="
	if j.nulls {
		equals = "is not distinct from"
	}
	for i, k := range j.rightKeys {
		list += fmt.Sprintf(`, %s as "right key %d"`, k.sql, i)
		conditions = append(conditions, fmt.Sprintf(`%s %s "right key %d"`, j.leftKeys[i].sql, equals, i))
	}
	if j.where != nil {
		conditions = append(conditions, j.where.sql)
	}
	leftRows = fmt.Sprintf(`(select %s, %s as "left order" from %s)`, quotedList(j.left.names()), rowOrder, left.sql)
	return leftRows, fmt.Sprintf("(select %s from %s)", list, right.sql), strings.Join(conditions, " and ")
}

// sharedKey returns the number of the keys that are one column of a name, or -1.
func (j *joined) sharedKey(name string) int {
	return slices.IndexFunc(j.leftKeys, func(k expression) bool { return k.expr.Name() == name && slices.Contains(j.shared, name) })
}

// inSQL joins by SQL.
func (j *joined) inSQL(g *generator, to, left, right state) state {
	leftRows, rightRows, on := j.sides(left, right)
	switch j.kind.String() {
	case "semi", "anti":
		not := ""
		if j.kind.String() == "anti" {
			not = "not "
		}
		return g.inSQL(to, `select %s, "left order" as %s from %s where %sexists (select 1 from %s where %s)`, quotedList(j.left.names()), rowOrder, leftRows, not, rightRows, on)
	}
	list := make([]string, len(j.both))
	for i, c := range j.both {
		list[i] = quoted(c.Name)
		if at := j.sharedKey(c.Name); at >= 0 {
			list[i] = fmt.Sprintf(`case when "left order" is null then "right key %d" else %s end as %s`, at, list[i], list[i])
		}
	}
	kind := j.kind.String()
	if kind == "cross" {
		kind = "inner"
	}
	return g.inSQL(to, `select %s, row_number() over (order by "left order" nulls last, "right order") as %s from %s %s join %s on %s`,
		strings.Join(list, ", "), rowOrder, leftRows, kind, rightRows, on)
}
