// Package function is the registry of elementwise functions. Those of floats are formulas
// (formula.go), from which the host computes and GPUs get their instructions: angle.go,
// exponential.go. Others have a computation and the instructions: popcount.go and
// hamming.go of integers, hypot.go. Expressions call them by name: expr.Call("degrees",
// x). The random tests of expressions draw every function and compare the GPU's
// instructions with the host's.
package function

import "github.com/gpuframe/gpuframe/internal/ptx"

// Function is a function of one or two operands of one type, which is also the type of
// the result. Exactly one of the fields Float to Integers is set.
type Function struct {
	// Name is how expressions call the function, and part of the keys of kernels.
	Name string
	// Float and Floats compute in float64. Results of float32 are rounded from that.
	Float  func(x float64) float64
	Floats func(x, y float64) float64
	// Integer and Integers take the bits of integers of a type, extended to 64 bits: by
	// the sign if the type has one, else by zeros. The result has the bits of the type;
	// higher bits are dropped.
	Integer  func(t Type, x uint64) uint64
	Integers func(t Type, x, y uint64) uint64
	// Write writes the same computation. The operands and the result are registers:
	// float64 for floats, of type.Class() for integers. Integers of fewer than 32 bits
	// are extended as above; higher bits of the result are dropped. Host and GPU must
	// agree to the bit, except for which NaN they give.
	Write func(b *ptx.Builder, t Type, operands []ptx.Register) ptx.Register
}

// Type is a type of integers. It is zero for floats.
type Type struct {
	Bits   int
	Signed bool
}

// Mask has the bits of the type set.
func (t Type) Mask() uint64 { return ^uint64(0) >> (64 - t.Bits) }

// Class is the class of the registers of values.
func (t Type) Class() ptx.Class {
	if t.Bits == 64 {
		return ptx.Word64
	}
	return ptx.Word32
}

// Operands returns the number of operands.
func (f *Function) Operands() int {
	if f.Floats != nil || f.Integers != nil {
		return 2
	}
	return 1
}

// OfIntegers reports whether the operands are integers.
func (f *Function) OfIntegers() bool { return f.Integer != nil || f.Integers != nil }

// all are the functions in the order of their files' names.
var all []*Function

// register adds a function. It is called by the initialization of a variable.
func register(f Function) *Function {
	all = append(all, &f)
	return &f
}

// Count returns the number of functions.
func Count() int { return len(all) }

// At returns a function by its number, or nil.
func At(number int) *Function {
	if number < 0 || number >= len(all) {
		return nil
	}
	return all[number]
}
