package exprtree

import "github.com/apache/arrow/go/v17/arrow"

// Bound is the type under expr.Bound. A *expr.Bound converts to a *Bound, so operators
// get the program and the API of package expr has no internal types:
//
//	bound, err := expr.Bind(schema, predicate)
//	program := (*exprtree.Bound)(bound).Program()
type Bound struct {
	program *Program
	schema  *arrow.Schema
}

// NewBound returns the result of binding. The schema has a field for each output.
func NewBound(program *Program, schema *arrow.Schema) *Bound { return &Bound{program, schema} }

// Program returns the program that computes the expressions.
func (b *Bound) Program() *Program { return b.program }

// Schema returns the schema of the outputs.
func (b *Bound) Schema() *arrow.Schema { return b.schema }
