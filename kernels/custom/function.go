package custom

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Conditions of an [Error], to test for with errors.Is.
var (
	// ErrResult reports a result that differs from the signature in its type or its number of rows.
	ErrResult = errors.New("the result does not fit the signature")
	// ErrEntry reports that the code has no kernel with the name.
	ErrEntry = errors.New("the code has no such kernel")
)

// Signature has the types of a function.
type Signature struct {
	// Arguments are the types of the arguments, one or more. [OnColumns] takes any without them.
	Arguments []arrow.DataType
	Result    arrow.DataType
	// SeesNulls is set if a kernel gets the nulls and decides which results are null. It is not used on the
	// host, where arrays have their nulls.
	SeesNulls bool
	// Pure is set if a result depends on the arguments of its row alone, and a call has no other effect. Calls
	// may then be left out, repeated, and made by several goroutines at the same time.
	Pure bool
}

// check refuses a signature that no function has.
func (s *Signature) check() error {
	if len(s.Arguments) == 0 {
		return fmt.Errorf("no arguments are declared, expected one or more: %w", device.ErrInvalidValue)
	}
	for i, t := range s.Arguments {
		if t == nil {
			return fmt.Errorf("the type of argument %d is nil: %w", i+1, device.ErrInvalidValue)
		}
	}
	if s.Result == nil {
		return fmt.Errorf("the type of the result is nil: %w", device.ErrInvalidValue)
	}
	return nil
}

// Function is a function of the user as an operator: see [expr.Apply]. Two of them are never the same. It is
// immutable and used from any goroutine.
type Function struct {
	name      string
	signature Signature
	body      body
	// invalid is the fault of the function, or nil.
	invalid error
}

// body computes the result of a function.
type body interface {
	// kind is "Go function" or "CUDA kernel".
	kind() string
	run(ctx context.Context, f *Function, operands []*column.Column, options kernels.Options) (*column.Column, error)
}

// newFunction makes a function. [Function.Result] returns its fault.
func newFunction(name string, s Signature, b body, invalid error) *Function {
	f := &Function{name: name, signature: s, body: b}
	if name == "" {
		f.name, f.invalid = "function", fmt.Errorf("the name is empty: %w", device.ErrInvalidValue)
	}
	f.invalid = errors.Join(f.invalid, s.check(), invalid)
	return f
}

// Name implements [expr.Operator].
func (f *Function) Name() string { return f.name }

// Kind is "Go function" or "CUDA kernel".
func (f *Function) Kind() string { return f.body.kind() }

// Pure reports whether the function was declared pure.
func (f *Function) Pure() bool { return f.signature.Pure }

// Same reports whether another operator is this function.
func (f *Function) Same(other expr.Operator) bool {
	as, ok := other.(*Function)
	return ok && as == f
}

// Result implements [expr.Operator].
func (f *Function) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if f.invalid != nil {
		return nil, &Error{f.name, f.invalid}
	}
	declared := f.signature.Arguments
	if declared == nil {
		return f.signature.Result, nil
	}
	if len(operands) != len(declared) {
		return nil, &Error{f.name, fmt.Errorf("%d arguments, expected %d: %w", len(operands), len(declared), expr.ErrType)}
	}
	for i, t := range operands {
		if !arrow.TypeEqual(t, declared[i]) {
			return nil, &Error{f.name, fmt.Errorf("argument %d is %v, expected %v: use Cast: %w", i+1, t, declared[i], expr.ErrType)}
		}
	}
	return f.signature.Result, nil
}

// Run implements [expr.Operator].
//
// # Waiting
//
// It waits for the function.
func (f *Function) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	result, err := f.body.run(ctx, f, operands, options)
	if err != nil {
		return nil, &Error{f.name, err}
	}
	return result, nil
}

// Error is a failure of a function of the user.
type Error struct {
	// Function is the name of the function.
	Function string
	Err      error
}

// Error names the function.
func (e *Error) Error() string { return fmt.Sprintf("function %s: %v", e.Function, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// PanicError is a panic of a function of the user.
type PanicError struct {
	// Value is the argument of panic.
	Value any
	// Stack is the stack of the goroutine at the panic.
	Stack []byte
}

// Error returns the value.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
