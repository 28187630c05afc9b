package expr

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/function"
)

// Call is a function by its name:
//
//	Call("degrees", x)     converts radians, Call("radians", x) degrees
//	Call("log10", x)       the decimal logarithm; log2, log1p
//	Call("expm1", x)       the exponential less 1
//	Call("cbrt", x)        the cube root
//	Call("atan", x)        the angle with a tangent; asin, acos
//	Call("atan2", y, x)    the angle of a point
//	Call("sinh", x)        the hyperbolic sine; cosh, tanh, asinh, acosh, atanh
//	Call("hypot", x, y)    √(x² + y²) without overflow of the squares
//	Call("popcount", n)    the number of bits that are set in an integer
//	Call("hamming", m, n)  the number of bits in which two integers differ
//
// Functions of floats convert integers and decimals to float64. Two operands are
// converted to their common type, which the result has. Binding an unknown name, or a
// wrong number of operands, is an error that wraps [ErrType].
func Call(name string, operands ...Expr) Expr {
	op := exprtree.FunctionNamed(name)
	called := makeMany(op, operands...)
	if op == exprtree.Invalid {
		called.node.text = name
	}
	return called
}

// registered binds a registered function.
func (b *binder) registered(op exprtree.Op, f *function.Function, operands []operand) (*exprtree.Node, error) {
	switch {
	case len(operands) != f.Operands():
		return nil, fmt.Errorf("%s of %d operands, it takes %d: %w", f.Name, len(operands), f.Operands(), ErrType)
	case f.OfIntegers():
		return b.bits(op, operands)
	}
	return b.floats(op, operands)
}
