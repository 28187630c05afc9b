package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Project yields rows of the values of expressions.
type Project struct {
	single
	expressions []expr.Expr
}

// NewProject makes a projection. The columns are named by the expressions.
func NewProject(input Node, expressions ...expr.Expr) (*Project, error) {
	fields := make([]arrow.Field, len(expressions))
	for i, e := range expressions {
		t, nullable, err := e.Type(input.Schema())
		if err != nil {
			return nil, err
		}
		fields[i] = arrow.Field{Name: e.Name(), Type: t, Nullable: nullable}
		if name, ok := plainColumn(e); ok {
			from, err := fieldOf(input.Schema(), name)
			if err != nil {
				return nil, err
			}
			fields[i].Metadata = from.Metadata
		}
	}
	schema := arrow.NewSchema(fields, nil)
	if err := checkNames(schema); err != nil {
		return nil, err
	}
	return &Project{singleOf(input, schema), slices.Clone(expressions)}, nil
}

// NewColumns makes a projection on columns by their names.
func NewColumns(input Node, columns ...string) (*Project, error) {
	expressions := make([]expr.Expr, len(columns))
	for i, name := range columns {
		expressions[i] = expr.Col(name)
	}
	return NewProject(input, expressions...)
}

// Expressions returns the expressions. Their names are those of the columns.
func (p *Project) Expressions() []expr.Expr { return p.expressions }

// WithInputs implements [Node].
func (p *Project) WithInputs(inputs ...Node) (Node, error) {
	if inputs[0].Schema().Equal(p.input.Schema()) { // the expressions have their types
		return &Project{singleOf(inputs[0], p.schema), p.expressions}, nil
	}
	return node(NewProject(inputs[0], p.expressions...))
}

// String implements [Node].
func (p *Project) String() string { return "select " + joined(p.expressions, ", ") }

// definitions returns the expression of each column.
func (p *Project) definitions() map[string]expr.Expr {
	list := make(map[string]expr.Expr, len(p.expressions))
	for i, e := range p.expressions {
		list[e.Name()] = typed(Unnamed(e), p.schema.Field(i).Type)
	}
	return list
}

// Named gives an expression a name, unless it has it.
func Named(e expr.Expr, name string) expr.Expr {
	if e.Name() == name {
		return e
	}
	return e.As(name)
}

// Unnamed removes the name that As gave.
func Unnamed(e expr.Expr) expr.Expr {
	for e.Operation() == "as" {
		e = e.Operands()[0]
	}
	return e
}

// plainColumn returns the column that an expression passes on, perhaps by another name.
func plainColumn(e expr.Expr) (name string, ok bool) { return Unnamed(e).Column() }

// inline replaces the columns of an expression by their definitions.
func inline(e expr.Expr, definitions map[string]expr.Expr) expr.Expr {
	return e.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		name, ok := part.Column()
		if !ok {
			return part, false
		}
		definition, ok := definitions[name]
		return definition, ok
	})
}

func (p *Project) holdsRows() bool { return false }

func (p *Project) isEmpty() bool { return isNothing(p.input) }

func (p *Project) isLocal() bool { return true }

func (p *Project) rowNumbers() rowNumbers { return inputNumbers }

func (p *Project) first(l *limitPusher, rows int64) (Node, error) { return l.firstOf(p, rows) }

func (p *Project) readsOrder(_ int, own bool) bool { return own }

func (p *Project) sortedBy(keys []SortKey) (bool, []SortKey) {
	definitions := p.definitions()
	below := slices.Clone(keys)
	for i := range below {
		below[i].Value = inline(below[i].Value, definitions)
	}
	return false, below
}

func (p *Project) conditionBelow() func(expr.Expr) (expr.Expr, bool) { return p.pushable() }

func (p *Project) reads(wanted columnSet) []columnSet {
	return []columnSet{columnSet{}.read(p.needed(wanted)...)}
}

func (p *Project) pruned(inputs []Node, wanted columnSet) (Node, error) {
	list := p.needed(wanted)
	if len(list) == len(p.expressions) {
		return nil, nil
	}
	return node(NewProject(inputs[0], list...))
}

func (p *Project) simplified() (Node, error) { return simplifyProject(p) }

func (p *Project) same(other Node) bool {
	o, ok := other.(*Project)
	return ok && sameExpressions(p.expressions, o.expressions)
}

func (p *Project) rowsFrom() Node { return p.input }

func (p *Project) passes() ([]expr.Expr, bool) { return nil, p.onlyColumns() }

func (p *Project) origin(name string) (Node, string) {
	for _, e := range p.expressions {
		if from, ok := plainColumn(e); ok && e.Name() == name {
			return p.input, from
		}
	}
	return nil, ""
}

// sliced computes the expressions for the rows of the slice only.
func (p *Project) sliced(l *limitPusher, slice *Slice) (Node, error) {
	below, err := NewSlice(p.input, slice.offset, slice.length)
	if err != nil {
		return nil, err
	}
	lower, err := l.slice(below)
	if err != nil {
		return nil, err
	}
	return withInputs(p, lower)
}

// dividedAsMoved keeps the positions of rows.
func (p *Project) dividedAsMoved(_ *distribution, inputs []spread) (spread, error) {
	if !inputs[0].positions {
		return spread{}, nil
	}
	positioned, err := NewProject(inputs[0].node, append(slices.Clone(p.expressions), expr.Col(PositionName))...)
	return spread{node: positioned, all: true, positions: true, columns: columnsOf(p.schema)}, err
}
