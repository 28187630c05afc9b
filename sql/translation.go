package sql

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// translation makes the query of one statement. Its methods end with [translation.fail] if something is
// wrong.
type translation struct {
	ctx       context.Context
	session   *Session
	engine    *gpuframe.Engine
	text      string
	arguments []any
	// taken counts the columns of each name, so that no two columns of the statement share one.
	taken map[string]int
	// common are the common table expressions in view, the inner ones last.
	common []commonTable
	// nested counts the subqueries around the one at hand.
	nested int
	// steps counts the expressions and queries that were translated.
	steps int
	// isVolatile is set if the statement may have another query the next time, although no name has changed.
	isVolatile bool
}

// mostNested is the limit of subqueries that refer to the rows of others, within each other.
const mostNested = 8

// A statement has at most leastSteps steps and stepsPerByte for each byte of its text: parts of a statement are
// translated more than once if subqueries depend on others, and each level doubles that.
const leastSteps, stepsPerByte = 100_000, 64

// step counts an expression or a query, and ends the translation if they are too many, or with its context.
func (t *translation) step(at tree.Node) {
	t.steps++
	if t.steps > leastSteps+stepsPerByte*len(t.text) {
		t.fail(at, "the statement has too many subqueries or aliases within each other: give inner ones a name by WITH")
	}
	if t.steps%256 == 0 && t.ctx.Err() != nil {
		panic(abort{t.ctx.Err()})
	}
}

// unique returns a name that no other column of the statement has.
func (t *translation) unique(name string) string {
	name = cmp.Or(name, "column")
	key := strings.ToLower(name)
	t.taken[key]++
	if n := t.taken[key]; n > 1 {
		return t.unique(fmt.Sprintf("%s:%d", name, n))
	}
	return name
}

// schema returns the columns of a query.
func (t *translation) schema(at tree.Node, q gpuframe.Query) *arrow.Schema {
	schema, err := q.Schema(t.ctx)
	if err != nil {
		if t.ctx.Err() != nil {
			panic(abort{err})
		}
		t.failAs(at, err)
	}
	return schema
}

// folded returns the value of a function of literals, which is computed now if texts are among them: functions
// of text are of columns.
func (t *translation) folded(at tree.Node, f func(list []gpuframe.Expr) gpuframe.Expr, arguments []value) (v value, ok bool) {
	for _, a := range arguments {
		if !a.isConstant() || a.interval != nil {
			return v, false
		}
		_, isText := a.constant.(string)
		ok = ok || isText
	}
	if !ok {
		return v, false
	}
	exprs := make([]gpuframe.Expr, len(arguments))
	q := t.oneRow()
	for i, a := range arguments {
		exprs[i] = a.expr
		if written, isText := a.constant.(string); isText {
			builder := array.NewStringBuilder(memory.DefaultAllocator)
			builder.Append(written)
			name := t.unique("literal")
			q = q.Join(t.recordOf(name, textType, builder), gpuframe.Cross)
			exprs[i] = gpuframe.Col(name)
			builder.Release()
		}
	}
	q = q.Select(f(exprs).As("value"))
	dataType := t.schema(at, q).Field(0).Type
	var result any
	switch {
	case isText(dataType):
		result = t.single(at, q, func(a arrow.Array) any { return a.ValueStr(0) })
	case isBool(dataType):
		result = t.single(at, q, func(a arrow.Array) any { return a.(*array.Boolean).Value(0) })
	case dataType.ID() == arrow.INT64:
		result = t.single(at, q, func(a arrow.Array) any { return a.(*array.Int64).Value(0) })
	default:
		return v, false
	}
	if result == nil {
		return t.nullOf(dataType), true
	}
	return constant(result), true
}

// single runs a query of one row and one column, and returns the value, or nil for null.
func (t *translation) single(at tree.Node, q gpuframe.Query, read func(a arrow.Array) any) (result any) {
	frame, err := q.Collect(t.ctx)
	if err != nil {
		t.failAs(at, err)
	}
	record, err := releasedRecord(t.ctx, frame)
	if err != nil {
		panic(abort{err})
	}
	defer record.Release()
	if record.Column(0).IsValid(0) {
		result = read(record.Column(0))
	}
	return result
}

// typed returns the value of a function of other values, with the type that gpuframe gives it.
func (t *translation) typed(at tree.Node, f func(list []gpuframe.Expr) gpuframe.Expr, arguments ...value) value {
	if v, ok := t.folded(at, f, arguments); ok {
		return v
	}
	result := value{uses: columnSet{}}
	probes, exprs := make([]gpuframe.Expr, len(arguments)), make([]gpuframe.Expr, len(arguments))
	fields := make([]arrow.Field, 0, len(arguments))
	for i, a := range arguments {
		if a.interval != nil {
			t.fail(at, "an interval can be added to or subtracted from a date or timestamp, and nothing else")
		}
		exprs[i], probes[i] = a.expr, a.expr
		if !a.isConstant() {
			name := fmt.Sprintf("argument %d", i+1)
			fields = append(fields, arrow.Field{Name: name, Type: concreteType(a.dataType), Nullable: true})
			probes[i] = gpuframe.Col(name)
		}
		result.uses.add(a.uses)
	}
	result.expr, result.dataType = f(exprs), t.typeOfExpr(at, fields, f(probes))
	return result
}

// typeOfExpr returns the type of an expression of columns.
func (t *translation) typeOfExpr(at tree.Node, fields []arrow.Field, e gpuframe.Expr) arrow.DataType {
	var key strings.Builder
	for _, f := range fields {
		key.WriteString(f.Name)
		key.WriteString(f.Type.String())
	}
	key.WriteString(e.String())
	known := &t.session.types
	if dataType, ok := known.find(key.String()); ok {
		return dataType
	}
	if len(fields) == 0 {
		fields = []arrow.Field{{Name: "argument 0", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}
	}
	dataType := t.schema(at, t.engine.Records(arrow.NewSchema(fields, nil)).Select(e.As("value"))).Field(0).Type
	known.keep(key.String(), dataType)
	return dataType
}
