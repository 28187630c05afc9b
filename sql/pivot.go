package sql

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// mostPivoted is the limit of values of PIVOT that the text does not list.
const mostPivoted = 1000

// pivoted translates PIVOT as groups with aggregates that have FILTER: one for each value.
func (t *translation) pivoted(s *scope, item *tree.Pivot) *relation {
	rows := t.assemble(t.tables(s, item.Table))
	before := t.common
	defer func() { t.common = before }()
	hidden := t.unique("rows of pivot")
	t.common = append(before[:len(before):len(before)], commonTable{hidden, rows})
	from := []tree.Table{&tree.TableName{Position: item.Position, Name: []tree.Name{{Position: item.Position, Text: hidden}}}}
	groups := &tree.Select{Position: item.Position, From: from}
	for _, key := range t.pivotKeys(rows, item) {
		groups.Items = append(groups.Items, tree.Item{Expr: key})
		if groups.GroupBy == nil {
			groups.GroupBy = &tree.GroupBy{Position: item.Position}
		}
		groups.GroupBy.Keys = append(groups.GroupBy.Keys, tree.GroupKey{Position: item.Position, Exprs: []tree.Expr{key}})
	}
	if len(item.On) != 1 {
		t.fail(item, "PIVOT by %d columns is not supported, expected 1: use aggregates with FILTER", len(item.On))
	}
	values := item.On[0].Values
	if len(values) == 0 {
		values = t.pivotValues(item, from)
	}
	for _, v := range values {
		groups.Items = append(groups.Items, t.pivotItems(item, v)...)
	}
	return t.derived(s, &tree.Query{Position: item.Position, Body: groups})
}

// pivotKeys returns the keys of the groups: without GROUP BY, the columns that nothing else refers to.
func (t *translation) pivotKeys(rows *relation, item *tree.Pivot) []tree.Expr {
	if len(item.GroupBy) > 0 {
		return item.GroupBy
	}
	used := map[*column]bool{}
	mark := func(n tree.Node) bool {
		if named, ok := n.(*tree.Column); ok {
			c, _ := t.local(rows, named, named.Name)
			used[c] = true
		}
		return true
	}
	for _, on := range item.On {
		walk(on.Expr, mark)
	}
	for _, a := range item.Aggregates {
		walk(a.Expr, mark)
	}
	var keys []tree.Expr
	for _, c := range rows.columns {
		if !used[c] && !c.merged {
			keys = append(keys, &tree.Column{Position: item.Position, Name: []tree.Name{{Position: item.Position, Text: c.name}}})
		}
	}
	return keys
}

// pivotItems returns the aggregates of a value.
func (t *translation) pivotItems(item *tree.Pivot, v tree.Item) (items []tree.Item) {
	name := v.Name.Text
	if name == "" {
		name = parse.Format(v.Expr)
		if written, ok := v.Expr.(*tree.Literal); ok {
			name = written.Text
		}
	}
	aggregates := item.Aggregates
	if len(aggregates) == 0 {
		aggregates = []tree.Item{{Expr: &tree.Call{Position: item.Position, Name: []tree.Name{{Text: "count"}}, Star: true}}}
	}
	for _, a := range aggregates {
		call, ok := a.Expr.(*tree.Call)
		if !ok || call.Over != nil || !isAggregate(strings.ToLower(text(call.Name))) {
			t.fail(a.Expr, "PIVOT has an expression that is no aggregate: other expressions are not supported here")
		}
		filtered := *call
		var filter tree.Expr = &tree.Binary{Position: call.Position, Op: "=", X: item.On[0].Expr, Y: v.Expr}
		if call.Filter != nil {
			filter = &tree.Logic{Position: call.Position, Terms: []tree.Expr{call.Filter, filter}}
		}
		filtered.Filter = filter
		full := name
		if a.Name.Text != "" {
			full += "_" + a.Name.Text
		} else if len(aggregates) > 1 {
			full += "_" + nameOf(call)
		}
		items = append(items, tree.Item{Expr: &filtered, Name: tree.Name{Position: call.Position, Text: full}})
	}
	return items
}

// pivotValues returns the values of the column of PIVOT in the order of their texts, as DuckDB does. It runs a query.
func (t *translation) pivotValues(item *tree.Pivot, from []tree.Table) (list []tree.Item) {
	on := item.On[0]
	if on.Query != nil || on.Enum.Text != "" {
		t.fail(item, "values of PIVOT by a query or a type are not supported: list them")
	}
	isValid := &tree.Is{Position: item.Position, X: on.Expr, Not: true}
	distinct := &tree.Select{Position: item.Position, Distinct: &tree.Distinct{Position: item.Position}, Items: []tree.Item{{Expr: on.Expr}}, From: from, Where: isValid}
	out := t.query(&scope{}, &tree.Query{Position: item.Position, Body: distinct})
	c := out.columns[0]
	t.isVolatile = true
	frame, err := out.query.Top(mostPivoted+1, gpuframe.Col(c.id).Asc()).Collect(t.ctx)
	if err != nil {
		panic(abort{err})
	}
	record, err := releasedRecord(t.ctx, frame)
	if err != nil {
		panic(abort{err})
	}
	defer record.Release()
	if record.NumRows() > mostPivoted {
		t.fail(item, "PIVOT has more than %d values: list some of them with IN", mostPivoted)
	}
	for i := range int(record.NumRows()) {
		name := tree.Name{Position: item.Position, Text: record.Column(0).ValueStr(i)}
		list = append(list, tree.Item{Expr: t.literalOf(on.Expr, record.Column(0), i), Name: name})
	}
	slices.SortFunc(list, func(a, b tree.Item) int { return strings.Compare(a.Name.Text, b.Name.Text) })
	return list
}

// releasedRecord returns the rows of a frame, which it releases.
func releasedRecord(ctx context.Context, frame *gpuframe.Frame) (arrow.Record, error) {
	record, err := frame.Record(ctx)
	return record, errors.Join(err, frame.Release())
}

// literalOf returns a value of an array as a literal.
func (t *translation) literalOf(at tree.Expr, a arrow.Array, i int) tree.Expr {
	position := at.Pos()
	switch a := a.(type) {
	case *array.String:
		return &tree.Literal{Position: position, Kind: tree.Text, Text: a.Value(i)}
	case *array.Boolean:
		return &tree.Literal{Position: position, Kind: map[bool]tree.LiteralKind{true: tree.True, false: tree.False}[a.Value(i)], Text: a.ValueStr(i)}
	}
	if !isInteger(a.DataType()) {
		t.fail(at, "PIVOT by values of type %s is not supported without a list: list them with IN", typeName(a.DataType()))
	}
	digits, isNegative := strings.CutPrefix(a.ValueStr(i), "-")
	number := &tree.Literal{Position: position, Kind: tree.Integer, Text: digits}
	if isNegative {
		return &tree.Unary{Position: position, Op: "-", X: number}
	}
	return number
}

// unpivoted translates UNPIVOT: a row for each of some columns.
func (t *translation) unpivoted(s *scope, item *tree.Unpivot) *relation {
	rows := t.assemble(t.tables(s, item.Table))
	if len(item.Values) != 1 {
		t.fail(item, "UNPIVOT into %d columns of values is not supported, expected 1", len(item.Values))
	}
	wide := t.below(s, rows, "UNPIVOT")
	var values []value
	var columns []string
	used := map[*column]bool{}
	for _, i := range t.items(rows, item.Columns) {
		v := t.itemValue(wide, i)
		c := columnOf(v)
		if c == nil || slices.Contains(columns, i.name) {
			t.fail(i.expr, "UNPIVOT has an expression that is no column of its own: other expressions are not supported here")
		}
		values, columns, used[c] = append(values, v), append(columns, i.name), true
	}
	values = t.alike(item, values)
	var list []gpuframe.Expression
	var keep []string
	out := &relation{}
	for _, c := range rows.columns {
		if !used[c] && !c.merged {
			kept := *c
			kept.id = t.unique("kept")
			list, keep = append(list, gpuframe.Col(c.id).As(kept.id)), append(keep, kept.id)
			out.columns = append(out.columns, &kept)
		}
	}
	for i, v := range values {
		list = append(list, v.expr.As(columns[i]))
	}
	name := &column{name: item.Name.Text, id: t.unique(item.Name.Text), dataType: textType}
	each := &column{name: item.Values[0].Text, id: t.unique(item.Values[0].Text), dataType: values[0].dataType}
	out.columns = append(out.columns, name, each)
	long := rows.query.Select(list).Unpivot(columns, keep...)
	selected := []gpuframe.Expression{gpuframe.Col("variable").As(name.id), gpuframe.Col("value").As(each.id)}
	for _, id := range keep {
		selected = append(selected, gpuframe.Col(id))
	}
	if out.query = long.Select(selected); !item.IncludeNulls {
		out.query = out.query.Filter(gpuframe.Col(each.id).IsValid())
	}
	return out
}
