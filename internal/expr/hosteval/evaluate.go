package hosteval

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Evaluate computes the program's outputs from the first rows elements of its inputs.
// inputs has one array per input of the program, of the same type. The caller releases
// the results. The context is checked every few thousand rows.
func Evaluate(ctx context.Context, program *exprtree.Program, inputs []arrow.Array, rows int) ([]arrow.Array, error) {
	return evaluate(ctx, program, inputs, 0, rows)
}

// evaluate is Evaluate for rows of which the first one has a number, for messages.
func evaluate(ctx context.Context, program *exprtree.Program, inputs []arrow.Array, first, rows int) ([]arrow.Array, error) {
	if len(inputs) != len(program.Inputs) {
		return nil, fmt.Errorf("host evaluation: %d inputs of %d: %w", len(inputs), len(program.Inputs), arrow.ErrInvalid)
	}
	e := &evaluation{ctx: ctx, inputs: inputs, first: first, rows: rows, results: make(map[*exprtree.Node]arrow.Array), texts: make(map[*exprtree.Node][][]byte), left: bytesLeft(ctx)}
	defer e.release()
	uses := make(map[*exprtree.Node]int)
	for _, n := range program.Nodes {
		for _, argument := range n.Arguments {
			uses[argument]++
		}
	}
	for _, output := range program.Outputs {
		uses[output]++ // keeps the output until the end
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
	if e.failure != nil {
		hostarray.Release(results)
		return nil, fmt.Errorf("host evaluation: %w", e.failure)
	}
	return results, nil
}

// evaluation is one run of a program.
type evaluation struct {
	ctx     context.Context
	inputs  []arrow.Array
	first   int // the number of the first row
	rows    int
	results map[*exprtree.Node]arrow.Array
	// texts are the results that are strings, nil for null. They may share the memory of
	// the inputs.
	texts map[*exprtree.Node][][]byte
	// failure is the first error of a loop: invalid contents of an input, or the end of
	// the context.
	failure error
	// left is the number of bytes that strings may still take, or nil without a limit.
	left *atomic.Int64
}

// fail records an error. The loop that fails may return any result.
func (e *evaluation) fail(err error) {
	if e.failure == nil {
		e.failure = err
	}
}

func (e *evaluation) release() {
	for _, result := range e.results {
		result.Release()
	}
}

func (e *evaluation) drop(n *exprtree.Node) {
	if result := e.results[n]; result != nil {
		result.Release()
		delete(e.results, n)
	}
	delete(e.texts, n)
}

// array returns a reference to a node's result.
func (e *evaluation) array(n *exprtree.Node) arrow.Array {
	if n.Kind() == exprtree.String && n.Op != exprtree.Column {
		return e.textArray(n)
	}
	if n.Op == exprtree.Literal {
		return e.spread(n)
	}
	e.results[n].Retain()
	return e.results[n]
}

func (e *evaluation) run(n *exprtree.Node) error {
	if n.Op == exprtree.Literal {
		return nil
	}
	if e.ctx.Err() != nil {
		return cancel.Error(e.ctx)
	}
	if n.Op == exprtree.Column {
		input := e.inputs[n.Input]
		if input.Len() < e.rows {
			return fmt.Errorf("input %d has %d of %d rows: %w", n.Input, input.Len(), e.rows, arrow.ErrInvalid)
		}
		e.results[n] = array.NewSlice(input, 0, int64(e.rows))
		hostarray.MakeDictionaries(e.results[n]) // callers may read it from several goroutines
		return nil
	}
	if n.Op.Nulls() == exprtree.Strict {
		for _, argument := range n.Arguments {
			if argument.IsNullLiteral() {
				if n.Kind() == exprtree.String {
					e.texts[n] = make([][]byte, e.rows)
				} else {
					e.results[n] = e.nulls(n.Type)
				}
				return nil
			}
		}
	}
	if n.Kind() == exprtree.String {
		if e.texts[n] = e.textValues(n); e.texts[n] == nil && e.rows > 0 {
			return fmt.Errorf("of %v: %w", n.Type, arrow.ErrNotImplemented)
		}
		return e.failure
	}
	result, err := e.compute(n)
	if err != nil {
		return err
	}
	e.results[n] = result
	return e.failure
}

func (e *evaluation) compute(n *exprtree.Node) (arrow.Array, error) {
	switch n.Op.Family() {
	case exprtree.Casts:
		return e.cast(n), nil
	case exprtree.Orders, exprtree.Affixes:
		return e.compare(n), nil
	case exprtree.Logic:
		return e.logic(n), nil
	case exprtree.NullTests:
		return e.nullness(n), nil
	case exprtree.NaNTests:
		return e.isNaN(n), nil
	case exprtree.Choices, exprtree.Extremes:
		return e.choose(n), nil
	case exprtree.Hashes:
		return e.hash(n), nil
	case exprtree.Moves:
		return e.moveInstant(n), nil
	case exprtree.DateParts:
		return e.datePart(n), nil
	case exprtree.Measures:
		if result := e.textScan(n); result != nil {
			return result, nil
		}
	}
	if result := e.arithmetic(n); result != nil {
		return result, nil
	}
	return nil, fmt.Errorf("of %v: %w", n.Type, arrow.ErrNotImplemented)
}
