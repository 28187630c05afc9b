package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// PositionName is the name of the column of a [Position].
var PositionName = Computed("position")

// Position yields the rows of its input with a further column: numbers in the order that the rows
// have in a plan for one device, with gaps. It is in plans of [Distribute] only, below an exchange,
// so that the rows can be put in order after it.
type Position struct{ single }

// NewPosition makes a node that adds positions.
func NewPosition(input Node) *Position {
	return &Position{singleOf(input, withPosition(input.Schema()))}
}

// withPosition returns a schema with the column of a [Position].
func withPosition(schema *arrow.Schema) *arrow.Schema {
	return arrow.NewSchema(append(slices.Clone(schema.Fields()), arrow.Field{Name: PositionName, Type: arrow.PrimitiveTypes.Int64}), nil)
}

// WithInputs implements [Node].
func (p *Position) WithInputs(inputs ...Node) (Node, error) { return NewPosition(inputs[0]), nil }

// String implements [Node].
func (p *Position) String() string { return "add positions" }

func (p *Position) holdsRows() bool { return false }

func (p *Position) rowNumbers() rowNumbers { return inputNumbers }
