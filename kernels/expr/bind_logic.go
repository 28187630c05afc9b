package expr

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

var boolean = arrow.FixedWidthTypes.Boolean

func (b *binder) comparison(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	types := chosen(op, operands)
	strings := exprtree.KindOf(types[0]) == exprtree.String && exprtree.KindOf(types[1]) == exprtree.String
	ends := op == exprtree.StartsWith || op == exprtree.EndsWith
	switch {
	case strings:
		return b.comparedStrings(op, operands)
	case ends:
		return nil, fmt.Errorf("%v of %s, it is of strings: %w", op, listed(types), ErrType)
	}
	if condition, ok := b.comparedTime(op, operands); ok {
		return condition, nil
	}
	if signed := signedWithUint64(types); signed >= 0 {
		return b.comparedSigns(op, operands, signed)
	}
	t, ok := commonType(types)
	if !ok {
		return nil, fmt.Errorf("cannot compare %v with %v%s: %w", types[0], types[1], comparedWith(types[0], types[1]), ErrType)
	}
	if condition, ok := b.comparedUnits(op, operands); ok {
		return condition, nil
	}
	return b.same(op, operands, t, boolean)
}

// comparedWith says what a time is compared with, if one of two types is a time.
func comparedWith(left, right arrow.DataType) string {
	if !exprtree.IsTemporal(left) {
		left, right = right, left
	}
	if !exprtree.IsTemporal(left) {
		return ""
	}
	if exprtree.KindOf(right) == exprtree.String {
		return ", expected a time instead of text"
	}
	timestamp, isTime := left.(*arrow.TimestampType)
	other, isOther := right.(*arrow.TimestampType)
	if isTime && isOther && (timestamp.TimeZone == "") != (other.TimeZone == "") {
		return ", of which one has a time zone: take LocalTime of it, or InstantIn of the other one"
	}
	return ""
}

func (b *binder) comparedStrings(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	left, right := operands[0].node, operands[1].node
	ends := op == exprtree.StartsWith || op == exprtree.EndsWith
	switch {
	case ends && right.Op != exprtree.Literal:
		return nil, fmt.Errorf("it is of a column and a literal: %w", ErrType)
	case left.Op == exprtree.Literal && right.Op == exprtree.Literal:
		return nil, fmt.Errorf("two string literals, one side has to be a column: %w", ErrType)
	case ends && left.Op == exprtree.Literal:
		return nil, fmt.Errorf("it is of a column and a literal: %w", ErrType)
	}
	return b.node(op, boolean, left, right), nil
}

func (b *binder) logic(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	for _, o := range operands {
		if exprtree.KindOf(o.typeOf()) != exprtree.Bool {
			return nil, fmt.Errorf("%v of %v, it is of bools: %w", op, o.typeOf(), ErrType)
		}
	}
	return b.same(op, operands, boolean, boolean)
}

func (b *binder) nullness(op exprtree.Op, o operand) (*exprtree.Node, error) {
	n, err := b.alone(o)
	if err != nil {
		return nil, err
	}
	if l, err := layout.Of(n.Type); err != nil || !l.HasValidity() {
		return nil, fmt.Errorf("%v of %v, which has no validity bitmap: %w", op, n.Type, ErrType)
	}
	if n.Op == exprtree.Literal && n.Kind() == exprtree.String {
		return &exprtree.Node{Op: exprtree.Literal, Type: boolean, Value: n.IsNullLiteral() == (op == exprtree.IsNull)}, nil
	}
	return b.node(op, boolean, n), nil
}

// selection binds operations that return one of their operands.
func (b *binder) selection(op exprtree.Op, operands []operand) (*exprtree.Node, error) {
	name := op.String()
	if op == fillNull {
		op, name = exprtree.Coalesce, "fill_null"
	}
	if len(operands) == 0 {
		return nil, fmt.Errorf("%s of nothing: %w", name, ErrMissing)
	}
	if allText(operands) {
		return b.chosenText(op, operands)
	}
	t, err := b.commonChoice(op, operands)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if (op == exprtree.Minimum || op == exprtree.Maximum) && exprtree.KindOf(t) == exprtree.Bool {
		return nil, fmt.Errorf("%s of bools, take And or Or: %w", name, ErrType)
	}
	nodes, err := b.all(operands, t)
	if err != nil || len(nodes) == 1 {
		return nodes0(nodes), err
	}
	return b.node(op, t, nodes...), nil
}

func nodes0(nodes []*exprtree.Node) *exprtree.Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

// choice binds a choice by conditions: pairs of a condition and a value, and the last value.
func (b *binder) choice(operands []operand) (*exprtree.Node, error) {
	last := len(operands) - 1
	if last < 2 || last%2 != 0 {
		return nil, fmt.Errorf("a choice has %d operands, expected pairs of a condition and a value, and the value of all other rows: %w", len(operands), ErrMissing)
	}
	nodes := make([]*exprtree.Node, len(operands))
	var values []operand
	for i := 0; i < last; i += 2 {
		var err error
		if nodes[i], err = b.condition(operands[i]); err != nil {
			return nil, err
		}
		values = append(values, operands[i+1])
	}
	values = append(values, operands[last])
	if allText(values) {
		for i, value := range values {
			nodes[min(2*i+1, last)] = value.node
		}
		return b.chain(commonText(values), nodes), nil
	}
	t, err := b.commonChoice(exprtree.IfElse, values)
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		if nodes[min(2*i+1, last)], err = b.as(value, t); err != nil {
			return nil, err
		}
	}
	return b.chain(t, nodes), nil
}

// chain returns a choice. It is one with the choice that is its last value: an IfElse in an IfElse in another is one step.
func (b *binder) chain(t arrow.DataType, nodes []*exprtree.Node) *exprtree.Node {
	const most = 256 // operands: each level of a chain copies those of the ones below
	last := len(nodes) - 1
	if inner := nodes[last]; inner.Op == exprtree.IfElse && arrow.TypeEqual(inner.Type, t) && last+len(inner.Arguments) <= most {
		nodes = append(nodes[:last:last], inner.Arguments...)
	}
	return b.node(exprtree.IfElse, t, nodes...)
}

// condition binds a condition that is false where it is null: IfElse of a null is null.
func (b *binder) condition(o operand) (*exprtree.Node, error) {
	if t := o.typeOf(); exprtree.KindOf(t) != exprtree.Bool {
		return nil, fmt.Errorf("the condition is %v, it has to be a bool: %w", t, ErrType)
	}
	condition, err := b.alone(o)
	if err != nil {
		return nil, err
	}
	no := &exprtree.Node{Op: exprtree.Literal, Type: boolean, Value: false}
	return b.node(exprtree.Coalesce, boolean, condition, no), nil
}

// clamp is if(e < low, low, if(e > high, high, e)).
func (b *binder) clamp(operands []operand) (*exprtree.Node, error) {
	t, err := b.commonChoice(clamp, operands)
	if err != nil {
		return nil, err
	}
	if exprtree.KindOf(t) == exprtree.Bool {
		return nil, fmt.Errorf("clamp of bools: %w", ErrType)
	}
	nodes, err := b.all(operands, t)
	if err != nil {
		return nil, err
	}
	value, low, high := nodes[0], nodes[1], nodes[2]
	below := b.node(exprtree.Less, boolean, value, low)
	above := b.node(exprtree.Greater, boolean, value, high)
	if exprtree.KindOf(t).IsFloat() { // NaN stays, and is no bound
		number := func(x *exprtree.Node) *exprtree.Node {
			return b.node(exprtree.Not, boolean, b.node(exprtree.IsNaN, boolean, x))
		}
		below = b.node(exprtree.AndStrict, boolean, below, number(low))
		above = b.node(exprtree.AndStrict, boolean, above, number(value))
	}
	return b.node(exprtree.IfElse, t, below, low, b.node(exprtree.IfElse, t, above, high, value)), nil
}

func (b *binder) userCast(n *node, o operand) (*exprtree.Node, error) {
	if n.to == nil {
		return nil, fmt.Errorf("the type to cast to: %w", ErrMissing)
	}
	if d, ok := n.to.(*arrow.Decimal128Type); ok && badDecimal(d) {
		return nil, fmt.Errorf("cast to %v: precision and scale must be in 0 to 38: %w", n.to, ErrType)
	}
	from, err := b.alone(o)
	if err != nil {
		return nil, err
	}
	kind := exprtree.KindOf(n.to)
	if parsed, ok := b.parse(n, from); ok {
		return parsed, nil
	}
	if formatted, ok := b.format(n, from); ok {
		return formatted, nil
	}
	if arrow.TypeEqual(from.Type, n.to) && kind != exprtree.Other && kind != exprtree.String {
		return from, nil
	}
	if d, ok := from.Type.(*arrow.Decimal128Type); ok && badDecimal(d) || !exprtree.CanCast(from.Type, n.to, n.op == exprtree.CastWrap) {
		return nil, fmt.Errorf("cannot cast %v to %v%s: %w", from.Type, n.to, insteadOfCast(from.Type, n.to), ErrType)
	}
	return b.node(n.op, n.to, from), nil
}

// insteadOfCast names the function that makes text of a type that no cast makes text of.
func insteadOfCast(from, to arrow.DataType) string {
	if exprtree.KindOf(to) != exprtree.String {
		return ""
	}
	switch id := from.ID(); {
	case arrow.IsFloating(id):
		return ", use FormatFloat"
	case id == arrow.DATE32 || id == arrow.DATE64 || id == arrow.TIMESTAMP:
		return ", use FormatTime"
	case id == arrow.DURATION:
		return ", use FormatDuration"
	}
	return ""
}

func (b *binder) hash(operands []operand) (*exprtree.Node, error) {
	if len(operands) == 0 {
		return nil, fmt.Errorf("hash of nothing: %w", ErrMissing)
	}
	nodes := make([]*exprtree.Node, len(operands))
	for i, o := range operands {
		var err error
		if nodes[i], err = b.alone(o); err != nil {
			return nil, err
		}
		kind := nodes[i].Kind()
		if kind == exprtree.Other || kind == exprtree.String && nodes[i].Op == exprtree.Literal {
			return nil, fmt.Errorf("hash of %v: %w", nodes[i].Type, ErrType)
		}
	}
	return b.node(exprtree.Hash, arrow.PrimitiveTypes.Uint64, nodes...), nil
}

func (b *binder) datePart(op exprtree.Op, o operand) (*exprtree.Node, error) {
	n, err := b.alone(o)
	if err != nil {
		return nil, err
	}
	clock := op >= exprtree.Hour
	switch t := n.Type.(type) {
	case *arrow.TimestampType:
		if !isUTC(t.TimeZone) {
			return nil, fmt.Errorf("%v of %v: take LocalTime for the parts in a time zone, or cast it to a timestamp without a zone for those in UTC: %w", op, t, ErrType)
		}
		return b.node(op, arrow.PrimitiveTypes.Int64, n), nil
	case *arrow.Date32Type, *arrow.Date64Type:
		if !clock {
			return b.node(op, arrow.PrimitiveTypes.Int64, n), nil
		}
	case *arrow.Time32Type, *arrow.Time64Type:
		if clock {
			return b.node(op, arrow.PrimitiveTypes.Int64, n), nil
		}
	}
	return nil, fmt.Errorf("%v of %v: %w", op, n.Type, ErrType)
}

func isUTC(zone string) bool {
	switch zone {
	case "", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "+00:00", "+0000", "-00:00":
		return true
	}
	return false
}
