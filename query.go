package gpuframe

import (
	"runtime"

	"github.com/gpuframe/gpuframe/internal/query/bind"
)

// Query is a sequence of verbs on the rows of sources. It is immutable and lazy: each verb
// returns another Query, and nothing is read or checked before [Query.Collect],
// [Query.Batches] or [Query.Explain]. It may be used from any goroutine, run many times,
// and be part of several other queries. The zero Query has no rows and is an error when it
// is run.
type Query struct {
	engine *Engine
	step   *bind.Step
}

// then adds a verb. It must be called by the method that the user calls.
func (q Query) then(verb bind.Verb, others ...Query) Query {
	inputs := make([]*bind.Step, 0, 1+len(others))
	for _, input := range append([]Query{q}, others...) {
		if input.step == nil {
			return Query{}
		}
		inputs = append(inputs, input.step)
	}
	return Query{q.engine, bind.NewStep(verb, caller(), inputs...)}
}

// caller returns the place of the call of the method of the user that calls a function that calls this one.
func caller() uintptr {
	var frames [1]uintptr
	runtime.Callers(4, frames[:])
	return frames[0]
}

// Engine returns the engine that runs the query.
func (q Query) Engine() *Engine { return q.engine }

// InMemory reports whether all rows that the query reads are in memory: those of tables, records, Go values and host
// tables, not of files, stores or readers. Its columns are the same at each run.
func (q Query) InMemory() bool { return q.step != nil && q.step.IsFixed() }

// Filter keeps the rows in which all conditions are true, not false or null.
func (q Query) Filter(conditions ...Expression) Query {
	return q.then(bind.Filter(arguments(conditions)))
}

// Require keeps all rows. The run fails if the condition is false or null for one that it reads, with an error that
// wraps failure: errors.Is and errors.As find it. Operations above Require do not reduce the rows that it checks,
// except that a run which needs no more rows, as after Head, stops reading. If failure has the methods Column() string
// and Of(value string) error, the error is instead that of Of with the value of the column in a row that does not meet
// the condition.
func (q Query) Require(condition Expression, failure error) Query {
	return q.then(bind.Require(arguments([]Expression{condition})[0], failure))
}

// Select keeps only some columns and the values of expressions. If all of them are aggregates, the
// result is one row.
func (q Query) Select(columns ...Key) Query {
	return q.then(bind.Select(keysOf(columns)))
}

// With adds columns to all rows. A column with the name of one that exists replaces it.
func (q Query) With(expressions ...Expression) Query {
	return q.then(bind.With("With", arguments(expressions)))
}

// Drop leaves out columns.
func (q Query) Drop(columns ...string) Query { return q.then(bind.Drop(columns)) }

// Rename gives a column another name. It keeps its place.
func (q Query) Rename(from, to string) Query { return q.then(bind.Rename(from, to)) }

// Sort orders the rows: by the first key, rows with equal values by the second one, and so
// on. Rows with equal values in all keys keep their order.
func (q Query) Sort(keys ...Ordering) Query { return q.then(bind.Sort(orders(keys))) }

// Top keeps the first n rows in the order of the keys.
func (q Query) Top(n int64, keys ...Ordering) Query { return q.then(bind.Top(n, orders(keys))) }

// Head keeps the first n rows.
func (q Query) Head(n int64) Query { return q.then(bind.Head(n)) }

// Tail keeps the last n rows.
func (q Query) Tail(n int64) Query { return q.then(bind.Tail(n)) }

// Slice keeps length rows after the first offset rows.
func (q Query) Slice(offset, length int64) Query { return q.then(bind.Slice(offset, length)) }

// Distinct keeps, of rows with equal values in some columns, the first one. Without columns
// it compares all.
func (q Query) Distinct(columns ...string) Query { return q.then(bind.Distinct(columns)) }

// Union adds the rows of other queries after those of q. All have columns of the same names
// and types.
func (q Query) Union(others ...Query) Query { return q.then(bind.Union(), others...) }

// DropNulls leaves out rows with a null in some columns. Without columns it looks at all.
func (q Query) DropNulls(columns ...string) Query { return q.then(bind.DropNulls(columns)) }

// FillNull replaces nulls by a value in some columns.
func (q Query) FillNull(value any, columns ...string) Query {
	filled := make([]bind.Expr, len(columns))
	for i, name := range columns {
		filled[i] = Col(name).FillNull(value).bound()
	}
	return q.then(bind.With("FillNull", filled))
}

// unpack returns the expressions of arguments. Nil is the zero Expr, which is refused when it
// is bound.
func unpack(list []Expression) []Expr {
	unpacked := make([]Expr, len(list))
	for i, e := range list {
		unpacked[i] = expressionOf(e)
	}
	return unpacked
}

// arguments returns expressions as arguments of verbs.
func arguments(list []Expression) []bind.Expr {
	bound := make([]bind.Expr, len(list))
	for i, e := range unpack(list) {
		bound[i] = e.bound()
	}
	return bound
}
