package plan

// Partial applies an operation of many rows to each of several parts of its input, so that
// the operation on all the results has the result of the operation on the input: an
// [Aggregate], a [Distinct], a [Slice], or a [Sort] with a limit. Tables of a partial Aggregate have the
// states of the groups, which [Merge] reads, instead of the columns of the schema.
type Partial struct {
	single
	operation Node
}

// newPartial makes partial results of an operation.
func newPartial(operation, input Node) *Partial {
	schema := operation.Schema()
	if operation.partialTables() == positionedRows {
		schema = withPosition(schema)
	}
	return &Partial{singleOf(input, schema), operation}
}

// Operation returns the operation.
func (p *Partial) Operation() Node { return p.operation }

// WithInputs implements [Node].
func (p *Partial) WithInputs(inputs ...Node) (Node, error) {
	operation, err := p.operation.WithInputs(inputs...)
	if err != nil {
		return nil, err
	}
	return newPartial(operation, inputs[0]), nil
}

// String implements [Node].
func (p *Partial) String() string { return "partial " + p.operation.String() }

func (p *Partial) holdsRows() bool { return false }

func (p *Partial) estimate(a *Analysis, _ Size) Size { return a.rowsOf(p.operation) }

// HasStates reports whether the tables of a node have the states of groups instead of the columns of its
// schema.
func HasStates(n Node) bool { return n.hasStates() }

func (p *Partial) hasStates() bool { return p.operation.partialTables() == partialStates }

// Merge makes the groups of an [Aggregate] of its partial results.
type Merge struct {
	single
	aggregate *Aggregate
}

// Aggregate returns the grouping. Its input has the schema of the rows that are grouped.
func (m *Merge) Aggregate() *Aggregate { return m.aggregate }

// WithInputs implements [Node].
func (m *Merge) WithInputs(inputs ...Node) (Node, error) {
	return &Merge{singleOf(inputs[0], m.schema), m.aggregate}, nil
}

// String implements [Node].
func (m *Merge) String() string { return "merge " + m.aggregate.String() }

func (m *Merge) estimate(a *Analysis, _ Size) Size { return a.rowsOf(m.aggregate) }
