package codegen

import (
	"math"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// decimalOf returns the precision and scale.
func decimalOf(t arrow.DataType) (precision, scale int) {
	if d, ok := layout.Storage(t).(*arrow.Decimal128Type); ok {
		return int(d.Precision), int(d.Scale)
	}
	return 0, 0
}

// powerOfTen returns 10^n.
func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// words128 returns the low and the high word of an integer, as operands.
func words128(n *big.Int) (low, high ptx.Register) {
	return hexadecimal(new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()),
		hexadecimal(new(big.Int).Rsh(n, 64).Uint64())
}

func (l *lane) wide(instruction string, operands ...ptx.Register) ptx.Register {
	return l.b.Op(ptx.Word64, instruction, operands...)
}

// addWide adds or subtracts 128-bit integers.
func (l *lane) addWide(name string, x, y []ptx.Register) []ptx.Register {
	low := l.wide(name+".cc.u64", x[0], y[0])
	return []ptx.Register{low, l.wide(name+"c.u64", x[1], y[1])}
}

func (l *lane) negateWide(x []ptx.Register) []ptx.Register {
	return l.addWide("sub", []ptx.Register{"0", "0"}, x)
}

// negateWideIf negates x if p holds.
func (l *lane) negateWideIf(p ptx.Register, x []ptx.Register) []ptx.Register {
	negated := l.negateWide(x)
	return []ptx.Register{l.wide("selp.b64", negated[0], x[0], p), l.wide("selp.b64", negated[1], x[1], p)}
}

// fits returns the predicate that a decimal has no more digits than the precision: 0 <=
// x + (10^p − 1) <= 2 (10^p − 1), as unsigned integers.
func (l *lane) fits(x []ptx.Register, precision int) ptx.Register {
	most := new(big.Int).Sub(powerOfTen(precision), big.NewInt(1))
	low, high := words128(most)
	moved := l.addWide("add", x, []ptx.Register{low, high})
	low, high = words128(new(big.Int).Lsh(most, 1))
	below := l.predicate("setp.lt.u64", moved[1], high)
	same := l.predicate("setp.eq.u64", moved[1], high)
	within := l.predicate("setp.le.u64", moved[0], low)
	return l.or(below, combine(l.b, "and", same, within))
}

func (l *lane) decimalArithmetic(n *exprtree.Node, x, y Value) Value {
	precision, _ := decimalOf(n.Type)
	valid := l.and(x.Valid, y.Valid)
	switch n.Op {
	case exprtree.Add, exprtree.Subtract:
		name := map[bool]string{true: "add", false: "sub"}[n.Op == exprtree.Add]
		sum := l.addWide(name, x.Registers, y.Registers)
		return Value{Registers: sum, Valid: l.and(valid, l.fits(sum, precision))}
	case exprtree.Multiply:
		product, fits := l.multiplyWide(x.Registers, y.Registers, precision)
		return Value{Registers: product, Valid: l.and(valid, fits)}
	}
	return l.fail(n)
}

// multiplyWide multiplies. fits is the predicate that the product fits a precision.
func (l *lane) multiplyWide(x, y []ptx.Register, precision int) (product []ptx.Register, fits ptx.Register) {
	low, high := words128(powerOfTen(precision))
	r := l.calls(word64, "gpuframe_decimal_multiply", 3, x[0], x[1], y[0], y[1],
		l.wide("mov.u64", low), l.wide("mov.u64", high))
	return r[:2], l.predicate("setp.ne.u64", r[2], "0")
}

func (l *lane) decimalSign(n *exprtree.Node, x Value) Value {
	below := l.predicate("setp.lt.s64", x.Registers[1], "0")
	switch n.Op {
	case exprtree.Negate:
		return Value{Registers: l.negateWide(x.Registers), Valid: x.Valid}
	case exprtree.Abs:
		return Value{Registers: l.negateWideIf(below, x.Registers), Valid: x.Valid}
	}
	any := l.predicate("setp.ne.u64", l.wide("or.b64", x.Registers[0], x.Registers[1]), "0")
	return single(l.wide("selp.b64", "-1", l.wide("selp.b64", "1", "0", any), below), x.Valid)
}

// decimalCompare compares the high words as signed and, if they are equal, the low
// words as unsigned.
func (l *lane) decimalCompare(op exprtree.Op, x, y []ptx.Register) ptx.Register {
	switch op {
	case exprtree.Equal, exprtree.NotEqual:
		different := l.wide("or.b64", l.wide("xor.b64", x[0], y[0]), l.wide("xor.b64", x[1], y[1]))
		return l.predicate("setp."+comparisons[op]+".u64", different, "0")
	case exprtree.Greater, exprtree.GreaterEqual:
		x, y = y, x
		op = map[exprtree.Op]exprtree.Op{exprtree.Greater: exprtree.Less, exprtree.GreaterEqual: exprtree.LessEqual}[op]
	}
	above := l.predicate("setp.lt.s64", x[1], y[1])
	same := l.predicate("setp.eq.s64", x[1], y[1])
	low := l.predicate("setp."+comparisons[op]+".u64", x[0], y[0])
	return l.or(above, combine(l.b, "and", same, low))
}
