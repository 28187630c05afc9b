package expr

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
)

// Same reports whether two expressions are the same operations on the same columns and
// literals, with the same names. The types of literals count: int8(1) is not the same
// as 1. So does the sign of zero. Expressions that are not the same may still have equal values.
func (e Expr) Same(other Expr) bool {
	type pair struct{ a, b *node }
	seen := make(map[pair]bool)
	var same func(a, b *node) bool
	same = func(a, b *node) bool {
		switch {
		case a == b || seen[pair{a, b}]:
			return true
		case a == nil || b == nil || a.op != b.op || a.text != b.text || len(a.arguments) != len(b.arguments) || !sameType(a.to, b.to):
			return false
		case !sameValue(a.value, b.value):
			return false
		}
		for i := range a.arguments {
			if !same(a.arguments[i], b.arguments[i]) {
				return false
			}
		}
		seen[pair{a, b}] = true
		return true
	}
	return same(e.node, other.node)
}

// sameValue reports whether two values of nodes are the same. Floats are the same if their
// bits are: −0 is equal to 0, but a number divided by it is not.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case float32:
		b, ok := b.(float32)
		return ok && math.Float32bits(a) == math.Float32bits(b)
	case sameOperator:
		b, ok := b.(Operator)
		return ok && a.Same(b)
	}
	return reflect.DeepEqual(a, b)
}

// sameOperator is an operator with expressions, which are compared by [Expr.Same].
type sameOperator interface {
	Operator
	Same(other Operator) bool
}

func sameType(a, b arrow.DataType) bool {
	return a == nil && b == nil || a != nil && b != nil && arrow.TypeEqual(a, b)
}

// fingerprintSeed is that of all fingerprints.
var fingerprintSeed = maphash.MakeSeed()

// Fingerprint returns a number that is equal for expressions that are the [Expr.Same], in one
// process. It is stored with the expression. Other expressions have it with a probability of 2⁻⁶⁴,
// except for those that differ in values that are not numbers or texts.
func (e Expr) Fingerprint() uint64 {
	if e.node == nil {
		return 0
	}
	return e.node.fingerprintOf()
}

func (n *node) fingerprintOf() uint64 {
	if known := n.fingerprint.Load(); known != 0 {
		return known
	}
	var h maphash.Hash
	h.SetSeed(fingerprintSeed)
	h.WriteByte(byte(n.op))
	h.WriteString(n.text)
	if n.to != nil {
		h.WriteByte(byte(n.to.ID()))
	}
	switch value := n.value.(type) {
	case nil:
	case string:
		h.WriteString(value)
	case float64:
		maphash.WriteComparable(&h, math.Float64bits(value))
	case float32:
		maphash.WriteComparable(&h, math.Float32bits(value))
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, []byte:
		fmt.Fprint(&h, value)
	default:
		fmt.Fprintf(&h, "%T", value)
	}
	for _, argument := range n.arguments {
		var words [8]byte
		binary.LittleEndian.PutUint64(words[:], Expr{argument}.Fingerprint())
		h.Write(words[:])
	}
	sum := max(h.Sum64(), 1)
	n.fingerprint.Store(sum)
	return sum
}
