package exprtree

import "github.com/gpuframe/gpuframe/internal/expr/function"

// FirstFunction is the operation of the first function of package function. The others
// follow it.
const FirstFunction Op = 192

// Function returns the registered function that the operation is, or nil.
func (o Op) Function() *function.Function {
	if o < FirstFunction {
		return nil
	}
	return function.At(int(o - FirstFunction))
}

// FunctionNamed returns the operation of a registered function, or Invalid.
func FunctionNamed(name string) Op {
	for i := range function.Count() {
		if function.At(i).Name == name {
			return FirstFunction + Op(i)
		}
	}
	return Invalid
}
