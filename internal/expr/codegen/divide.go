package codegen

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// divide returns a program in halves, each with some of the outputs and the columns that they read, if its columns and
// literals are too many for the arguments of one kernel. It returns none for a program that fits, or that has one output.
func divide(program *exprtree.Program, inputs []*column.Column) ([]*subprogram, error) {
	const wordsOfInput = 9 // at most: a nullable dictionary of nullable strings
	words := wordsOfInput * len(program.Types)
	for _, literal := range program.Literals {
		words += 2 + literalOf(literal).words()
	}
	if len(program.Outputs) < 2 || words <= mostWords {
		return nil, nil
	}
	shape, err := ShapeOf(program, inputs)
	if err != nil || positionsOf(program, shape).words <= mostWords {
		return nil, err
	}
	s := &stager{types: program.Types, inputs: inputs}
	half := len(program.Outputs) / 2
	return []*subprogram{s.part(program.Outputs[:half]), s.part(program.Outputs[half:])}, nil
}

// runParts runs the parts of a program, one kernel after another, and returns the outputs of all.
func runParts(call op.Call, parts []*subprogram, rows memory.Slice[int64], capacity int) (results []*column.Column, err error) {
	for _, part := range parts {
		columns, err := Run(call, part.program(), part.inputs, rows, capacity)
		if err != nil {
			return nil, errors.Join(err, release.All(results))
		}
		results = append(results, columns...)
	}
	return results, nil
}
