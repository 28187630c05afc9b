package exprtest

import (
	"cmp"
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// Model returns the values of the outputs of a program: for each output, each row's
// value. A value is nil for null, or a bool, an int64, a uint64, a float64, a *big.Int
// for the unscaled value of a decimal, or a string.
func Model(program *exprtree.Program, inputs []arrow.Array, rows int) [][]any {
	outputs := make([][]any, len(program.Outputs))
	for i, output := range program.Outputs {
		outputs[i] = make([]any, rows)
		for row := range rows {
			outputs[i][row] = model{inputs, row}.value(output)
		}
	}
	return outputs
}

// model computes one row.
type model struct {
	inputs []arrow.Array
	row    int
}

func (m model) value(n *exprtree.Node) any {
	switch n.Op {
	case exprtree.Column:
		return Cell(m.inputs[n.Input], m.row)
	case exprtree.Literal:
		return literalCell(n)
	case exprtree.IsNull, exprtree.IsValid:
		return m.isNull(n.Arguments[0]) == (n.Op == exprtree.IsNull)
	case exprtree.IfElse:
		last := len(n.Arguments) - 1
		for i := 0; i < last; i += 2 {
			if condition := m.value(n.Arguments[i]); condition == nil {
				return nil
			} else if condition == true {
				return m.value(n.Arguments[i+1])
			}
		}
		return m.value(n.Arguments[last])
	}
	operands := make([]any, len(n.Arguments))
	strict := true
	for i, argument := range n.Arguments {
		operands[i] = m.value(argument)
		strict = strict && operands[i] != nil
	}
	switch n.Op {
	case exprtree.And, exprtree.Or:
		return kleene(operands, n.Op == exprtree.Or)
	case exprtree.Coalesce:
		for _, operand := range operands {
			if operand != nil {
				return operand
			}
		}
		return nil
	case exprtree.Minimum, exprtree.Maximum:
		return extreme(operands, n.Op == exprtree.Maximum)
	case exprtree.Hash:
		return hash(operands)
	}
	if !strict {
		return nil
	}
	switch n.Op {
	case exprtree.Cast, exprtree.CastWrap:
		return cast(operands[0], n.Arguments[0].Type, n.Type, n.Op == exprtree.CastWrap)
	case exprtree.Year, exprtree.Quarter, exprtree.Month, exprtree.Day, exprtree.DayOfYear, exprtree.Weekday, exprtree.Hour, exprtree.Minute, exprtree.Second, exprtree.Subsecond:
		return datePart(n.Op, operands[0].(int64), n.Arguments[0].Type)
	case exprtree.AddSpan, exprtree.AddMonths, exprtree.FloorSpan, exprtree.FloorWeek, exprtree.FloorMonths:
		return moved(n, operands)
	}
	return apply(n, operands)
}

func (m model) isNull(n *exprtree.Node) bool {
	if n.Op == exprtree.Column && n.Kind() == exprtree.Other {
		return m.inputs[n.Input].IsNull(m.row)
	}
	return m.value(n) == nil
}

func literalCell(n *exprtree.Node) any {
	if n.Value == nil {
		return nil
	}
	if n.Kind() == exprtree.Decimal {
		return decimalCell(n.Value)
	}
	return n.Value
}

// apply computes an operation on values that are not null.
func apply(n *exprtree.Node, operands []any) any {
	x := operands[0]
	var y any
	if len(operands) > 1 {
		y = operands[1]
	}
	if result, ok := textResult(n, operands); ok {
		return result
	}
	switch n.Op {
	case exprtree.Not:
		return !x.(bool)
	case exprtree.AndStrict:
		return x.(bool) && y.(bool)
	case exprtree.OrStrict:
		return x.(bool) || y.(bool)
	case exprtree.Xor:
		return x.(bool) != y.(bool)
	case exprtree.StartsWith:
		return strings.HasPrefix(x.(string), y.(string))
	case exprtree.EndsWith:
		return strings.HasSuffix(x.(string), y.(string))
	case exprtree.IsNaN:
		return math.IsNaN(x.(float64))
	case exprtree.Equal, exprtree.NotEqual, exprtree.Less, exprtree.LessEqual, exprtree.Greater, exprtree.GreaterEqual:
		return compare(n.Op, x, y)
	}
	switch x := x.(type) {
	case float64:
		return round(n.Type, floatResult(n.Op, x, y))
	case *big.Int:
		return decimalResult(n, x, y)
	}
	result := integerResult(n, whole(x), whole(y))
	if result == nil {
		return nil
	}
	if exprtree.IsTemporal(n.Type) {
		return within(result, n.Type)
	}
	return wrap(result, n.Type)
}

// kleene returns Kleene's "or" if decisive is true, and his "and" if it is false.
func kleene(operands []any, decisive bool) any {
	if operands[0] == decisive || operands[1] == decisive {
		return decisive
	}
	if operands[0] == nil || operands[1] == nil {
		return nil
	}
	return !decisive
}

func compare(op exprtree.Op, x, y any) any {
	order := orderOf(x, y)
	switch op {
	case exprtree.Equal:
		return order == 0
	case exprtree.NotEqual:
		return order != 0
	case exprtree.Less:
		return order < 0
	case exprtree.LessEqual:
		return order <= 0
	case exprtree.Greater:
		return order > 0
	}
	return order >= 0
}

// orderOf returns -1, 0 or 1. NaN equals itself and is the greatest number.
func orderOf(x, y any) int {
	switch x := x.(type) {
	case float64:
		y := y.(float64)
		if math.IsNaN(x) || math.IsNaN(y) {
			return btoi(math.IsNaN(x)) - btoi(math.IsNaN(y))
		}
		return cmp.Compare(x, y)
	case string:
		return strings.Compare(x, y.(string))
	case bool:
		return btoi(x) - btoi(y.(bool))
	}
	return whole(x).Cmp(whole(y))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func extreme(operands []any, greatest bool) any {
	var best any
	for _, x := range operands {
		if x == nil {
			continue
		}
		if best == nil || better(x, best, greatest) {
			best = x
		}
	}
	return best
}

func better(x, best any, greatest bool) bool {
	if f, ok := x.(float64); ok {
		b := best.(float64)
		switch {
		case math.IsNaN(f):
			return false
		case math.IsNaN(b):
			return true
		case f == 0 && b == 0:
			return math.Signbit(b) == greatest && math.Signbit(f) != greatest
		}
	}
	order := orderOf(x, best)
	return order < 0 && !greatest || order > 0 && greatest
}

func hash(operands []any) any {
	h := exprtree.HashSeed
	for _, x := range operands {
		switch x := x.(type) {
		case nil:
			h = mix(h, exprtree.HashNull)
		case bool:
			word := uint64(0)
			if x {
				word = 1
			}
			h = mix(h, word)
		case int64:
			h = mix(h, uint64(x))
		case uint64:
			h = mix(h, x)
		case float64:
			switch {
			case math.IsNaN(x):
				x = math.Float64frombits(0x7ff8000000000000)
			case x == 0:
				x = 0
			}
			h = mix(h, math.Float64bits(x))
		case *big.Int:
			low, high := words(x)
			h = mix(mix(h, low), high)
		case string:
			h = hashText(h, x)
		}
	}
	return h
}

// words returns the two words of the two's complement.
func words(x *big.Int) (low, high uint64) {
	if x.Sign() < 0 {
		x = new(big.Int).Add(x, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	mask := new(big.Int).SetUint64(math.MaxUint64)
	return new(big.Int).And(x, mask).Uint64(), new(big.Int).Rsh(x, 64).Uint64()
}

func hashText(h uint64, text string) uint64 {
	for i := 0; i < len(text); i += 8 {
		word := uint64(0)
		for j := i; j < min(i+8, len(text)); j++ {
			word |= uint64(text[j]) << (8 * (j - i))
		}
		h = mix(h, word)
	}
	return mix(h, uint64(len(text)))
}

func mix(h, word uint64) uint64 {
	x := h + 0x9e3779b97f4a7c15
	x ^= word
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return x
}
