package expr

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// binder makes the nodes of one program.
type binder struct {
	schema *arrow.Schema
	root   *node
	inputs []int
	types  []arrow.DataType
	// places are the nodes of the columns, by field.
	places map[int]*exprtree.Node
	// done has the operands of nodes that are bound: expressions may share parts.
	done map[*node]operand
	// nodes has the nodes by operation and operands, so that equal nodes are shared. ids
	// number the nodes for its keys.
	nodes map[string]*exprtree.Node
	ids   map[*exprtree.Node]int
	// constants are the nodes with a constant.
	constants []*exprtree.Node
	// tables are the literals of tables of holidays.
	tables map[string]*exprtree.Node
	// nullable, if it is not nil, has the nodes of which it is known whether they can be null. Then
	// the binder finds types only: operands are those of the nodes, and columns have the numbers of
	// their fields.
	nullable map[*exprtree.Node]bool
}

func newBinder(schema *arrow.Schema) *binder {
	return &binder{schema: schema, places: make(map[int]*exprtree.Node), done: make(map[*node]operand), nodes: make(map[string]*exprtree.Node), ids: make(map[*exprtree.Node]int), tables: make(map[string]*exprtree.Node)}
}

// operand is a bound expression, or a literal with a type that is still open.
type operand struct {
	node *exprtree.Node
	open *node
}

// typeOf returns the type of the operand. For an open literal it is the type that the
// literal has alone.
func (o operand) typeOf() arrow.DataType {
	if o.open != nil {
		t, _ := o.open.ownType()
		return t
	}
	return o.node.Type
}

// refuse makes the error for a node of the expression.
func (b *binder) refuse(n *node, reason error) error {
	return &Error{Expression: Expr{b.root}.String(), Part: Expr{n}.String(), Reason: reason}
}

// bind binds a node and its operands.
func (b *binder) bind(n *node) (operand, error) {
	if n == nil {
		return operand{}, b.refuse(n, fmt.Errorf("an expression is the zero Expr: %w", ErrMissing))
	}
	if o, ok := b.done[n]; ok {
		return o, nil
	}
	if o, ok := b.typedBefore(n); ok {
		return o, nil
	}
	o, err := b.bindAnew(n)
	if err != nil {
		return operand{}, err
	}
	b.done[n] = o
	b.keepTyped(n, o)
	return o, nil
}

func (b *binder) bindAnew(n *node) (operand, error) {
	switch n.op {
	case alias:
		return b.bind(n.arguments[0])
	case ofRows:
		return operand{}, b.refuse(n, refuseRows(n))
	case exprtree.Column:
		return b.column(n)
	case exprtree.Literal:
		if n.isOpen() {
			return operand{open: n}, nil
		}
		return b.literal(n)
	}
	arguments := make([]operand, len(n.arguments))
	for i := range n.arguments {
		var err error
		if arguments[i], err = b.argument(n, i); err != nil {
			return operand{}, err
		}
	}
	computed, err := b.operation(n, arguments)
	if err != nil {
		if _, located := err.(*Error); !located {
			err = b.refuse(n, err)
		}
		return operand{}, err
	}
	return operand{node: computed}, nil
}

// argument binds an operand of a node. A nil beside another choice of If is the null of its type.
func (b *binder) argument(n *node, i int) (operand, error) {
	if n.op != exprtree.IfElse || !n.arguments[i].isNil() {
		return b.bind(n.arguments[i])
	}
	typed := typedChoice(n.arguments)
	if typed == nil || i%2 == 0 && i < len(n.arguments)-1 {
		return b.bind(n.arguments[i])
	}
	other, err := b.bind(typed)
	if err != nil {
		return operand{}, err
	}
	null, err := literalNode(nil, plainText(other.typeOf()))
	if err != nil {
		return operand{}, b.refuse(n.arguments[i], err)
	}
	return operand{node: null}, nil
}

// typedChoice returns the value that decides the type of an If: the first one with a type, or else the first one
// other than nil. The result is nil if all values are.
func typedChoice(arguments []*node) (typed *node) {
	last := len(arguments) - 1
	for i := 1; i <= last+1; i += 2 {
		value := arguments[min(i, last)]
		switch {
		case value.isNil():
		case value == nil || !value.isOpen():
			return value
		case typed == nil:
			typed = value
		}
	}
	return typed
}

func (b *binder) column(n *node) (operand, error) {
	i, ok := field(b.schema, n.text)
	if !ok {
		return operand{}, b.refuse(n, fmt.Errorf("%s: %w", names.Unknown("column", n.text, fieldNames(b.schema)), buffer.ErrSchema))
	}
	if b.nullable != nil {
		return operand{node: &exprtree.Node{Op: exprtree.Column, Type: b.schema.Field(i).Type, Input: i}}, nil
	}
	if b.places[i] == nil {
		t := b.schema.Field(i).Type
		b.places[i] = &exprtree.Node{Op: exprtree.Column, Type: t, Input: len(b.inputs)}
		b.inputs = append(b.inputs, i)
		b.types = append(b.types, t)
	}
	return operand{node: b.places[i]}, nil
}

func fieldNames(schema *arrow.Schema) []string {
	names := make([]string, schema.NumFields())
	for i := range names {
		names[i] = schema.Field(i).Name
	}
	return names
}

func (b *binder) literal(n *node) (operand, error) {
	t, ok := n.ownType()
	if n.isNil() {
		return operand{}, b.refuse(n, fmt.Errorf("nil has no type here, use LitOf(type, nil), or IsNull to find nulls: %w", ErrLiteral))
	}
	if !ok {
		return operand{}, b.refuse(n, fmt.Errorf("a literal of Go's %T: %w", n.value, ErrLiteral))
	}
	constant, err := literalNode(n.value, t)
	if err != nil {
		return operand{}, b.refuse(n, err)
	}
	return operand{node: constant}, nil
}

// operation makes the node of an operation from its bound operands.
func (b *binder) operation(n *node, arguments []operand) (*exprtree.Node, error) {
	switch n.op.Family() {
	case exprtree.Arithmetic:
		return b.arithmetic(n.op, arguments)
	case exprtree.Signs:
		return b.sign(n.op, arguments[0])
	case exprtree.Formulas, exprtree.NaNTests:
		return b.floats(n.op, arguments)
	case exprtree.Bitwise:
		return b.bits(n.op, arguments)
	case exprtree.Orders, exprtree.Affixes:
		return b.comparison(n.op, arguments)
	case exprtree.Logic:
		return b.logic(n.op, arguments)
	case exprtree.NullTests:
		return b.nullness(n.op, arguments[0])
	case exprtree.Extremes:
		return b.selection(n.op, arguments)
	case exprtree.Casts:
		return b.userCast(n, arguments[0])
	case exprtree.Hashes:
		return b.hash(arguments)
	case exprtree.Functions:
		return b.registered(n.op, n.op.Function(), arguments)
	}
	switch n.op {
	case exprtree.Coalesce, fillNull:
		return b.selection(n.op, arguments)
	case exprtree.IfElse:
		return b.choice(arguments)
	case clamp:
		return b.clamp(arguments)
	case trueDivide, floorDivide, floorRemainder:
		return b.quotient(n.op, arguments)
	case roundDigits:
		return b.roundDigits(arguments)
	case exceeds:
		return b.exceeds(arguments)
	case exprtree.TableRank:
		return b.tableRank(n.value.(ranks), arguments[0])
	case exprtree.Join:
		return b.join(arguments)
	case oneOf:
		return b.in(n, arguments)
	case exprtree.Invalid:
		return nil, fmt.Errorf("no function %q exists: %w", n.text, ErrType)
	}
	if calendarOp(n.op) {
		return b.calendar(n.op, arguments)
	}
	if textOp(n.op) {
		return b.text(n.op, arguments)
	}
	return b.datePart(n.op, arguments[0])
}

// node makes a node, or returns the existing node of the same operation and operands.
func (b *binder) node(op exprtree.Op, t arrow.DataType, arguments ...*exprtree.Node) *exprtree.Node {
	key := append(append([]byte(op.String()), ' '), t.String()...)
	for _, argument := range arguments {
		if _, ok := b.ids[argument]; !ok {
			b.ids[argument] = len(b.ids)
		}
		key = strconv.AppendInt(append(key, ' '), int64(b.ids[argument]), 10)
	}
	if known := b.nodes[string(key)]; known != nil {
		return known
	}
	added := &exprtree.Node{Op: op, Type: t, Arguments: arguments}
	b.nodes[string(key)] = added
	return added
}

// alone returns the node of an operand with the type that it has alone.
func (b *binder) alone(o operand) (*exprtree.Node, error) { return b.as(o, o.typeOf()) }

// as returns the operand converted to a type.
func (b *binder) as(o operand, t arrow.DataType) (*exprtree.Node, error) {
	if o.open != nil {
		literal, err := literalNode(o.open.value, t)
		if err != nil {
			return nil, b.refuse(o.open, err)
		}
		return literal, nil
	}
	if arrow.TypeEqual(o.node.Type, t) {
		return o.node, nil
	}
	if o.node.IsNullLiteral() {
		return &exprtree.Node{Op: exprtree.Literal, Type: t, Slot: -1}, nil
	}
	if !exprtree.CanCast(o.node.Type, t, false) {
		return nil, fmt.Errorf("cannot convert %v to %v: %w", o.node.Type, t, ErrType)
	}
	return b.node(exprtree.Cast, t, o.node), nil
}

// all converts all operands to one type.
func (b *binder) all(operands []operand, t arrow.DataType) ([]*exprtree.Node, error) {
	nodes := make([]*exprtree.Node, len(operands))
	for i, o := range operands {
		var err error
		if nodes[i], err = b.as(o, t); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}
