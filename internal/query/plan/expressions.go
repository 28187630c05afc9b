package plan

import "github.com/gpuframe/gpuframe/kernels/expr"

// perPart returns a function of expressions that depends on that of their operands, which answer
// gets by operand. It keeps the answers, because expressions share parts: without them the work
// may double with each operation.
func perPart[T any](answer func(e expr.Expr, operand func(expr.Expr) T) T) func(expr.Expr) T {
	known := map[expr.Expr]T{}
	var ask func(expr.Expr) T
	ask = func(e expr.Expr) T {
		result, ok := known[e]
		if !ok {
			result = answer(e, ask)
			known[e] = result
		}
		return result
	}
	return ask
}
