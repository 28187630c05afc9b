package gpuframe

import (
	"fmt"
	"runtime"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Query is a sequence of verbs on the rows of sources. It is immutable and lazy: each verb
// returns another Query, and nothing is read or checked before [Query.Collect],
// [Query.Batches] or [Query.Explain]. It may be used from any goroutine, run many times,
// and be part of several other queries. The zero Query has no rows and is an error when it
// is run.
type Query struct{ step *step }

// step is one verb of a query.
type step struct {
	engine *Engine
	// verb is the name of the method, by which plans are kept. at is the place of its call.
	verb string
	at   uintptr
	// place is named instead of verb and at, if it is set.
	place  *Place
	inputs []*step
	// arguments are those of the verb, or nil if plans with it are not kept. source is that of
	// the verb Table.
	arguments arguments
	source    source.Source
	// bind makes the plan's nodes on those of the inputs. It reports problems to the
	// binder, and returns nil if later verbs cannot be checked.
	bind func(b *binder, inputs []plan.Node) plan.Node
	// store keeps the rows of a Cache.
	store *exec.Store
	// prepared is the plan that this step was last bound to.
	prepared preparation
}

// then adds a verb. It must be called by the method that the user calls.
func (q Query) then(verb string, values arguments, bind func(b *binder, inputs []plan.Node) plan.Node, others ...Query) Query {
	s := &step{verb: verb, arguments: values, bind: bind}
	var frames [1]uintptr
	if runtime.Callers(3, frames[:]) > 0 {
		s.at = frames[0]
	}
	for _, input := range append([]Query{q}, others...) {
		if input.step == nil {
			return Query{}
		}
		if s.engine == nil {
			s.engine = input.step.engine
		}
		s.inputs = append(s.inputs, input.step)
	}
	return Query{s}
}

// Engine returns the engine that runs the query.
func (q Query) Engine() *Engine {
	if q.step == nil {
		return nil
	}
	return q.step.engine
}

// Filter keeps the rows in which all conditions are true, not false or null.
func (q Query) Filter(conditions ...Expression) Query {
	return q.then("Filter", arguments{conditions}, func(b *binder, inputs []plan.Node) plan.Node {
		n := inputs[0]
		for _, c := range conditions {
			n = b.filter(n, c.expression())
		}
		return n
	})
}

// Select keeps only the values of some expressions. If all of them are aggregates, the
// result is one row.
func (q Query) Select(expressions ...Expression) Query {
	return q.then("Select", arguments{expressions}, func(b *binder, inputs []plan.Node) plan.Node {
		list := unpack(expressions)
		if areAggregates(list) {
			return b.aggregate(inputs[0], nil, list, plan.GroupOptions{})
		}
		return b.project(inputs[0], nil, list)
	})
}

// With adds columns to all rows. A column with the name of one that exists replaces it.
func (q Query) With(expressions ...Expression) Query {
	return q.then("With", arguments{expressions}, func(b *binder, inputs []plan.Node) plan.Node {
		return b.project(inputs[0], inputs[0].Schema(), unpack(expressions))
	})
}

// Drop leaves out columns.
func (q Query) Drop(columns ...string) Query {
	return q.then("Drop", arguments{columns}, func(b *binder, inputs []plan.Node) plan.Node {
		return b.drop(inputs[0], columns)
	})
}

// Rename gives a column another name. It keeps its place.
func (q Query) Rename(from, to string) Query {
	return q.then("Rename", arguments{from, to}, func(b *binder, inputs []plan.Node) plan.Node {
		return b.rename(inputs[0], from, to)
	})
}

// Sort orders the rows: by the first key, rows with equal values by the second one, and so
// on. Rows with equal values in all keys keep their order.
func (q Query) Sort(keys ...Ordering) Query {
	return q.then("Sort", arguments{keys}, func(b *binder, inputs []plan.Node) plan.Node {
		return b.sort(inputs[0], keys, plan.All)
	})
}

// Top keeps the first n rows in the order of the keys.
func (q Query) Top(n int64, keys ...Ordering) Query {
	return q.then("Top", arguments{n, keys}, func(b *binder, inputs []plan.Node) plan.Node {
		if n < 0 {
			b.report(fmt.Errorf("the number of rows is %d, expected zero or more: %w", n, device.ErrInvalidValue))
			return inputs[0]
		}
		return b.sort(inputs[0], keys, n)
	})
}

// Head keeps the first n rows.
func (q Query) Head(n int64) Query {
	return q.then("Head", arguments{n}, func(b *binder, inputs []plan.Node) plan.Node { return b.slice(inputs[0], 0, n) })
}

// Tail keeps the last n rows.
func (q Query) Tail(n int64) Query {
	return q.then("Tail", arguments{n}, func(b *binder, inputs []plan.Node) plan.Node {
		if n <= 0 {
			return b.slice(inputs[0], 0, n)
		}
		return b.slice(inputs[0], -n, n)
	})
}

// Slice keeps length rows after the first offset rows.
func (q Query) Slice(offset, length int64) Query {
	return q.then("Slice", arguments{offset, length}, func(b *binder, inputs []plan.Node) plan.Node {
		if offset < 0 {
			b.report(fmt.Errorf("the offset is %d, expected zero or more: use Tail for the last rows: %w", offset, device.ErrInvalidValue))
			return inputs[0]
		}
		return b.slice(inputs[0], offset, length)
	})
}

// Distinct keeps, of rows with equal values in some columns, the first one. Without columns
// it compares all.
func (q Query) Distinct(columns ...string) Query {
	return q.then("Distinct", arguments{columns}, func(b *binder, inputs []plan.Node) plan.Node {
		n, err := plan.NewDistinct(inputs[0], columns...)
		return b.checked(n, err, inputs[0], columns...)
	})
}

// Union adds the rows of other queries after those of q. All have columns of the same names
// and types.
func (q Query) Union(others ...Query) Query {
	return q.then("Union", arguments{}, func(b *binder, inputs []plan.Node) plan.Node {
		n, err := plan.NewUnion(inputs...)
		return b.checked(n, err, inputs[0])
	}, others...)
}

// DropNulls leaves out rows with a null in some columns. Without columns it looks at all.
func (q Query) DropNulls(columns ...string) Query {
	return q.then("DropNulls", arguments{columns}, func(b *binder, inputs []plan.Node) plan.Node {
		list := columns
		if len(list) == 0 {
			list = names(inputs[0].Schema())
		}
		return b.dropNulls(inputs[0], list)
	})
}

// FillNull replaces nulls by a value in some columns.
func (q Query) FillNull(value any, columns ...string) Query {
	return q.then("FillNull", nil, func(b *binder, inputs []plan.Node) plan.Node {
		filled := make([]Expr, len(columns))
		for i, name := range columns {
			filled[i] = Col(name).FillNull(value)
		}
		return b.project(inputs[0], inputs[0].Schema(), filled)
	})
}

// Grouped is the rows of a query divided into groups.
type Grouped struct {
	query   Query
	keys    []Expression
	options plan.GroupOptions
}

// GroupBy divides the rows into groups with equal keys. Null is a key like any other.
func (q Query) GroupBy(keys ...Expression) Grouped { return Grouped{query: q, keys: keys} }

// DropNulls leaves out rows with a null key.
func (g Grouped) DropNulls() Grouped {
	g.options.DropNulls = true
	return g
}

// Agg makes a row for each group: its keys, and the values of expressions of aggregates.
// The order of the rows is not specified, but the same in every run; use Sort for another.
func (g Grouped) Agg(expressions ...Expression) Query {
	return g.query.then("Agg", arguments{g.keys, expressions, g.options}, func(b *binder, inputs []plan.Node) plan.Node {
		return b.aggregate(inputs[0], unpack(g.keys), unpack(expressions), g.options)
	})
}

// unpack returns the expressions of arguments. Nil is the zero Expr, which is refused when it
// is bound.
func unpack(list []Expression) []Expr {
	unpacked := make([]Expr, len(list))
	for i, e := range list {
		if e != nil {
			unpacked[i] = e.expression()
		}
	}
	return unpacked
}
