package bind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// binder makes the plan of a query. It goes on after a problem, to report all of them.
type binder struct {
	ctx      context.Context
	at       *Step
	bound    map[*Step]plan.Node
	problems Problems
	// trees are the expressions of the verb at hand.
	trees []expr.Expr
	// missing are columns that a verb with a problem would have made. Later expressions on
	// them are not reported again.
	missing map[string]bool
	// described has sources that were described at the same time.
	described map[source.Source]source.Description
	// shape, if it is not nil, has the slots that stand for the tables.
	shape *shape
}

// standIn returns the slot for a source of tables, or the source.
func (b *binder) standIn(original source.Source) source.Source {
	if b.shape == nil {
		return original
	}
	return b.shape.slots[slices.Index(b.shape.sources, original)]
}

// Bind returns the plan of a query, not optimized. A nil step is a query without a source.
func (s *Step) Bind(ctx context.Context) (plan.Node, error) { return s.bind(ctx, nil) }

// bind is [Step.Bind]. With a shape the plan has its slots.
func (s *Step) bind(ctx context.Context, slots *shape) (plan.Node, error) {
	if s == nil {
		return nil, Problems{{Place{Verb: "Query"}, errNoSource}}
	}
	b := binder{ctx: ctx, bound: map[*Step]plan.Node{}, missing: map[string]bool{}, shape: slots}
	b.described = source.DescribeRemote(ctx, s.sources())
	n := b.bind(s)
	if ctx.Err() != nil {
		return nil, cancel.Error(ctx)
	}
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	return n, nil
}

// sources returns the sources of a query. One that was not opened is nil.
func (s *Step) sources() (list []source.Source) {
	visited := map[*Step]bool{}
	var visit func(s *Step)
	visit = func(s *Step) {
		if visited[s] {
			return
		}
		visited[s] = true
		if len(s.inputs) == 0 && !slices.Contains(list, s.source) {
			list = append(list, s.source)
		}
		for _, input := range s.inputs {
			visit(input)
		}
	}
	visit(s)
	return list
}

// bind returns the node of a step, or nil. A step that several others use becomes one node.
func (b *binder) bind(s *Step) plan.Node {
	if n, ok := b.bound[s]; ok {
		return n
	}
	inputs := make([]plan.Node, len(s.inputs))
	complete := true
	for i, input := range s.inputs {
		inputs[i] = b.bind(input)
		complete = complete && inputs[i] != nil
	}
	var n plan.Node
	b.at = s
	for _, input := range s.inputs {
		if input.planner != s.planner {
			b.report(fmt.Errorf("the queries belong to different engines: make both with methods of one: %w", device.ErrInvalidValue))
			complete = false
		}
	}
	if complete && b.ctx.Err() == nil {
		b.trees = nil
		problems := len(b.problems)
		n = s.verb.bind(b, inputs)
		if len(b.problems) == problems {
			b.prepare()
		}
	}
	b.bound[s] = n
	return n
}

// prepare prepares the operators of the expressions of the step at hand, which takes long for
// patterns, and reports one that is too large.
func (b *binder) prepare() {
	if err := expr.Prepare(b.ctx, b.trees...); err != nil {
		b.report(plan.ReadableError(err))
	}
}

// report adds a problem of the step at hand, once.
func (b *binder) report(err error) {
	if call := (*callError)(nil); errors.As(err, &call) {
		err = call
	}
	problem := Problem{b.at.Place(), err}
	same := func(p Problem) bool { return p.Place == problem.Place && p.Err.Error() == err.Error() }
	if !slices.ContainsFunc(b.problems, same) {
		b.problems = append(b.problems, problem)
	}
}

// checked reports an error about some columns, and returns the node or, instead of one that
// failed, another one.
func (b *binder) checked(n plan.Node, err error, instead plan.Node, columns ...string) plan.Node {
	if err == nil {
		return n
	}
	b.reportUnless(err, columns)
	return instead
}

// reportUnless reports an error, unless one of the columns is missing because of an error
// that was reported.
func (b *binder) reportUnless(err error, columns []string) {
	if !slices.ContainsFunc(columns, func(name string) bool { return b.missing[name] }) {
		b.report(err)
	}
}

// check reports an expression that does not fit a schema. None does after the end of the context.
func (b *binder) check(e expr.Expr, schema *arrow.Schema) bool {
	if b.ctx.Err() != nil {
		return false
	}
	_, _, err := e.Type(schema)
	if err != nil {
		b.reportUnless(plan.ReadableError(err), e.Columns())
	}
	return err == nil
}

// names returns the names of columns.
func names(schema *arrow.Schema) []string {
	list := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		list[i] = f.Name
	}
	return list
}

func hasColumn(schema *arrow.Schema, name string) bool { return len(schema.FieldIndices(name)) > 0 }
