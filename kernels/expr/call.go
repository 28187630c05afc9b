package expr

import "github.com/gpuframe/gpuframe/internal/exprtree"

// Call is a function of e by its name: "degrees" converts radians. Integers and
// decimals become float64. Binding an unknown name is an error that wraps [ErrType].
func Call(name string, e Expr) Expr {
	if op := exprtree.FunctionNamed(name); op != exprtree.Invalid {
		return make1(op, e)
	}
	return Expr{&node{op: exprtree.Invalid, text: name, arguments: []*node{e.node}}}
}
