package hosteval

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/cancel"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// Evaluate computes the program's outputs from its inputs, of which only the first
// rows elements count. There is an input for each of the program's, of its type. The
// caller releases the results. The context is looked at between operations.
func Evaluate(ctx context.Context, program *tree.Program, inputs []arrow.Array, rows int) ([]arrow.Array, error) {
	if len(inputs) != len(program.Inputs) {
		return nil, fmt.Errorf("host evaluation: %d inputs of %d: %w", len(inputs), len(program.Inputs), arrow.ErrInvalid)
	}
	e := &evaluation{ctx: ctx, inputs: inputs, rows: rows, results: make(map[*tree.Node]arrow.Array)}
	defer e.release()
	uses := make(map[*tree.Node]int)
	for _, n := range program.Nodes {
		for _, argument := range n.Arguments {
			uses[argument]++
		}
	}
	for _, output := range program.Outputs {
		uses[output]++ // never let go of
	}
	for _, n := range program.Nodes {
		if err := e.run(n); err != nil {
			return nil, fmt.Errorf("host evaluation: %v: %w", n.Op, err)
		}
		for _, argument := range n.Arguments {
			if uses[argument]--; uses[argument] == 0 {
				e.drop(argument)
			}
		}
	}
	results := make([]arrow.Array, len(program.Outputs))
	for i, output := range program.Outputs {
		results[i] = e.array(output)
	}
	return results, nil
}

// evaluation is one run of a program.
type evaluation struct {
	ctx     context.Context
	inputs  []arrow.Array
	rows    int
	results map[*tree.Node]arrow.Array
	// unsound is the first fault that was met in the contents of an input.
	unsound error
}

// refuse notes a fault in the contents of an input.
func (e *evaluation) refuse(fault error) {
	if e.unsound == nil {
		e.unsound = fault
	}
}

func (e *evaluation) release() {
	for _, result := range e.results {
		result.Release()
	}
}

func (e *evaluation) drop(n *tree.Node) {
	if result := e.results[n]; result != nil {
		result.Release()
		delete(e.results, n)
	}
}

// array returns a reference to a node's result.
func (e *evaluation) array(n *tree.Node) arrow.Array {
	if n.Op == tree.Literal {
		return e.spread(n)
	}
	e.results[n].Retain()
	return e.results[n]
}

func (e *evaluation) run(n *tree.Node) error {
	if n.Op == tree.Literal {
		return nil
	}
	if e.ctx.Err() != nil {
		return cancel.Error(e.ctx)
	}
	if n.Op == tree.Column {
		input := e.inputs[n.Input]
		if input.Len() < e.rows {
			return fmt.Errorf("input %d has %d of %d rows: %w", n.Input, input.Len(), e.rows, arrow.ErrInvalid)
		}
		e.results[n] = array.NewSlice(input, 0, int64(e.rows))
		return nil
	}
	if e.strict(n) {
		for _, argument := range n.Arguments {
			if argument.IsNullLiteral() {
				e.results[n] = e.nulls(n.Type)
				return nil
			}
		}
	}
	result, err := e.compute(n)
	if err != nil {
		return err
	}
	e.results[n] = result
	return e.unsound
}

// strict reports whether the result is null wherever an operand is.
func (e *evaluation) strict(n *tree.Node) bool {
	switch n.Op {
	case tree.And, tree.Or, tree.IsNull, tree.IsValid, tree.Coalesce, tree.IfElse, tree.Minimum, tree.Maximum, tree.Hash:
		return false
	}
	return true
}

func (e *evaluation) compute(n *tree.Node) (arrow.Array, error) {
	if name, options := e.function(n); name != "" {
		return e.call(n, name, options)
	}
	switch n.Op {
	case tree.Cast, tree.CastWrap:
		return e.cast(n), nil
	case tree.Equal, tree.NotEqual, tree.Less, tree.LessEqual, tree.Greater, tree.GreaterEqual, tree.StartsWith, tree.EndsWith:
		return e.compare(n), nil
	case tree.AndStrict, tree.OrStrict, tree.Xor, tree.Not, tree.And, tree.Or:
		return e.logic(n), nil
	case tree.IsNull, tree.IsValid:
		return e.nullness(n), nil
	case tree.IsNaN:
		return e.isNaN(n), nil
	case tree.Coalesce, tree.IfElse, tree.Minimum, tree.Maximum:
		return e.choose(n), nil
	case tree.Hash:
		return e.hash(n), nil
	case tree.Year, tree.Quarter, tree.Month, tree.Day, tree.DayOfYear, tree.Weekday, tree.Hour, tree.Minute, tree.Second, tree.Subsecond:
		return e.datePart(n), nil
	}
	if result := e.arithmetic(n); result != nil {
		return result, nil
	}
	return nil, fmt.Errorf("of %v: %w", n.Type, arrow.ErrNotImplemented)
}
