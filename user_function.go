package gpuframe

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/custom"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Signature has the types of a [UserFunction]. Arguments of other types than it declares are refused when
// a query is bound; nothing is cast.
type Signature = custom.Signature

// Kernel is a CUDA kernel of a [UserFunction]: PTX, or CUDA C++ that NVRTC compiles. Package kernels/custom
// documents its parameters.
type Kernel = custom.Kernel

// FunctionError is a failure of a [UserFunction] in a run. It names the function.
type FunctionError = custom.Error

// PanicError is a panic of a Go function in a query, within a [FunctionError].
type PanicError = custom.PanicError

// Conditions of a [FunctionError], to test for with errors.Is.
var (
	// ErrFunctionResult reports a result of another type or length than declared.
	ErrFunctionResult = custom.ErrResult
	// ErrKernelEntry reports code without the kernel.
	ErrKernelEntry = custom.ErrEntry
)

// UserFunction is a function of the program as an expression of queries. It is immutable and may be used from any
// goroutine and in any number of queries.
//
// # Calls
//
// A query calls the function once for each batch of rows, one batch after the other, and ends with its context
// between two batches. Batches that would take more than an eighth of the budget are divided. A call may be
// repeated for a part of its rows if memory was short for its result. Equal calls in one verb are one. The plan
// has an operation for each of them, which Explain prints as "call Go function name(…)".
//
// # Pure functions
//
// Unless it is declared pure, a function is called in order for all rows of the batches that come to it: conditions
// and columns that nothing reads do not change that. A limit ends the query after the batch that fills it, and a query
// that is known to have no rows calls nothing. A pure function is called for the rows that are needed only.
//
// # Errors
//
// An error of the function, and a panic or runtime.Goexit, ends the query with a [*FunctionError].
type UserFunction struct{ function *custom.Function }

// Of is the result of the function for each row. Arguments are expressions or Go values. Its name is that of the
// function.
func (f UserFunction) Of(arguments ...any) Expr {
	if f.function == nil {
		return Expr{}
	}
	called := apply(func(list []expr.Expr) expr.Expr { return expr.Apply(f.function, list...) }, operands(arguments)...)
	called.root = f.function.Name()
	return called
}

// ArrowFunc makes a function of Arrow arrays in host memory, for arguments and results of any type. f gets the
// arguments with their nulls, and returns an array of as many values. It must not keep the arguments. GPU tables
// are copied to pinned host memory, and the result is copied back.
//
// A fault of the name or the signature is reported when a query is bound.
func ArrowFunc(name string, s Signature, f func(ctx context.Context, arguments []arrow.Array) (arrow.Array, error)) UserFunction {
	return UserFunction{custom.OnHost(name, s, f)}
}

// ColumnFunc makes a function of columns in device memory, for libraries that compute there. f gets a table of the
// arguments, with their numbers from 0 as names, and returns a column on the device with as many rows. The table is
// borrowed; the query releases the column: a function that returns an argument retains it first. Memory that it makes
// with another manager than that of the table is outside of the budget of the query. Without types of arguments in s it takes one or more of any types.
//
// A fault of the name or the signature is reported when a query is bound.
func ColumnFunc(name string, s Signature, f func(ctx context.Context, arguments *buffer.Buffer) (*column.Column, error)) UserFunction {
	return UserFunction{custom.OnColumns(name, s, f)}
}

// KernelFunc makes a function of a CUDA kernel, which runs on the stream and within the budget of the query. A host
// engine needs [Kernel].Host. Package kernels/kerneltest runs kernels in tests without a GPU.
//
// A fault of the name, the signature or the kernel is reported when a query is bound. A missing entry, parameters that do not fit, and a fault end the run.
func KernelFunc(name string, s Signature, k Kernel) UserFunction {
	return UserFunction{custom.OnDevice(name, s, k)}
}
