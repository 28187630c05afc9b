// Package function is the registry of elementwise functions of one float: each lies in
// one file that has its name, its loop on the host and its instructions on a GPU.
// Expressions call them by name: expr.Call("degrees", x). The random tests of
// expressions draw every function and compare the GPU's instructions with the host's.
package function

import "github.com/gpuframe/gpuframe/internal/ptx"

// Function computes in float64. Results of float32 are rounded from that.
type Function struct {
	// Name is how expressions call the function, and part of the keys of kernels.
	Name string
	// Host computes one value.
	Host func(x float64) float64
	// Write writes the same computation: x and the result are float64 registers. Both
	// must agree to the bit, except for which NaN they give.
	Write func(b *ptx.Builder, x ptx.Register) ptx.Register
}

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
