package exprtree

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Bound is the type under expr.Bound. A *expr.Bound converts to a *Bound, so operators
// get the program and the API of package expr has no internal types:
//
//	bound, err := expr.Bind(schema, predicate)
//	program := (*exprtree.Bound)(bound).Program()
type Bound struct {
	program *Program
	schema  *arrow.Schema
	// steps is set if operators run before the program. fields is then the number of fields
	// of the table, and stepReads are those that the operators read.
	steps     bool
	fields    int
	stepReads []int
}

// NewBound returns the result of binding. The schema has a field for each output.
func NewBound(program *Program, schema *arrow.Schema) *Bound {
	return &Bound{program: program, schema: schema}
}

// Program returns the program that computes the expressions.
func (b *Bound) Program() *Program { return b.program }

// WithSteps returns the result of binding expressions with operators that run before the
// program. The program's inputs from number fields on are their results. reads are the
// fields that the operators read.
func (b *Bound) WithSteps(fields int, reads []int) *Bound {
	stepped := *b
	stepped.steps, stepped.fields, stepped.stepReads = true, fields, reads
	return &stepped
}

// HasSteps reports whether operators have to run before the program. Then only package expr
// can evaluate the expressions.
func (b *Bound) HasSteps() bool { return b.steps }

// Reads returns the fields that the expressions read, each once.
func (b *Bound) Reads() []int {
	if !b.steps {
		return b.program.Inputs
	}
	list := slices.Clone(b.stepReads)
	for _, place := range b.program.Inputs {
		if place < b.fields && !slices.Contains(list, place) {
			list = append(list, place)
		}
	}
	return list
}

// Schema returns the schema of the outputs.
func (b *Bound) Schema() *arrow.Schema { return b.schema }
