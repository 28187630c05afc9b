package sql

import (
	"maps"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// A recursive common table expression is computed when its statement is translated: the first query, then the second
// one on the rows of the round before, until a round has no rows. With UNION a round leaves out the rows that are
// known.

// mostRounds is the limit of rounds of a recursion.
const mostRounds = 10_000

// recursion is a recursive common table expression.
type recursion struct {
	*translation
	common tree.CommonTable
	union  *tree.SetOperation
	// columns are those of the rows of all rounds.
	columns []*column
	schema  *arrow.Schema
	// records are the rows of the rounds, bytes their size.
	records []arrow.Record
	bytes   uint64
	// seen has all rows of UNION, and working those of the last round.
	seen, working *gpuframe.Frame
}

// recursive translates a common table expression that refers to itself. It reports whether it does.
func (t *translation) recursive(c tree.CommonTable) (rows *relation, ok bool) {
	isOwn := func(part tree.Node) (has bool) {
		tree.Walk(part, func(n tree.Node, _ int) bool {
			name, ok := n.(*tree.TableName)
			has = has || ok && len(name.Name) == 1 && strings.EqualFold(name.Name[0].Text, c.Name.Text)
			return !has
		})
		return has
	}
	if !isOwn(c.Query) {
		return nil, false
	}
	union, isUnion := c.Query.Body.(*tree.SetOperation)
	if !isUnion || union.Kind != tree.Union || union.ByName || isOwn(union.Left) {
		t.fail(c.Query, "a recursive query is a first query that does not refer to %q, UNION or UNION ALL, and one that does", c.Name.Text)
	}
	if c.Query.With != nil || c.Query.OrderBy != nil || c.Query.Limit != nil || c.Query.Offset != nil {
		t.fail(c.Query, "WITH, ORDER BY and LIMIT of a recursive query are not supported: write them in the query that uses it")
	}
	t.isVolatile = true
	r := &recursion{translation: t, common: c, union: union}
	defer r.release()
	return r.rows(), true
}

// release releases the rows on the device.
func (r *recursion) release() {
	for _, frame := range []*gpuframe.Frame{r.seen, r.working} {
		if frame != nil {
			_ = frame.Release() // a frame that nothing uses any more
		}
	}
}

// rows runs the rounds.
func (r *recursion) rows() *relation {
	first := r.body(&scope{}, r.union.Left)
	r.declare(&first)
	if !isForSchema(r.ctx) {
		r.round(r.selected(&first))
		for n := 1; r.working.NumRows() > 0; n++ {
			if n > mostRounds {
				r.fail(r.union, "the recursive query %q has more than %d rounds", r.common.Name.Text, mostRounds)
			}
			next := r.step(r.working.Query())
			r.round(r.selected(&next))
		}
	}
	return &relation{query: r.engine.Records(r.schema, r.records...), columns: r.columns}
}

// step translates the second query on the rows of a round. Its columns have the same names in all rounds, so that they
// have one plan.
func (r *recursion) step(working gpuframe.Query) output {
	common, taken := r.translation.common, r.taken
	r.translation.common = append(common[:len(common):len(common)], commonTable{r.common.Name.Text, &relation{query: working, columns: r.columns}})
	r.taken = maps.Clone(taken)
	defer func() { r.translation.common, r.taken = common, taken }()
	return r.body(&scope{}, r.union.Right)
}

// declare finds the columns: those of the first query with types that hold the values of both.
func (r *recursion) declare(first *output) {
	named := r.aliased(r.common.Name, &first.relation, tree.Alias{Name: r.common.Name, Columns: r.common.Columns}, "")
	types := make([]arrow.DataType, len(first.columns))
	for i, c := range first.columns {
		types[i] = r.settled(c.value()).dataType
	}
	for range 2 { // the second query may have wider types for wider columns
		r.columns = nil
		fields := make([]arrow.Field, len(types))
		for i, name := range distinctNames(named.columns) {
			r.columns = append(r.columns, &column{table: r.common.Name.Text, name: name, id: name, dataType: types[i]})
			fields[i] = arrow.Field{Name: name, Type: types[i], Nullable: true}
		}
		r.schema = arrow.NewSchema(fields, nil)
		second := r.step(r.engine.Records(r.schema))
		if len(second.columns) != len(first.columns) {
			r.fail(r.union, "the left side has %d columns, the right side %d", len(first.columns), len(second.columns))
		}
		for i, c := range second.columns {
			types[i] = r.alikeTypes(r.union, first.columns[i].value(), c.value())[0].dataType
		}
	}
}

// selected returns the columns of a round with the types of all.
func (r *recursion) selected(out *output) gpuframe.Query {
	list := make([]gpuframe.Expression, len(r.columns))
	for i, c := range r.columns {
		v := out.columns[i].value()
		if v.null || !arrow.TypeEqual(v.dataType, c.dataType) {
			v = r.convert(r.union, v, c.dataType)
		}
		list[i] = v.expr.As(c.id)
	}
	return out.query.Select(list)
}

// round computes the rows of a round and keeps them.
func (r *recursion) round(q gpuframe.Query) {
	if !r.union.All {
		q = q.Distinct()
		if r.seen != nil {
			q = q.Except(r.seen.Query())
		}
	}
	next := r.collected(q)
	if r.working != nil {
		_ = r.working.Release() // its rows are not read any more
	}
	r.working = next
	record, err := next.Record(r.ctx)
	if err != nil {
		panic(abort{err})
	}
	defer record.Release()
	r.records = append(r.records, array.NewRecord(r.schema, record.Columns(), record.NumRows()))
	r.bytes += next.Table().Bytes()
	if budget := r.engine.Manager().Stats().Budget; budget > 0 && r.bytes > budget {
		r.fail(r.union, "the rows of the recursive query %q take more than the budget of %s", r.common.Name.Text, humanize.IBytes(budget))
	}
	if r.union.All {
		return
	}
	all := next.Query()
	if r.seen != nil {
		all = r.seen.Query().Union(all)
	}
	seen := r.collected(all)
	if r.seen != nil {
		_ = r.seen.Release() // its rows are in the new table
	}
	r.seen = seen
}

func (r *recursion) collected(q gpuframe.Query) *gpuframe.Frame {
	frame, err := q.Collect(r.ctx)
	if err != nil {
		panic(abort{err})
	}
	return frame
}
