// Package custom runs functions of the user as operators of expressions: Go functions on the host, and CUDA
// kernels on the device.
//
//	f := custom.OnHost("double", custom.Signature{
//		Arguments: []arrow.DataType{arrow.PrimitiveTypes.Float64}, Result: arrow.PrimitiveTypes.Float64,
//	}, func(ctx context.Context, arguments []arrow.Array) (arrow.Array, error) { … })
//	column, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Apply(f, expr.Col("price"))})
//
// # Functions on the host
//
// The columns of a table are copied to pinned host memory, the function is called once with all rows of the
// table, and its result is copied to the device. A query calls it for one batch after another.
//
// [OnColumns] calls a function with the columns themselves, on the device, without a copy.
//
// # Kernels
//
// [OnDevice] launches a kernel on the stream of the operator. Its parameters are, in this order: a pointer to
// the results, a pointer for each argument, and the number of rows as 64 bits. If the signature has SeesNulls,
// each pointer is followed by one to a byte for each row: 1 for a value, 0 for null. Values have the layout of
// Arrow; a bool is a byte. Without SeesNulls the result is null in rows with a null argument; the kernel
// computes these rows too, from undefined values. The grid has at least a thread for each row. The operator
// waits for the kernel, so that a fault is reported with the name of its function.
//
// # Errors
//
// An [*Error] names the function. It wraps what the function returned, a [*PanicError], [ErrResult] for a result
// that does not fit the signature, [ErrEntry] for code without the kernel, or the error of the launch.
package custom
