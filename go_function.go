package gpuframe

import (
	"context"

	"github.com/gpuframe/gpuframe/kernels/custom"
)

// FunctionOption configures a Go function of [GoFunc1], [GoFunc2] or [GoFunc3].
type FunctionOption func(*custom.Signature)

// Pure declares that a result depends on the arguments of its row alone, and that a call has no other effect. Calls
// may then be left out, repeated and moved, and several goroutines may make them at the same time.
func Pure() FunctionOption { return func(s *custom.Signature) { s.Pure = true } }

// GoFunc1 makes a function of a Go function over slices: it computes a result for each argument.
//
//	score := gpuframe.GoFunc1("score", func(_ context.Context, text []string, score []float64) error { … }, gpuframe.Pure())
//	query.With(score.Of(gpuframe.Col("text")))
//
// The types of Go are those of [From]: bool, numbers, string, []byte, time.Time, time.Duration, structs, slices.
// They declare the types of arguments and result.
//
// # Nulls
//
// Arguments of *T are nil for null, and a result of *T may be nil. Otherwise rows with a null argument are left out
// of the slices, and their result is null.
func GoFunc1[A, R any](name string, f func(ctx context.Context, a []A, results []R) error, options ...FunctionOption) UserFunction {
	return goFunction(name, f == nil, options, []custom.Argument{custom.ArgumentOf[A]()}, func(ctx context.Context, list []any, results []R) error {
		return f(ctx, list[0].([]A), results)
	})
}

// GoFunc2 is [GoFunc1] with two arguments.
func GoFunc2[A, B, R any](name string, f func(ctx context.Context, a []A, b []B, results []R) error, options ...FunctionOption) UserFunction {
	return goFunction(name, f == nil, options, []custom.Argument{custom.ArgumentOf[A](), custom.ArgumentOf[B]()}, func(ctx context.Context, list []any, results []R) error {
		return f(ctx, list[0].([]A), list[1].([]B), results)
	})
}

// GoFunc3 is [GoFunc1] with three arguments.
func GoFunc3[A, B, C, R any](name string, f func(ctx context.Context, a []A, b []B, c []C, results []R) error, options ...FunctionOption) UserFunction {
	return goFunction(name, f == nil, options, []custom.Argument{custom.ArgumentOf[A](), custom.ArgumentOf[B](), custom.ArgumentOf[C]()}, func(ctx context.Context, list []any, results []R) error {
		return f(ctx, list[0].([]A), list[1].([]B), list[2].([]C), results)
	})
}

func goFunction[R any](name string, missing bool, options []FunctionOption, arguments []custom.Argument, f func(context.Context, []any, []R) error) UserFunction {
	var s custom.Signature
	for _, option := range options {
		option(&s)
	}
	if missing {
		f = nil
	}
	return UserFunction{custom.OnSlices(name, s.Pure, arguments, f)}
}
