package expr

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// mostInTable is the number of words that one literal holds.
const mostInTable = 128

// elements returns the values, or the elements of the only one if it is a slice other
// than []byte.
func elements(values []any) []any {
	if len(values) != 1 {
		return values
	}
	only := reflect.ValueOf(values[0])
	if only.Kind() != reflect.Slice || only.Type().Elem().Kind() == reflect.Uint8 {
		return values
	}
	all := make([]any, only.Len())
	for i := range all {
		all[i] = only.Index(i).Interface()
	}
	return all
}

// in is the disjunction of the comparisons with all values.
func (b *binder) in(n *node, operands []operand) (*exprtree.Node, error) {
	x := operands[0]
	if x.open != nil {
		return nil, fmt.Errorf("a literal, it is of a column: %w", ErrType)
	}
	nulls := false
	var words []uint64
	var single []operand
	for i, o := range operands[1:] {
		argument := n.arguments[i+1]
		if argument.op == exprtree.Literal && argument.value == nil {
			nulls = true
			continue
		}
		if word, ok := wordIn(x.node.Type, argument); ok {
			words = append(words, word)
		} else {
			single = append(single, o)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	var conditions []*exprtree.Node
	for len(words) > 0 {
		chunk := words[:min(len(words), mostInTable)]
		words = words[len(chunk):]
		conditions = append(conditions, b.node(exprtree.OneOf, boolean, x.node, table(chunk)))
	}
	for _, o := range single {
		equal, err := b.comparison(exprtree.Equal, []operand{x, o})
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, equal)
	}
	if nulls || len(conditions) == 0 {
		// A row without a null has false, or null beside a null.
		otherwise := &exprtree.Node{Op: exprtree.Literal, Type: boolean, Value: false}
		if nulls {
			otherwise = &exprtree.Node{Op: exprtree.Literal, Type: boolean, Slot: -1}
		}
		null := &exprtree.Node{Op: exprtree.Literal, Type: boolean, Slot: -1}
		conditions = append(conditions, b.node(exprtree.IfElse, boolean, b.node(exprtree.IsValid, boolean, x.node), otherwise, null))
	}
	disjunction := conditions[0]
	for _, condition := range conditions[1:] {
		disjunction = b.node(exprtree.Or, boolean, disjunction, condition)
	}
	return disjunction, nil
}

// table makes the literal of OneOf: the last word is repeated up to a power of two.
func table(words []uint64) *exprtree.Node {
	size := 1
	for size < len(words) {
		size *= 2
	}
	var packed []byte
	for i := range size {
		packed = binary.LittleEndian.AppendUint64(packed, words[min(i, len(words)-1)])
	}
	return binaryLiteral(string(packed))
}

// wordIn returns the word by which OneOf finds a literal among values of a type, if it is
// a number, time or bool that the type holds exactly.
func wordIn(t arrow.DataType, literal *node) (uint64, bool) {
	kind := exprtree.KindOf(t)
	if literal.op != exprtree.Literal || kind == exprtree.String || kind == exprtree.Decimal || kind == exprtree.Other {
		return 0, false
	}
	own, ok := literal.ownType()
	exact := ok && (literal.isOpen() || arrow.TypeEqual(own, t) || isCount(own) && isCount(t))
	if !exact {
		return 0, false
	}
	converted, err := literalNode(literal.value, t)
	if err != nil {
		return 0, false
	}
	switch value := converted.Value.(type) {
	case bool:
		if value {
			return 1, true
		}
		return 0, true
	case int64:
		return uint64(value), true
	case uint64:
		return value, true
	case float64:
		return exprtree.HashFloat(value), true
	}
	return 0, false
}
