package expr

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Bound is the result of [Bind]: expressions with resolved columns and types. It is
// immutable and may be used from any goroutine.
type Bound exprtree.Bound

// Schema returns the schema of the table that [Project] makes of the expressions. All
// fields are nullable except for columns that are passed on; see [Expr.Type] for the
// nullability of an expression.
func (b *Bound) Schema() *arrow.Schema { return (*exprtree.Bound)(b).Schema() }

// Columns returns the indices of the schema's fields that the expressions read, each
// once, in ascending order.
func (b *Bound) Columns() []int {
	columns := slices.Clone((*exprtree.Bound)(b).Reads())
	slices.Sort(columns)
	return columns
}

// Type returns the type of the expression's values for tables of a schema, and whether
// a row can be null. It reports nullable false only if no row is null in tables that
// have no nulls in the fields that the schema declares as not nullable.
//
// # Errors
//
// The error is that of [Bind].
func (e Expr) Type(schema *arrow.Schema) (dataType arrow.DataType, nullable bool, err error) {
	if schema != nil && !e.hasSteps() {
		return typeOf(schema, e)
	}
	b, err := bind(schema, []Expr{e})
	if err != nil {
		return nil, false, err
	}
	can := b.program.Nullable(func(place int) bool { return b.extended.Field(place).Nullable })
	return b.program.Outputs[0].Type, can[0], nil
}
