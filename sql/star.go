package sql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// items returns the items of SELECT, with stars as the columns that they stand for.
func (t *translation) items(rows *relation, list []tree.Item) (items []item) {
	for _, i := range list {
		if star, ok := i.Expr.(*tree.Star); ok {
			items = append(items, t.star(rows, star)...)
			continue
		}
		name := i.Name.Text
		if name == "" {
			name = t.declaredName(rows, i.Expr)
		}
		items = append(items, item{expr: i.Expr, name: name, given: i.Name.Text != ""})
	}
	if len(items) == 0 {
		t.fail(list[0].Expr, "the star stands for no column: FROM has no table, or all are excluded")
	}
	return items
}

// declaredName returns the name of the column of an expression without an alias: that of a column as it was
// declared.
func (t *translation) declaredName(rows *relation, e tree.Expr) string {
	if named, ok := e.(*tree.Column); ok {
		if c, fields := t.local(rows, named, named.Name); c != nil && len(fields) == 0 {
			return c.name
		}
	}
	return nameOf(e)
}

// star returns the columns that a star stands for.
func (t *translation) star(rows *relation, star *tree.Star) (items []item) {
	if star.Like != nil {
		t.fail(star, "* LIKE is not supported: list the columns, or use * EXCLUDE (…)")
	}
	table := ""
	if len(star.Table) > 0 {
		table = star.Table[len(star.Table)-1].Text
	}
	used := map[string]bool{}
	hasTable := table == ""
	for _, c := range rows.columns {
		if table == "" && c.merged || table != "" && !strings.EqualFold(c.table, table) {
			continue
		}
		hasTable = true
		if excluded := nameAmong(star.Exclude, c); excluded != "" {
			used[excluded] = true
			continue
		}
		items = append(items, t.starItem(star, c, used))
	}
	if !hasTable {
		var tables []string
		for _, c := range rows.columns {
			tables = append(tables, c.table)
		}
		t.fail(star, "%s", names.Unknown("table of FROM", table, tables))
	}
	t.checkStar(star, rows, used)
	return items
}

// starItem returns the item of a column of a star.
func (t *translation) starItem(star *tree.Star, c *column, used map[string]bool) item {
	for _, r := range star.Replace {
		if strings.EqualFold(r.Name.Text, c.name) {
			used[strings.ToLower(r.Name.Text)] = true
			return item{expr: r.Expr, name: c.name}
		}
	}
	name := c.name
	for _, r := range star.Rename {
		if from, ok := r.Expr.(*tree.Column); ok && strings.EqualFold(from.Name[len(from.Name)-1].Text, c.name) {
			used[strings.ToLower(c.name)] = true
			name = r.Name.Text
		}
	}
	return item{expr: star, name: name, column: c}
}

// nameAmong returns the name of EXCLUDE that a column has, in lower case, or nothing.
func nameAmong(excluded [][]tree.Name, c *column) string {
	for _, name := range excluded {
		if strings.EqualFold(name[len(name)-1].Text, c.name) && (len(name) == 1 || strings.EqualFold(name[len(name)-2].Text, c.table)) {
			return strings.ToLower(text(name))
		}
	}
	return ""
}

// checkStar reports names of EXCLUDE, REPLACE and RENAME that no column has.
func (t *translation) checkStar(star *tree.Star, rows *relation, used map[string]bool) {
	var candidates []string
	for _, c := range rows.columns {
		candidates = append(candidates, c.name)
	}
	for _, name := range star.Exclude {
		if !used[strings.ToLower(text(name))] {
			t.fail(name[0], "%s", names.Unknown("column", text(name), candidates))
		}
	}
	for _, r := range star.Replace {
		if !used[strings.ToLower(r.Name.Text)] {
			t.fail(r.Name, "%s", names.Unknown("column", r.Name.Text, candidates))
		}
	}
	for _, r := range star.Rename {
		if from, ok := r.Expr.(*tree.Column); ok && !used[strings.ToLower(from.Name[len(from.Name)-1].Text)] {
			t.fail(from, "%s", names.Unknown("column", text(from.Name), candidates))
		}
	}
}

// nameOf returns the name of the column of an expression without an alias.
func nameOf(e tree.Expr) string {
	switch e := e.(type) {
	case *tree.Column:
		return e.Name[len(e.Name)-1].Text
	case *tree.Cast:
		return nameOf(e.X)
	case *tree.Literal:
		return cmp.Or(e.Text, map[tree.LiteralKind]string{tree.Null: "NULL", tree.True: "true", tree.False: "false"}[e.Kind], "''")
	case *tree.Call:
		if e.Star {
			return strings.ToLower(text(e.Name)) + "_star()"
		}
		arguments := make([]string, len(e.Args))
		for i, a := range e.Args {
			arguments[i] = nameOf(a.Expr)
		}
		return fmt.Sprintf("%s(%s)", strings.ToLower(text(e.Name)), strings.Join(arguments, ", "))
	case *tree.Binary:
		return fmt.Sprintf("(%s %s %s)", nameOf(e.X), e.Op, nameOf(e.Y))
	case *tree.Unary:
		return e.Op + nameOf(e.X)
	case *tree.FieldOf:
		return e.Name.Text
	case *tree.Scalar:
		return "subquery"
	case *tree.Case:
		return "case"
	}
	return "expression"
}

// distinctNames returns names that are all different: a repeated one gets a number.
func distinctNames(columns []*column) []string {
	taken := map[string]bool{}
	list := make([]string, len(columns))
	for i, c := range columns {
		name := c.name
		for n := 1; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", c.name, n)
		}
		taken[strings.ToLower(name)] = true
		list[i] = name
	}
	return slices.Clip(list)
}
