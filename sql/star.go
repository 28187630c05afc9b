package sql

import (
	"cmp"
	"fmt"
	"regexp"
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
		if expanded, ok := t.eachColumn(rows, i); ok {
			items = append(items, expanded...)
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

// eachColumn returns the items of COLUMNS(…), alone or as an argument of a function: one for each column with a name
// that matches. ok is false for other items.
func (t *translation) eachColumn(rows *relation, i tree.Item) (items []item, ok bool) {
	at, isAlone := i.Expr.(*tree.Columns)
	call, isCall := i.Expr.(*tree.Call)
	place := -1
	if isCall {
		place = slices.IndexFunc(call.Args, func(a tree.Arg) bool { _, ok := a.Expr.(*tree.Columns); return ok })
	}
	switch {
	case place >= 0:
		at = call.Args[place].Expr.(*tree.Columns)
	case !isAlone:
		return nil, false
	}
	for _, match := range t.matching(rows, at) {
		if isAlone {
			match.name, match.given = cmp.Or(i.Name.Text, match.name), i.Name.Text != ""
			items = append(items, match)
			continue
		}
		own := *call
		own.Args = slices.Clone(call.Args)
		own.Args[place].Expr = &tree.Column{Position: at.Position, Name: []tree.Name{{Position: at.Position, Text: match.column.table}, {Position: at.Position, Text: match.column.name}}}
		items = append(items, item{expr: &own, name: cmp.Or(i.Name.Text, nameOf(&own)), given: i.Name.Text != ""})
	}
	return items, true
}

// matching returns the columns of COLUMNS(…): those of a star, or with a name that a regular expression matches.
func (t *translation) matching(rows *relation, at *tree.Columns) (items []item) {
	if at.Unpack {
		t.fail(at, "*COLUMNS is not supported: list the columns")
	}
	star, isStar := at.Of.(*tree.Star)
	if !isStar {
		star = &tree.Star{Position: at.Position}
	}
	items = t.star(rows, star)
	if !isStar {
		written := t.literalText(at, t.expr(&scope{rows: &relation{}, clause: "COLUMNS"}, at.Of), "the pattern of COLUMNS")
		pattern, err := regexp.Compile(written)
		if err != nil {
			t.fail(at, "%q is no regular expression: %v", written, err)
		}
		items = slices.DeleteFunc(items, func(i item) bool { return !pattern.MatchString(i.name) })
	}
	if len(items) == 0 {
		t.fail(at, "COLUMNS stands for no column")
	}
	if slices.ContainsFunc(items, func(i item) bool { return i.column == nil }) {
		t.fail(at, "COLUMNS with REPLACE is not supported")
	}
	return items
}

// namesLike returns a function that reports whether the name of a column matches a pattern, which may be nil.
func (t *translation) namesLike(l *tree.Like) func(name string) bool {
	if l == nil {
		return func(string) bool { return true }
	}
	written := t.literalText(l, t.expr(&scope{rows: &relation{}, clause: "the pattern of a star"}, l.Pattern), "the pattern")
	if l.Escape != nil {
		t.fail(l.Escape, "ESCAPE in the pattern of a star is not supported")
	}
	regex := "^(?s:" + strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(written)) + ")$"
	switch l.Kind {
	case tree.ILikePattern:
		regex = "(?i)" + regex
	case tree.GlobPattern:
		regex = globRegex(written)
	case tree.SimilarPattern, tree.RegexPattern:
		regex = "^(?:" + written + ")$"
	}
	pattern, err := regexp.Compile(regex)
	if err != nil {
		t.fail(l, "%q is no pattern: %v", written, err)
	}
	return func(name string) bool { return pattern.MatchString(name) != l.Not }
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
	isWanted := t.namesLike(star.Like)
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
		if !isWanted(c.name) {
			continue
		}
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
