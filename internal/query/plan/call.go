package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/custom"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Call yields the rows of its input with a further column: the results of a function of the user. If the function
// is not pure, no condition, limit or projection moves below the node or leaves it out; a limit above it ends the
// query between two batches.
type Call struct {
	single
	name     string
	call     expr.Expr
	function *custom.Function
}

// CallOf returns the function of the user if the outermost operation of an expression is one.
func CallOf(e expr.Expr) (f *custom.Function, ok bool) {
	o, ok := e.Operator()
	if !ok {
		return nil, false
	}
	f, ok = o.(*custom.Function)
	return f, ok
}

// NewCall makes a node for an expression of which [CallOf] has the function. name is that of the column.
func NewCall(input Node, name string, call expr.Expr) (*Call, error) {
	f, ok := CallOf(call)
	if !ok {
		return nil, fmt.Errorf("%v is no function of the user: %w", call, expr.ErrType)
	}
	t, _, err := call.Type(input.Schema())
	if err != nil {
		return nil, err
	}
	fields := append(slices.Clone(input.Schema().Fields()), arrow.Field{Name: name, Type: t, Nullable: true})
	schema := arrow.NewSchema(fields, nil)
	return &Call{singleOf(input, schema), name, call, f}, checkNames(schema)
}

// Expressions returns the columns of the input and that of the function.
func (c *Call) Expressions() []expr.Expr {
	list := make([]expr.Expr, 0, c.schema.NumFields())
	for _, f := range c.input.Schema().Fields() {
		list = append(list, expr.Col(f.Name))
	}
	return append(list, c.call.As(c.name))
}

// WithInputs implements [Node].
func (c *Call) WithInputs(inputs ...Node) (Node, error) {
	return node(NewCall(inputs[0], c.name, c.call))
}

// String implements [Node].
func (c *Call) String() string {
	operands := c.call.Operands()
	texts := make([]string, len(operands))
	for i, operand := range operands {
		texts[i] = Readable(operand.String())
	}
	text := fmt.Sprintf("call %s %s(%s)", c.function.Kind(), c.function.Name(), strings.Join(texts, ", "))
	if c.function.Pure() {
		text += ", pure"
	}
	return text
}

func (c *Call) holdsRows() bool { return false }

func (c *Call) isEmpty() bool { return isNothing(c.input) }

// isLocal is false for functions that are called by one goroutine at a time.
func (c *Call) isLocal() bool { return c.function.Pure() }

func (c *Call) rowNumbers() rowNumbers { return inputNumbers }

func (c *Call) readsOrder(_ int, own bool) bool { return own || !c.function.Pure() }

func (c *Call) sortedBy(keys []SortKey) (bool, []SortKey) {
	for _, k := range keys {
		if slices.Contains(k.Value.Columns(), c.name) {
			return false, nil
		}
	}
	return false, keys
}

func (c *Call) first(p *limitPusher, rows int64) (Node, error) {
	if !c.function.Pure() {
		return nil, nil
	}
	return p.firstOf(c, rows)
}

func (c *Call) conditionBelow() func(expr.Expr) (expr.Expr, bool) {
	if !c.function.Pure() {
		return nil
	}
	return func(condition expr.Expr) (expr.Expr, bool) {
		columns := condition.Columns()
		return condition, len(columns) > 0 && !slices.Contains(columns, c.name)
	}
}

func (c *Call) reads(wanted columnSet) []columnSet {
	below := columnSet{}
	for name := range wanted {
		if name != c.name {
			below[name] = true
		}
	}
	if c.function.Pure() && !wanted[c.name] {
		return []columnSet{below}
	}
	return []columnSet{below.with(c.call)}
}

func (c *Call) pruned(inputs []Node, wanted columnSet) (Node, error) {
	if c.function.Pure() && !wanted[c.name] {
		return inputs[0], nil
	}
	return nil, nil
}

func (c *Call) same(other Node) bool {
	o, ok := other.(*Call)
	return ok && c.function.Pure() && c.name == o.name && c.call.Same(o.call)
}
